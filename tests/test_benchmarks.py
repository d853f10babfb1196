"""The table's own arithmetic; what it measures is measured by ``make bench``, since a timed test would only test the machine."""

import json

import pytest

from benchmarks import __main__ as bench
from benchmarks import record
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


def test_one_that_fails_does_not_lose_the_others(monkeypatch):
    def fail():
        raise OSError("no such disk\nand more")

    good = Row("a / b", [1.0, 2.0, 9.0], 2, at_most=True)
    monkeypatch.setattr(bench, "COMPARISONS", {"first": lambda: good, "second": fail, "third": lambda: [good, good]})
    kept, measured = [], {"comparisons": {}}
    bench.measure(["first", "second", "third"], measured, lambda so_far: kept.append(list(so_far["comparisons"])))
    assert kept == [["first"], ["first", "second"], ["first", "second", "third"]]
    table = record.table(measured)
    assert table.count("| a / b | 2 | 1 .. 9 | 3 | ≤ 2 | met |") == 3
    assert "| second | | | | | failed: OSError: no such disk |" in table


def test_the_table_of_the_page_is_what_was_measured():
    if not record.MEASURED.is_file():
        pytest.skip("nothing was recorded yet: make bench RECORD=1")
    page = record.PAGE.read_text()
    assert record.with_table(page, json.loads(record.MEASURED.read_text())) == page


def test_the_record_has_every_comparison_and_no_other():
    """In the order of the table; one that is new is added by ``python -m benchmarks NAME --record``."""
    if not record.MEASURED.is_file():
        pytest.skip("nothing was recorded yet: make bench RECORD=1")
    recorded = json.loads(record.MEASURED.read_text())["comparisons"]
    missing, unknown = sorted(bench.COMPARISONS.keys() - recorded), sorted(recorded.keys() - bench.COMPARISONS)
    assert not missing, f"not in the record: python -m benchmarks {' '.join(missing)} --record"
    assert not unknown, f"recorded, and no comparison any more: {', '.join(unknown)}; make bench RECORD=1 leaves them out"
    assert list(recorded) == list(bench.COMPARISONS)
