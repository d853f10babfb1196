"""Figure S6: scores of evaluation items and of outliers, one panel per detector."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import auroc
from hardlabels.reporting.figures.detection import PROBE, few_votes_note, ordered, saved_detection
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import ANNOTATORS, canvas, colour, label, legend_below, styled
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import Records

SHOWN = ("sls", "soft")


@dataclass(frozen=True)
class ScoreHistograms:
    """Numbers of the figure.

    Attributes:
        run: whose scores these are; None without any.
        panels: (set, detector) to edges (bins + 1,), share of evaluation items (bins,), share of outliers (bins,).
        auroc: (set, detector) to AUROC of this run.
    """

    run: Cell | None
    panels: dict[tuple[str, str], tuple[np.ndarray, np.ndarray, np.ndarray]]
    auroc: dict[tuple[str, str], float]


def prepare_score_histograms(records: Records) -> ScoreHistograms:
    """The histograms of one run, since edges differ by run: the first seed of SLS, else of soft labels, else of any method."""
    runs = saved_detection(records)
    run = min(runs, key=lambda c: ((*SHOWN, c.variant).index(c.variant), c.seed), default=None)
    if run is None:
        return ScoreHistograms(None, {}, {})
    panels, areas = {}, {}
    for key in ordered(set(runs[run])):
        arrays = runs[run][key]
        if {"histogram_edges", "histogram_in", "histogram_out"} <= set(arrays):
            inside, outside = arrays["histogram_in"], arrays["histogram_out"]
            panels[key] = arrays["histogram_edges"], inside / max(inside.sum(), 1), outside / max(outside.sum(), 1)
            value = records.values(auroc(*key).column, method=run.variant, K=run.votes, seed=run.seed)
            areas[key] = float(value.iloc[0]) if len(value) else float("nan")
    return ScoreHistograms(run, panels, areas)


@styled
def draw_score_histograms(numbers: ScoreHistograms) -> Canvas:
    """Three panels in each line; the evaluation items are grey, the outliers coloured."""
    columns, tint = min(3, len(numbers.panels)), colour(numbers.run.variant if numbers.run else "")
    lines = -(-len(numbers.panels) // columns)
    figure, axes = canvas(lines, columns, height=0.6 + 1.65 * lines, width=0.4 + 2.0 * columns)
    for axis, ((outliers, detector), (edges, inside, outside)) in zip(axes.flat, numbers.panels.items(), strict=False):
        axis.stairs(inside, edges, fill=True, color=ANNOTATORS, alpha=0.7, label="evaluation items")
        axis.stairs(outside, edges, color=tint, linewidth=1.5, label="outliers")
        axis.set_title(f"{outliers}, {label(detector)}: {numbers.auroc[outliers, detector]:.3f}")
        axis.set_yticks([])
    for axis in axes.flat[len(numbers.panels) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("score (higher: outlier)")
    legend_below(figure, axes[0, 0])
    return figure


def score_histograms(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_score_histograms(records)
    if sheet.empty:
        sheet.entry("soft_nll", "sls")
    caption = (
        f"Scores of the evaluation items and of outliers, each as a share of its own kind, with the AUROC above; {BOTH} "
        f"of {numbers.run or 'no run'}."
    )
    if not numbers.panels:
        sheet.lack(PROBE)
    draw = (lambda: draw_score_histograms(numbers)) if numbers.panels else None
    return Figure("S6", "Outlier scores", caption, [*few_votes_note(records), *sheet.notes()], draw)
