"""Figure S11: differences to soft labels by epoch, and the epochs that runs selected, from curves that are known."""

import numpy as np
import pytest

from hardlabels.reporting.figures import FIGURES
from hardlabels.reporting.figures.figure_s11_lead_over_time import prepare_lead_over_time

EPOCHS = 8


def write_curves(outputs, *, apart: np.ndarray, seeds: int = 3, select: bool = True) -> None:
    """SLS lies ``apart`` from soft labels, epoch by epoch, at K = 5; ``select``: items of their own choose the epoch."""
    for seed in range(seeds):
        soft = 1.0 + 0.01 * seed + 0.02 * (np.arange(EPOCHS) - 3) ** 2
        for method, curve, chosen in (("soft", soft, 2), ("sls", soft + apart, 5)):
            rows = [{"epoch": epoch, "evaluate/soft_nll": value} for epoch, value in enumerate(curve.tolist())]
            if select:
                rows = [{**row, "select/soft_nll": float(abs(row["epoch"] - chosen))} for row in rows]
            outputs.run(method, 5, seed, history=rows)


def test_differences_are_those_of_the_curves_of_the_same_seed(outputs):
    apart = np.linspace(0.05, -0.02, EPOCHS)
    write_curves(outputs, apart=apart)
    (lead,) = prepare_lead_over_time(outputs.records())
    assert (lead.method, lead.K) == ("sls", 5)
    assert lead.differences == pytest.approx(np.tile(apart, (3, 1)))
    assert lead.selected.tolist() == [5, 5, 5]
    assert lead.reference_selected.tolist() == [2, 2, 2]


def test_without_selection_items_the_evaluation_curve_selects(outputs):
    write_curves(outputs, apart=np.zeros(EPOCHS), select=False)
    (lead,) = prepare_lead_over_time(outputs.records())
    assert lead.selected.tolist() == lead.reference_selected.tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        (np.where(np.arange(EPOCHS) < 6, 0.1, -0.1), "from epoch 6 on"),
        (np.full(EPOCHS, -0.1), "from epoch 0 on"),
        (np.full(EPOCHS, 0.1), "never"),
        (np.where(np.arange(EPOCHS) < 6, -0.1, 0.1), "never"),
    ],
)
def test_the_notes_say_since_when_it_is_lower(outputs, apart, words):
    write_curves(outputs, apart=apart)
    figure = FIGURES["S11"](outputs.records())
    assert figure.timeless
    at_the_end = f"{apart[-1]:+.4f}".replace("-", "−")
    assert figure.notes[0] == (
        f"sls, K = 5: lower in most seeds {words}; mean difference at the last epoch {at_the_end}; "
        "median selected epoch 5 (soft labels 2)."
    )


def test_the_picture_has_the_mean_curves_and_the_differences(outputs):
    apart = np.linspace(0.05, -0.02, EPOCHS)
    write_curves(outputs, apart=apart)
    (lead,) = prepare_lead_over_time(outputs.records())
    above, below = FIGURES["S11"](outputs.records()).draw().axes
    assert above.lines[0].get_ydata() == pytest.approx(lead.reference.mean(0))
    assert above.lines[2].get_ydata() == pytest.approx(lead.curves.mean(0))
    assert below.lines[0].get_ydata() == pytest.approx(apart)


def test_unpaired_seeds_and_runs_without_a_history_are_left_out(outputs):
    write_curves(outputs, apart=np.zeros(EPOCHS), seeds=2)
    outputs.run("sls", 5, 7, history=[{"epoch": epoch, "evaluate/soft_nll": 1.0} for epoch in range(EPOCHS)])
    outputs.run("multipass", 5, 0)
    (lead,) = prepare_lead_over_time(outputs.records())
    assert len(lead.curves) == 2


def test_nothing_is_drawn_from_nothing(outputs):
    outputs.run("majority", None, 0)
    figure = FIGURES["S11"](outputs.records())
    assert figure.draw is None
    assert figure.notes
