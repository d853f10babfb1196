"""Every table and figure at the selected and at the last epoch, the luck of selection, the floor and the ceiling."""

import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hardlabels.metrics import METRICS
from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.data_sets import FIGURES_OVER_DATA, TABLES_OVER_DATA
from hardlabels.reporting.figures import FIGURES
from hardlabels.reporting.tables import TABLES
from hardlabels.reporting.tables.detection import PRIOR_AUROC
from hardlabels.runs.records import Records, read_records
from hardlabels.statistics.optimism import leave_one_seed_out

ALL = float("inf")
METHODS = ("soft", "sls", "multipass", "deterministic_control", "majority")
PARTS = ("full", "non_unanimous", "high_disagreement")
METRIC_NAMES = (*METRICS, "soft_nll_t", "kl_to_annotator_t")
PROBES = ("hessian/lambda_max", "hessian/trace", "hessian/weight_norm")
OUTLIERS = tuple(f"ood/{s}/{d}/{m}" for s in ("svhn", "cifar100") for d in ("energy", "msp") for m in ("auroc", "aupr", "fpr95"))
POCKET = Path(__file__).parents[2] / "results/pocket"


@pytest.fixture
def everything(literal):
    """Every number that tables ask for: 0.5, 0.6, 0.7 at the selected epoch and 1 more at the last one."""
    where = [
        (m, k, name, part) for m in METHODS for k in (5, ALL) for name in (*METRIC_NAMES, *PROBES, *OUTLIERS) for part in PARTS
    ]
    references = {
        (m, k, f"{one}/{name}", part): [value] * 3
        for one, value in (("prior", 2.0), ("oracle", 0.0))
        for m in METHODS for k in (5, ALL) for name in METRICS for part in PARTS
    }  # fmt: skip
    best = {key: [0.5, 0.6, 0.7] for key in where}
    return literal(best | references, last={key: [1.5, 1.6, 1.7] for key in where}, data="toy", recipe="short")


@pytest.mark.parametrize("number", TABLES)
def test_a_table_has_every_number_of_a_network_at_both_epochs(number, everything):
    table = TABLES[number](everything)
    assert BOTH in table.caption
    measured = {key for key, entry in table.cells.items() if entry.mean is not None and key[0] not in ("prior", "oracle")}
    assert measured
    assert set(table.last) == measured
    for key in measured - {key for key in measured if "change" in key[0]}:
        assert (table.cells[key].mean, table.last[key].mean) == pytest.approx((0.6, 1.6)), key
    assert {line.checkpoint for line in table.lines() if line.row not in ("prior", "oracle")} == {"best", "last"}


def test_the_table_over_data_sets_has_both_epochs(everything):
    table = TABLES_OVER_DATA["S4"]({"a": everything, "b": everything})
    column = "KL to annotators ↓, soft"
    assert (table.cells["a", column].mean, table.last["a", column].mean) == pytest.approx((0.6, 1.6))
    assert table.cells["a", "KL to annotators ↓, prior"].mean == 2.0
    assert any("The oracle has KL 0" in note for note in table.notes)


@pytest.mark.parametrize("number", TABLES)
def test_the_floor_and_the_ceiling_stand_in_every_table(number, everything):
    table = TABLES[number](everything)
    if number in ("4", "6"):
        assert any("have no weights, and so no curvature" in note for note in table.notes)
    elif number in ("7", "8", "9", "S3"):
        assert any(f"an AUROC of {PRIOR_AUROC:g} by definition" in note for note in table.notes)
    else:
        for reference, value in (("prior", 2.0), ("oracle", 0.0)):
            found = [table.cells[reference, column] for column in table.columns]
            assert {entry.mean for entry in found} == {value}
            assert not any(entry.best for entry in found)


@pytest.mark.parametrize("number", ["1", "2", "3", "5", "S1", "S2"])
def test_what_is_about_soft_nll_is_shown_after_one_temperature_too(number, everything):
    table = TABLES[number](everything)
    tempered = [column for column in table.columns if "after one temperature" in column]
    assert tempered
    assert all(table.cells["soft", column].mean == pytest.approx(0.6) for column in tempered)


@pytest.mark.parametrize("number", ["2", "3", "S2"])
def test_calibration_is_shown_against_the_votes(number, everything):
    assert any(column.startswith("ECE against votes") for column in TABLES[number](everything).columns)


@pytest.mark.parametrize("number", FIGURES)
def test_figures_of_a_network_say_that_they_show_both_epochs(number, everything):
    figure = FIGURES[number](everything)
    said = BOTH in figure.caption.lower()
    assert said != (f"One picture for both checkpoints: {figure.timeless}." in figure.caption)


