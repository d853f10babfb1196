"""Figure S3 (figure 3 of the second paper): how undecided annotators and models are."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Canvas
from scipy.special import softmax

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.examples import METHODS
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import ANNOTATORS, canvas, colour, label, styled
from hardlabels.reporting.tables.saved import predictions_of
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records
from hardlabels.votes import entropy

EDGES = np.linspace(0, 1, 26)


@dataclass(frozen=True)
class EntropyShares:
    """Histograms of entropy / ln C.

    Attributes:
        shares: ``annotators`` or method to (25,) shares of the items, mean over seeds.
        means: the same keys to the mean of entropy / ln C.
        seeds: method to number of runs.
    """

    shares: dict[str, np.ndarray]
    means: dict[str, float]
    seeds: dict[str, int]


def normalised_entropy(p: np.ndarray) -> np.ndarray:
    """(n,) entropy / ln C, in 0 .. 1.

    >>> normalised_entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    return np.minimum(entropy(p) / np.log(p.shape[1]), 1.0)


def prepare_entropy_shares(records: Records) -> EntropyShares:
    """Annotators, soft and majority labels (all votes, evaluation items of every seed)."""
    found: dict[str, list[np.ndarray]] = {}
    for cell in sorted(records.folders, key=lambda c: (method_key(c.variant), c.seed)):
        saved = (
            predictions_of(FinishedRun(records.folders[cell]), records.checkpoint)
            if cell.variant in METHODS and cell.K is None
            else None
        )
        if saved is None or not np.isfinite(saved["logits"]).all():
            continue
        found.setdefault("annotators", []).append(normalised_entropy(saved["p"].astype(np.float64)))
        found.setdefault(cell.variant, []).append(normalised_entropy(softmax(saved["logits"].astype(np.float64), axis=1)))
    shares = {name: np.mean([np.histogram(x, EDGES)[0] / len(x) for x in rows], axis=0) for name, rows in found.items()}
    means = {name: float(np.mean([x.mean() for x in rows])) for name, rows in found.items()}
    return EntropyShares(shares, means, {name: len(rows) for name, rows in found.items() if name != "annotators"})


@styled
def draw_entropy_shares(numbers: EntropyShares) -> Canvas:
    """A panel each; the annotators' outline in all of them."""
    figure, axes = canvas(1, len(numbers.shares), height=2.9, width=1.2 + 1.9 * len(numbers.shares), sharey=True, sharex=True)
    for axis, (name, share) in zip(axes[0], numbers.shares.items(), strict=True):
        tint = ANNOTATORS if name == "annotators" else colour(name)
        axis.stairs(share, EDGES, fill=True, color=tint, alpha=0.8)
        axis.stairs(numbers.shares["annotators"], EDGES, color="0.2", linewidth=1)
        axis.axvline(numbers.means[name], color=tint, linestyle="--", linewidth=1.2)
        axis.set(title=label(name), xlabel="entropy / ln C", xlim=(0, 1))
    axes[0, 0].set_ylabel("share of items")
    return figure


def entropy_shares(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_entropy_shares(records)
    for method in METHODS:
        sheet.entry("soft_nll", method)
    n = ", ".join(f"{method} {count}" for method, count in numbers.seeds.items()) or "none"
    caption = (
        f"Entropy of the annotators' distribution and of predictions, divided by ln C; all votes, {BOTH}, all evaluation "
        f"items, mean share over seeds (n = {n}). Black outline: the annotators. Dashed: the mean."
    )
    notes = [f"Mean of entropy / ln C, {name}: {value:.3f}." for name, value in numbers.means.items()]
    draw = (lambda: draw_entropy_shares(numbers)) if numbers.shares else None
    return Figure("S3", "How undecided", caption, [*notes, *sheet.notes()], draw)
