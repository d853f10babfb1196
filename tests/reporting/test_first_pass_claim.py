"""The claim that the first pass is fresh, and what a study's runs say about their split, from run folders."""

import numpy as np
import pytest

from hardlabels.reporting.claims import CLAIMS, designs, judge
from hardlabels.reporting.figures import FIGURES
from hardlabels.reporting.figures.figure_s10_first_pass import prepare_first_pass
from hardlabels.runs.records import read_records

EPOCHS, K = 6, 2


def write_runs(outputs, behind: float, apart: float = 0.0, seeds: int = 8) -> None:
    """Curves of multipass with K votes: ``apart`` from SLS with all votes in pass 1, ``behind`` it from pass 2 on."""
    rng = np.random.default_rng(0)
    for seed in range(seeds):
        base = 1.0 - 0.05 * np.arange(EPOCHS)
        wobble = rng.normal(0, 0.001, EPOCHS)
        curves = {
            ("sls", None): base,
            ("multipass", K): base + wobble + np.where(np.arange(EPOCHS) < K, apart, behind),
            ("soft", None): base,
            ("majority", None): base,
        }
        for (method, k), curve in curves.items():
            history = [{"epoch": epoch, "evaluate/soft_nll": value} for epoch, value in enumerate(curve.tolist())]
            outputs.run(method, k, seed, {"soft_nll": 1.5 if method == "majority" else 1.0}, history=history)


def claimed(outputs, rules):
    records = read_records([outputs.root])
    (design,) = designs(records, records.folders).values()
    return judge(CLAIMS["first-pass-is-fresh"], design, rules, study="quarter")


@pytest.mark.parametrize(
    ("apart", "behind", "status"),
    [(0.0, 0.2, "supported"), (0.2, 0.2, "contradicted"), (0.0, -0.2, "contradicted"), (0.0, 0.0, "no difference")],
)
def test_curves_coincide_in_pass_1_and_part_in_pass_2(outputs, rules, apart, behind, status):
    write_runs(outputs, behind, apart)
    found = claimed(outputs, rules)
    assert (found.status("best"), found.status("last")) == (status, status)
    first, second = found.at["best"].rows
    assert (first.kind, second.kind) == ("equal", "greater")
    assert (first.left, second.left) == pytest.approx((apart, behind), abs=0.002)
    assert first.margin == pytest.approx(0.05)  # a tenth of the gap of 0.5


def test_the_figure_shows_the_difference_by_epoch_and_pass(outputs):
    write_runs(outputs, behind=0.2)
    records = read_records([outputs.root])
    (lead,) = prepare_first_pass(records)
    assert (lead.method, lead.K, lead.differences.shape) == ("multipass", K, (8, EPOCHS))
    assert lead.by_pass == pytest.approx([0.0, 0.2, 0.2], abs=0.002)
    figure = FIGURES["S10"](records)
    assert figure.timeless == "curves over all epochs"
    assert figure.draw_last is None
    words = ", ".join(f"pass {place}: {value:+.4f}" for place, value in enumerate(lead.by_pass, start=1)).replace("-", "−")
    assert f"multipass, K = 2: mean difference {words}." in figure.notes
    line = figure.draw().axes[0].lines[0]
    assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert line.get_ydata() == pytest.approx(lead.differences.mean(0))


def test_curves_that_hold_no_two_passes_say_nothing(outputs, rules):
    for seed in range(5):
        for method, k in (("sls", None), ("multipass", 5)):
            history = [{"epoch": epoch, "evaluate/soft_nll": 1.0} for epoch in range(EPOCHS)]
            outputs.run(method, k, seed, history=history)
    assert {finding.status for finding in claimed(outputs, rules).at.values()} == {"not run"}
    assert FIGURES["S10"](read_records([outputs.root])).draw is None


@pytest.mark.parametrize(
    ("recipe", "ratio"),
    [
        ({"split": "paper", "train_items": None}, 0.25),
        ({"split": "three_way", "train_items": None}, 2 / 7),
        ({"split": "paper", "train_items": 5}, 2.0),
        ({"split": "paper", "train_items": 1000}, 0.25),  # more than there are
    ],
)
def test_the_ratio_is_that_of_the_runs_own_split(outputs, recipe, ratio):
    path = outputs.run("soft", None, 0, logits=np.zeros((10, 2)), p=np.full((10, 2), 0.5))
    outputs.write_json(path / "config.yaml", {"recipe": recipe})
    records = read_records([outputs.root])
    (design,) = designs(records, records.folders).values()
    assert design.ratio == pytest.approx(ratio)


@pytest.mark.parametrize(("data", "same"), [({"split": "official"}, True), ({"split": None}, False), ({}, False)])
def test_a_split_that_came_with_the_data_has_the_same_items_for_every_seed(outputs, data, same):
    """The corrected t-test is for seeds that split the items anew; the report said so of seeds that do not, without a word."""
    path = outputs.run("soft", None, 0, logits=np.zeros((10, 2)), p=np.full((10, 2), 0.5))
    outputs.write_json(path / "config.yaml", {"recipe": {"split": "three_way"}, "data": data})
    records = read_records([outputs.root])
    (design,) = designs(records, records.folders).values()
    assert design.same_items == same