@cache
def committed() -> Records:
    return read_records([POCKET])


@pytest.mark.parametrize("number", FIGURES)
def test_a_figure_of_committed_records_has_two_pictures_or_says_why_not(number):
    """Two pictures that differ; or a reason why there is one; or the command for what a probe did not see yet.

    Without the last epoch's numbers there is no last picture: no figure passes one checkpoint off as the other.
    """
    figure = FIGURES[number](committed())
    assert figure.draw is not None, "the pocket study has numbers for every figure"
    if figure.timeless:
        assert figure.draw_last is None
    elif figure.draw_last is None:
        assert any(note.startswith("Last epoch: Missing: ") and note.endswith("checkpoint=last") for note in figure.notes)
    else:
        assert pixels(figure.draw()) != pixels(figure.draw_last())


def pixels(canvas) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format="rgba", dpi=50)
    return file.getvalue()


@pytest.mark.parametrize("number", TABLES)
def test_a_table_of_committed_records_has_both_checkpoints_or_says_what_to_run(number):
    """Every number stands at both checkpoints, but for those of probes that saw one: then the notes have the command."""
    table = TABLES[number](committed())
    measured = {key for key, entry in table.cells.items() if entry.mean is not None and not {*key} & {"prior", "oracle"}}
    if set(table.last) != measured or not measured:
        assert any("checkpoint=last" in note for note in table.notes), table.notes


@pytest.mark.parametrize("number", ["1", "4", "10"])
def test_a_figure_has_a_picture_of_each_epoch(number, everything, literal):
    records = everything
    if number == "4":
        held = {(m, ALL, "soft_nll"): [0.5, 0.6] for m in ("sls", "sls,hold=5")}
        records = literal(held, last={key: [1.5, 1.6] for key in held}, data="toy")
    figure = FIGURES[number](records)
    drawn = [draw().axes[0] for draw in (figure.draw, figure.draw_last)]
    heights = [np.concatenate([line.get_ydata() for line in axis.lines if len(line.get_ydata())]) for axis in drawn]
    assert heights[1].min() - heights[0].min() == pytest.approx(1.0)


@pytest.mark.parametrize("number", FIGURES_OVER_DATA)
def test_figures_over_data_sets_have_a_picture_of_each_epoch(number, everything):
    figure = FIGURES_OVER_DATA[number]({"a": everything, "b": everything})
    assert figure.draw is not None
    assert figure.draw_last is not None
    assert BOTH in figure.caption.lower()


# ---- the luck of selection ----

CURVES = {0: [0.9, 0.5, 0.7], 1: [0.9, 0.6, 0.4], 2: [0.9, 0.7, 0.5]}
"""Soft NLL by epoch: seed 0 is best at epoch 1, where it is lucky; the others are best at epoch 2."""


def write_runs(outputs, monitored: str = "evaluate") -> None:
    for seed, curve in CURVES.items():
        history = [
            {"epoch": epoch, f"{monitored}/soft_nll": value, "evaluate/soft_nll": value, "evaluate/hard_acc": 1 - value}
            for epoch, value in enumerate(curve)
        ]
        outputs.run("sls", None, seed, {"soft_nll": min(curve), "hard_acc": 1 - min(curve)}, history=history)


def test_an_epoch_that_was_selected_on_the_scored_items_is_shown_without_its_luck(outputs):
    write_runs(outputs)
    cell = TABLES["2"](read_records([outputs.root])).cells["sls", "soft NLL ↓"]
    expected = np.mean([one.others for one in leave_one_seed_out(CURVES, CURVES).values()])
    assert cell.mean == pytest.approx((0.5 + 0.4 + 0.5) / 3)
    assert cell.unselected == pytest.approx(expected)
    assert cell.unselected > cell.mean
    accuracy = TABLES["2"](read_records([outputs.root])).cells["sls", "accuracy ↑"]
    assert accuracy.unselected == pytest.approx(1 - expected)  # the epoch is chosen by soft NLL, whatever is shown


def test_where_other_items_select_and_at_the_last_epoch_there_is_no_such_luck(outputs):
    write_runs(outputs)
    table = TABLES["2"](read_records([outputs.root]))
    assert {entry.unselected for entry in table.last.values()} == {None}
    write_runs(outputs, monitored="select")
    assert TABLES["2"](read_records([outputs.root])).cells["sls", "soft NLL ↓"].unselected is None
