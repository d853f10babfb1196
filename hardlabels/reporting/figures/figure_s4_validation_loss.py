"""Figure S4 (figure 4 of the second paper): validation loss by epoch."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.examples import METHODS
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, label, loss_limits, styled
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.quantity import history_column
from hardlabels.runs.records import Records

COLUMN = history_column("evaluate", "soft_nll")


@dataclass(frozen=True)
class ValidationLoss:
    """Curves of the figure.

    Attributes:
        epochs: (E,), those that every run has.
        curves: method to (seeds, E) soft NLL of the evaluation items.
    """

    epochs: np.ndarray
    curves: dict[str, np.ndarray]


def prepare_validation_loss(records: Records) -> ValidationLoss:
    """From the history of every run of soft and of majority labels, all votes."""
    found: dict[str, list[dict[int, float]]] = {}
    for cell in sorted(records.folders, key=lambda c: (method_key(c.variant), c.seed)):
        if cell.variant in METHODS and cell.K is None:
            history = FinishedRun(records.folders[cell]).history
            curve = {int(row["epoch"]): row[COLUMN] for row in history if COLUMN in row}
            if curve:
                found.setdefault(cell.variant, []).append(curve)
    every = [set(curve) for curves in found.values() for curve in curves]
    epochs = sorted(set.intersection(*every)) if every else []
    curves = {method: np.array([[curve[e] for e in epochs] for curve in rows]) for method, rows in found.items()}
    return ValidationLoss(np.array(epochs, dtype=int), curves)


@styled
def draw_validation_loss(numbers: ValidationLoss) -> Canvas:
    """Mean and SD over seeds; the dot is the best epoch of the mean."""
    figure, axes = canvas(height=3.4, width=5.4)
    axis = axes[0, 0]
    for method, curves in numbers.curves.items():
        mean = curves.mean(0)
        axis.plot(numbers.epochs, mean, color=colour(method), label=label(method))
        if len(curves) > 1:
            sd = curves.std(0, ddof=1)
            axis.fill_between(numbers.epochs, mean - sd, mean + sd, color=colour(method), alpha=0.2, linewidth=0)
        if np.isfinite(mean).any():
            best = int(np.nanargmin(mean))
            axis.plot(numbers.epochs[best], mean[best], "o", color=colour(method), markersize=6)
    loss_limits(axis, numbers.curves.values())
    axis.set(xlabel="epoch", ylabel="soft NLL of evaluation items ↓")
    axis.legend(frameon=False)
    return figure


def validation_loss(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_validation_loss(records)
    for method in METHODS:
        sheet.entry("soft_nll", method)
    n = ", ".join(f"{method} {len(curves)}" for method, curves in numbers.curves.items()) or "none"
    caption = (
        f"Soft NLL of the evaluation items by epoch, all votes; mean and SD over seeds (n = {n}); dots: the best epoch of the "
        "mean. One loss for both; the second paper measures each model against its own targets: there, heights do not compare."
    )
    draw = (lambda: draw_validation_loss(numbers)) if len(numbers.epochs) else None
    return Figure("S4", "Validation loss", caption, sheet.notes(), draw, timeless="curves over all epochs")
