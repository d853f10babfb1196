"""Runs that were trained again since their networks were not kept: what probes measured counts, and the reader is told."""

import pytest

from hardlabels.reporting.figures import FIGURES
from hardlabels.reporting.provenance import describe_again
from hardlabels.reporting.tables import TABLES
from hardlabels.runs.records import read_records
from hardlabels.runs.spelling import ALL

NOTE = "measured networks that were trained again"


def hessian(trace):
    return {"hessian": {"full/trace": trace, "full/lambda_max": trace / 10}}


@pytest.fixture
def places(outputs, tmp_path):
    """Two seeds of two methods, of which one run was probed itself; the same runs again, all probed, with other scores."""
    first, again = (type(outputs)(tmp_path / name) for name in ("first", "again"))
    for method, seed in (("soft", 0), ("soft", 1), ("sls", 0), ("sls", 1)):
        first.run(method, None, seed, {"soft_nll": 1.0}, probes=hessian(50.0) if (method, seed) == ("sls", 1) else None)
        again.run(method, None, seed, {"soft_nll": 2.0}, probes=hessian(100.0))
    again.run("soft", None, 7, {"soft_nll": 2.0}, probes=hessian(100.0))
    values = {"alpha": [0.0, 1.0], "full/soft_nll_interpolated_bn": [1.0, 1.0], "full/barrier_interpolated_bn": 0.9}
    again.pairs("barrier", [(("sls", None, 0), ("soft", None, 0), values), (("soft", None, 0), ("soft", None, 7), values)])
    return first.root, again.root


def test_their_probes_are_read_where_the_first_network_has_none_and_their_scores_never(places):
    records = read_records([places[0]], probed=[places[1]])
    assert set(records.values("soft_nll", method="soft", K=ALL)) == {1.0}
    assert records.values("hessian/trace", method="soft", K=ALL).to_dict() == {0: 100.0, 1: 100.0}  # no seed 7: no such run
    assert records.values("hessian/trace", method="sls", K=ALL).to_dict() == {0: 100.0, 1: 50.0}
    assert len(records.pairs[["seed_a", "seed_b"]].drop_duplicates()) == 1
    assert records.again == {("toy", "short", "hessian"): 3, ("toy", "short", "barrier"): 1}
    assert [fact.values for fact in describe_again(records)] == [(("barrier", 1), ("hessian", 3))]


def test_tables_and_figures_say_so(places):
    again, first = read_records([places[0]], probed=[places[1]]), read_records([places[0]])
    assert any(note.startswith(f"hessian {NOTE}") for note in TABLES["4"](again).notes)
    assert any(note.startswith(f"barrier {NOTE}") for note in FIGURES["11"](again).notes)
    for notes in (TABLES["2"](again).notes, TABLES["4"](first).notes, FIGURES["11"](first).notes):
        assert not any(NOTE in note for note in notes)
    assert describe_again(first) == []
