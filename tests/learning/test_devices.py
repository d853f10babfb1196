"""A device by its name: one that computes here, or one line that says which would."""

import pytest
import torch

from hardlabels.errors import InputError
from hardlabels.learning.devices import usable_device


def test_auto_is_a_gpu_where_there_is_one():
    assert usable_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    assert usable_device("cpu") == "cpu"


@pytest.mark.parametrize("name", ["abacus", "cuda:99", "mps:7", "meta", "", "xla"])
def test_a_device_that_gives_no_numbers_back_is_refused_by_the_name_of_the_setting(name):
    """``meta`` is known to torch everywhere, and computes nothing."""
    with pytest.raises(InputError, match=r"--device must be a device that torch can use here \(auto, cpu, cuda, \.\.\.\), got"):
        usable_device(name, "--device")
