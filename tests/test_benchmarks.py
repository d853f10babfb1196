"""The table's own arithmetic; what it measures is measured by ``make bench``, since a timed test would only test the machine."""

from benchmarks.labels import ragged_votes
from benchmarks.ratio import Row, alternate


def test_a_goal_is_held_by_the_median_on_its_own_side():
    assert Row("x", [0.9, 1.0, 5.0], 1.03, at_most=True).met
    assert not Row("x", [0.9, 1.1, 5.0], 1.03, at_most=True).met
    assert Row("x", [1.0, 30.0, 31.0], 25, at_most=False).met


def test_alternating_takes_turns():
    calls = []
    ratios = alternate(lambda: calls.append("a"), lambda: calls.append("b"), 3)
    assert calls == list("ababab")
    assert len(ratios) == 3


def test_ragged_votes_are_ten_an_item_on_average():
    votes = ragged_votes(20_000, 1000)
    assert votes.sizes.min() == 5
    assert votes.sizes.max() == 15
    assert abs(votes.sizes.mean() - 10) < 0.1
