"""A head is trained with one thread; what is large, or what the user has decided, is left alone."""

import json

import pytest
import torch
from hydra import compose, initialize_config_dir

from hardlabels.configuration import CONF
from hardlabels.learning.mlp import MLP
from hardlabels.learning.resnet import ResNet18
from hardlabels.learning.threads import number_of_threads, threads_to_train


@pytest.fixture
def three_threads(monkeypatch):
    """As on a machine of three cores, where nobody said anything of threads."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with number_of_threads(3):
        yield


def test_a_small_network_on_vectors_takes_one_thread(three_threads):
    assert threads_to_train(MLP(num_classes=10, in_features=2560, width=16, depth=1), batch_size=256) == 1


def test_a_large_one_and_one_on_images_take_what_torch_takes(three_threads):
    assert threads_to_train(MLP(num_classes=10, in_features=4096, width=128, depth=2), batch_size=128) == 3
    assert threads_to_train(ResNet18(num_classes=10, width=8, stride=2), batch_size=8) == 3


def test_what_the_user_says_stands(three_threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads_to_train(MLP(num_classes=3, in_features=4, width=1, depth=1), batch_size=8) == 3


def test_a_run_of_a_head_takes_one_thread_and_gives_the_others_back(three_threads, tmp_path, run_cell):
    small = ["data=synthetic_vectors", "recipe=vector_head", "recipe.epochs=2", "run.tag=threads", "trainer.accelerator=cpu"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        folder = run_cell(compose("train", [*small, "method=sls", f"outputs={tmp_path}"]))
    assert json.loads((folder / "environment.json").read_text())[0]["threads"] == 1
    assert torch.get_num_threads() == 3


def test_the_threads_come_back_after_an_error(three_threads):
    with pytest.raises(ZeroDivisionError), number_of_threads(1):
        1 / 0  # noqa: B018
    assert torch.get_num_threads() == 3
