"""Figure 7: is the gradient noise of sampled labels where annotators disagree?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, label, places, strip, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.saved import run_arrays
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

PROBE = "gradient_variance"
SHOWN = ("sls", "soft")  # whose items are drawn: the first that has them


@dataclass(frozen=True)
class GradientVariance:
    """Numbers of the figure.

    Attributes:
        spearman: method, seed, value: correlation of variance and annotator entropy over items, all votes.
        few: the same of runs with fewer votes, which are not drawn; with their K.
        run: the run whose items are shown; None where no arrays are at hand.
        entropy: (n,) annotator entropy of its items.
        variance: (n,) variance of the last layer's gradient.
    """

    spearman: pd.DataFrame
    few: pd.DataFrame
    run: Cell | None
    entropy: np.ndarray
    variance: np.ndarray


def prepare_gradient_variance(records: Records) -> GradientVariance:
    """Correlations of all runs that see all votes, and the items of one of them."""
    rows = records.seen[(records.seen["name"] == f"{PROBE}/spearman") & (records.seen["slice"] == "full")]
    rows = rows[["K", "method", "seed", "value"]].dropna(subset="value").sort_values(["K", "method", "seed"], ignore_index=True)
    few, spearman = rows[rows["K"] != ALL], rows[rows["K"] == ALL].drop(columns="K").reset_index(drop=True)
    for cell in sorted(records.folders, key=lambda c: ((*SHOWN, c.variant).index(c.variant), c.seed)):
        arrays = run_arrays(records.folders[cell], PROBE, records.checkpoint) if cell.K is None and cell.variant in SHOWN else {}
        if {"item_entropy", "item_variance"} <= set(arrays):
            return GradientVariance(spearman, few, cell, arrays["item_entropy"], arrays["item_variance"])
    return GradientVariance(spearman, few, None, np.zeros(0), np.zeros(0))


@styled
def draw_gradient_variance(numbers: GradientVariance) -> Canvas:
    """Left, one run's items; right, the correlation of every run."""
    methods = sorted(numbers.spearman["method"].unique(), key=method_key)
    two = numbers.run is not None
    figure, axes = canvas(1, 1 + two, height=3.2, width=6.4 if two else 4.4)
    if numbers.run is not None:
        dense = min(0.8, max(0.15, 300 / max(len(numbers.entropy), 1)))  # thousands of dots: lighter ones
        style = {"color": colour(numbers.run.variant), "alpha": dense, "markersize": 4, "markeredgewidth": 0}
        axes[0, 0].plot(numbers.entropy, numbers.variance, ".", rasterized=True, **style)
        axes[0, 0].set(xlabel="annotator entropy, nat", ylabel="gradient variance, last layer", title=str(numbers.run))
    last = axes[0, -1]
    for place, method in enumerate(methods):
        strip(last, numbers.spearman.loc[numbers.spearman["method"] == method, "value"].to_list(), place, method)
    places(last, map(label, methods), rotation=30)
    last.set(ylabel="Spearman with annotator entropy")
    return figure


def gradient_variance(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_gradient_variance(records)
    sheet.uses(PROBE)
    if sheet.empty:
        sheet.entry("soft_nll", "sls")
    found = numbers.spearman["value"]
    caption = (
        "Variance of the last layer's gradient under y ~ p, in closed form, against annotator entropy. "
        f"{BOTH.capitalize()}, evaluation items, all votes. Right: Spearman correlation of each run ({len(found)} runs), lines "
        "are means."
    )
    if found.empty:
        sheet.lack(PROBE)
        return Figure("7", "Gradient variance", caption, sheet.notes())
    notes = [f"Spearman: mean {found.mean():.3f}, {found.min():.3f} to {found.max():.3f} over {len(found)} runs."]
    for k, rows in numbers.few.groupby("K"):
        value = rows["value"]
        spread = f"mean {value.mean():.3f}, {value.min():.3f} to {value.max():.3f} over {len(value)} runs"
        notes.append(f"K = {write_votes(k)}, not drawn: {spread}.")
    if sheet.group.published:
        paper = published()["figures"]["fig7_gradient_variance"]["entropy_vs_last_layer_grad_variance_spearman"]
        notes.append(f"Published: mean {paper['mean']}, {paper['min']} to {paper['max']}.")
    notes.append(
        "Much of it is arithmetic: the variance is (1 - ||p||²)·||h||², and 1 - ||p||² is nearly a function of the entropy, "
        "whatever was learnt."
    )
    return Figure("7", "Gradient variance", caption, [*notes, *sheet.notes()], lambda: draw_gradient_variance(numbers))
