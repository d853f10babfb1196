"""Every refusal says which table, which row and which value."""

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.votes import Votes

nan, inf = float("nan"), float("inf")

COUNTS = {
    "nan": ([[1, 2], [nan, 3]], ("finite", "row 1", "nan at class 0")),
    "infinite": ([[1, 2], [3, inf]], ("finite", "row 1", "inf at class 1")),
    "negative": ([[1, 2], [2, 1], [4, -1]], ("at least 0", "row 2", "[4, -1]", "-1 at class 1")),
    "fractional": ([[1, 2.5]], ("whole", "row 0", "2.5 at class 1")),
    "nearly whole": ([[1, 2.0000001]], ("whole", "row 0", "2.0000001")),
    "no votes": ([[1, 0], [0, 0], [0, 0]], ("at least one vote", "row 1", "[0, 0]", "2 such rows")),
    "far to the right": ([[1] * 30 + [-7] + [1] * 30], ("at least 0", "row 0", "-7 at class 30")),
    "flat": ([1, 2, 3], ("items x classes", "(3,)")),
    "deep": (np.ones((2, 2, 2)), ("items x classes", "(2, 2, 2)")),
    "scalar": (5, ("items x classes", "()")),
    "no items": (np.ones((0, 3)), ("at least one item", "(0, 3)")),
    "no classes": (np.ones((3, 0)), ("one class", "(3, 0)")),
    "empty": ([], ("items x classes", "(0,)")),
    "strings": ([["1", "2"]], ("numeric", "<U1")),
    "missing": ([[1, None]], ("numeric", "object")),
    "complex": ([[1j, 1]], ("numeric", "complex")),
    "ragged": ([[1, 2], [3]], ("items x classes", "different lengths")),
}
PROBABILITIES = {
    "nan": ([[0.5, 0.5], [nan, 1]], ("finite", "row 1", "nan at class 0")),
    "negative": ([[1.5, -0.5]], ("at least 0", "row 0", "-0.5 at class 1")),
    "sum": ([[0.5, 0.5], [0.5, 0.4]], ("sum to 1", "row 1", "[0.5, 0.4]")),
    "just off": ([[0.5, 0.50011]], ("sum to 1", "row 0", "0.50011")),
    "counts": ([[3, 1]], ("sum to 1", "row 0", "[3, 1]")),
    "zeros": ([[0.0, 0.0]], ("sum to 1", "row 0", "[0, 0]")),
    "flat": ([0.5, 0.5], ("items x classes", "(2,)")),
    "strings": ([["a"]], ("numeric", "<U1")),
}
LABELS = {
    "class too high": (([0, 1, 3, 1], [0, 2, 4], 3), ("vote 2", "item 1", "0 .. 2", "got 3")),
    "negative class": (([0, -1], [0, 1, 2], 3), ("vote 1", "item 1", "got -1")),
    "fractional class": (([0, 1.5], [0, 2], 3), ("vote 1", "item 0", "1.5")),
    "nan class": (([nan, 1], [0, 2], 3), ("vote 0", "item 0", "nan")),
    "empty item": (([0, 1], [0, 1, 1, 2], 3), ("item 1", "no votes", "1 to 1")),
    "falling offsets": (([0, 1, 2], [0, 2, 1, 3], 3), ("item 1", "2 to 1")),
    "falling unsigned offsets": (([0, 1, 2], np.array([0, 2, 1, 3], dtype=np.uint64), 3), ("item 1", "2 to 1")),
    "offsets start late": (([0, 1], [1, 2], 3), ("from 0", "[1, 2]")),
    "offsets end early": (([0, 1, 2], [0, 1], 3), ("number of votes, 3", "[0, 1]")),
    "offsets end late": (([0, 1, 2], [*range(14), 99], 3), ("number of votes, 3", "..., 99]")),
    "fractional offsets": (([0, 1, 2], [0, 1.5, 3], 3), ("whole", "1.5")),
    "nan offsets": (([0, 1, 2], [0, nan, 3], 3), ("whole", "nan")),
    "one offset": (([], [0], 3), ("offsets", "[0]")),
    "no offsets": (([], [], 3), ("offsets", "[]")),
    "no votes at all": (([], [0, 0], 3), ("item 0", "no votes")),
    "scalar offsets": (([0], 1, 3), ("offsets", "()")),
    "string votes": ((["cat", "dog"], [0, 2], 3), ("votes", "<U3")),
    "string offsets": (([0, 1], ["a", "b"], 3), ("offsets", "<U1")),
    "matrix of votes": (([[0, 1], [1, 1]], [0, 2], 3), ("flat", "(2, 2)")),
}


def refusal(build, *arguments):
    with pytest.raises(InputError) as caught:
        build(*arguments, where="my file")
    return str(caught.value)


@pytest.mark.parametrize("case", COUNTS)
def test_counts(case):
    values, named = COUNTS[case]
    message = refusal(Votes.from_counts, values)
    assert all(part in message for part in ("my file", *named)), message


@pytest.mark.parametrize("case", PROBABILITIES)
def test_probabilities(case):
    values, named = PROBABILITIES[case]
    message = refusal(Votes.from_probabilities, values)
    assert all(part in message for part in ("my file", *named)), message


@pytest.mark.parametrize("case", LABELS)
def test_labels(case):
    arguments, named = LABELS[case]
    message = refusal(Votes.from_labels, *arguments)
    assert all(part in message for part in ("my file", *named)), message


@pytest.mark.parametrize("k", [0, -1])
def test_subsample_below_one_vote(k):
    with pytest.raises(InputError, match=rf"K must be at least 1 .* got {k}"):
        Votes.from_counts([[1, 2]]).subsample(k, seed=0)


@pytest.mark.parametrize("name", ["labels", "offsets", "sizes", "counts"])
def test_probabilities_have_no_votes_to_show(name):
    with pytest.raises(InputError, match="no votes; K="):
        getattr(Votes.from_probabilities([[0.5, 0.5]]), name)


def test_what_is_fine_is_not_refused():
    assert Votes.from_counts(np.array([[True, False]])).counts.tolist() == [[1, 0]]
    assert Votes.from_counts([[1.0, 2.0]]).counts.tolist() == [[1, 2]]
    assert Votes.from_counts(np.array([[3, 0]], dtype=np.uint8)).counts.tolist() == [[3, 0]]
    assert Votes.from_labels([1.0, 0.0], [0.0, 2.0], 2).counts.tolist() == [[1, 1]]
    assert Votes.from_probabilities([[0.5, 0.50009]]).p.sum() == pytest.approx(1, abs=1e-15)
