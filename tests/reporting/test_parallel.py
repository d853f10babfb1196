"""Parts of a report in several processes: the same answer, in order, and a fault is no silence."""

import os

import pytest

from hardlabels.errors import InputError
from hardlabels.reporting.parallel import side_by_side


def test_two_processes_give_what_one_gives_in_order():
    offset = [10]  # inherited by the children, not sent to them

    def work(key: int) -> tuple[int, int]:
        return key + offset[0], os.getpid()

    found = side_by_side(work, [3, 1, 2], 2)
    assert [value for value, _ in found] == [13, 11, 12] == [value for value, _ in side_by_side(work, [3, 1, 2], 1)]
    assert os.getpid() not in {process for _, process in found}


def test_what_a_child_raises_is_raised_here():
    def work(key: int) -> int:
        raise InputError(f"no part {key}")

    with pytest.raises(InputError, match="no part 1"):
        side_by_side(work, [1, 2], 2)


@pytest.mark.parametrize("processes", [0, 1.5, True, "two"])
def test_a_number_of_processes_that_is_none_is_refused(processes):
    with pytest.raises(InputError, match="processes must be a whole number of at least 1, or null"):
        side_by_side(len, ["a"], processes)
