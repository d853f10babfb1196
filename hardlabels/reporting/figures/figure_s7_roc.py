"""Figure S7: ROC curves of outlier detection, one panel per detector."""

import numpy as np
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.detection import PROBE, few_votes_note, ordered, saved_detection
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, label, legend_below, styled
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.records import Records

FPR = np.linspace(0, 1, 101)
Curves = dict[tuple[str, str], dict[str, np.ndarray]]
"""(set, detector) to method to (seeds, 101) true positive rates at ``FPR``."""


def prepare_roc(records: Records) -> Curves:
    """The curves of every run that sees all votes, read off at the same false positive rates."""
    found: dict[tuple[str, str], dict[str, list[np.ndarray]]] = {}
    for cell, parts in saved_detection(records).items():
        for key, arrays in parts.items():
            if {"roc_fpr", "roc_tpr"} <= set(arrays) and not cell.settings:  # variants share their method's colour
                found.setdefault(key, {}).setdefault(cell.variant, []).append(
                    np.interp(FPR, arrays["roc_fpr"], arrays["roc_tpr"])
                )
    return {key: {method: np.array(rows) for method, rows in found[key].items()} for key in ordered(set(found))}


@styled
def draw_roc(numbers: Curves) -> Canvas:
    """Three panels in each line, one curve per method: the mean over seeds at each false positive rate."""
    columns = min(3, len(numbers))
    lines = -(-len(numbers) // columns)
    figure, axes = canvas(lines, columns, height=0.8 + 1.9 * lines, width=0.5 + 2.0 * columns, sharex=True, sharey=True)
    methods = sorted({method for curves in numbers.values() for method in curves}, key=method_key)
    for axis, ((outliers, detector), curves) in zip(axes.flat, numbers.items(), strict=False):
        axis.plot([0, 1], [0, 1], color="0.5", linewidth=0.7, linestyle="--")
        for method in methods:
            if method in curves:
                axis.plot(FPR, curves[method].mean(0), color=colour(method), label=label(method))
        axis.set_title(f"{outliers}, {label(detector)}")
    for axis in axes.flat[len(numbers) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("false positive rate")
    for axis in axes[:, 0]:
        axis.set_ylabel("true positive rate")
    legend_below(figure, axes[0, 0])
    return figure


def roc(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_roc(records)
    if sheet.empty:
        sheet.entry("soft_nll", "sls")
    seeds = {method: len(rows) for curves in numbers.values() for method, rows in curves.items()}
    n = ", ".join(f"{method} {count}" for method, count in seeds.items()) or "none"
    caption = (
        f"ROC curves of outlier detection, outliers are the positives; {BOTH}, all votes; mean over seeds at each false "
        f"positive rate (n = {n})."
    )
    if not numbers:
        sheet.lack(PROBE)
    notes = [*few_votes_note(records), *sheet.notes()]
    return Figure("S7", "Outlier detection", caption, notes, (lambda: draw_roc(numbers)) if numbers else None)
