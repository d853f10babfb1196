r"""Figure 3: smooth reliability diagrams.

Accuracy given confidence, by kernel regression: :math:`\hat a(t) = \sum_i K_\sigma(t, f_i)\, c_i / \sum_i K_\sigma(t, f_i)`, with
a Gaussian kernel reflected at 0 and 1 and, as Blasiok and Nakkiran (2023) choose it, :math:`\sigma` = the smooth ECE itself.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure as Canvas
from scipy.special import log_softmax

from hardlabels.metrics.calibration import smooth_ece, top_label
from hardlabels.randomness import stream
from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, label, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.saved import predictions_of
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

METHODS = ("soft", "sls", "majority")
MESH = np.linspace(0, 1, 201)
LEAST_WIDTH = 0.01
LEAST_ITEMS = 10  # the curve is drawn where the kernel holds at least so many items (of all seeds together)
RESAMPLES = 200


@dataclass(frozen=True)
class Reliability:
    """The curve of one method.

    Attributes:
        method: its name.
        seeds: how many runs are pooled.
        items: how many predictions.
        width: of the kernel.
        accuracy: (201,) over ``MESH``; NaN where there are too few items.
        low: lower end of the band.
        high: upper end.
        density: (20,) share of the predictions in 20 equal intervals of confidence.
    """

    method: str
    seeds: int
    items: int
    width: float
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    density: np.ndarray


@lru_cache(maxsize=8)  # the same for all resamples of a curve
def reflected_kernel(width: float) -> np.ndarray:
    """(201, 201) Gaussian kernel between all points of ``MESH``, height 1, reflected at 0 and 1."""
    distances = (MESH[:, None] - MESH, MESH[:, None] + MESH, MESH[:, None] - (2 - MESH))
    return np.sum([np.exp(-np.square(distance / width) / 2) for distance in distances], axis=0)


def smooth_accuracy(
    confidence: np.ndarray, correct: np.ndarray, weight: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """(201,) accuracy given confidence over ``MESH``, and the number of items under the kernel (height 1 at its centre).

    Args:
        confidence: (n,) in 0 .. 1; each is divided between its two neighbours on the mesh.
        correct: (n,) 0 or 1.
        weight: (n,) how often an item counts.
        width: of the kernel, above 0.

    >>> accuracy, items = smooth_accuracy(np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.ones(2), 0.05)
    >>> round(float(accuracy[100]), 6), round(float(items[100]), 6)
    (0.5, 2.0)
    """
    place = confidence * (len(MESH) - 1)
    left = np.minimum(place.astype(np.int64), len(MESH) - 2)
    share = place - left
    on_mesh = [
        np.bincount(left, (1 - share) * mass, len(MESH)) + np.bincount(left + 1, share * mass, len(MESH))
        for mass in (weight * correct, weight)
    ]
    kernel = reflected_kernel(width)
    hits, items = kernel @ on_mesh[0], kernel @ on_mesh[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return hits / items, items


def reliability_curve(method: str, runs: list[dict[str, np.ndarray]]) -> Reliability:
    """The pooled curve of some runs, with a 95 % band from resampling items.

    An item that several seeds evaluate is drawn once for all of them: its errors are not independent.

    Args:
        method: its name.
        runs: saved predictions.
    """
    log_q = [log_softmax(run["logits"].astype(np.float64), axis=1) for run in runs]
    tops = [top_label(q, run["p"]) for q, run in zip(log_q, runs, strict=True)]
    confidence, correct = np.concatenate([top[0] for top in tops]), np.concatenate([top[1] for top in tops])
    width = max(float(np.mean([smooth_ece(q, run["p"]) for q, run in zip(log_q, runs, strict=True)])), LEAST_WIDTH)
    items, which = np.unique(np.concatenate([run["index"] for run in runs]), return_inverse=True)
    accuracy, under = smooth_accuracy(confidence, correct, np.ones(len(correct)), width)
    rng, draws = stream(0, "reliability band"), []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(len(items), size=len(items)), minlength=len(items))
        draws.append(smooth_accuracy(confidence, correct, times[which].astype(float), width)[0])
    shown = (under >= LEAST_ITEMS) & (np.quantile(confidence, 0.005) <= MESH)  # a wide kernel reaches where nothing is
    low, high = np.nanquantile(np.where(shown, draws, 0.0), [0.025, 0.975], axis=0)
    density = np.histogram(confidence, 20, (0, 1))[0] / len(confidence)
    accuracy, low, high = (np.where(shown, curve, np.nan) for curve in (accuracy, low, high))
    return Reliability(method, len(runs), len(correct), width, accuracy, low, high, density)


def prepare_reliability(records: Records) -> list[Reliability]:
    """A curve for soft, sls and majority, all votes (the most votes there are), from saved predictions."""
    ks = records.table["K"].unique()
    most = ALL if ALL in ks else max(ks, default=ALL)
    curves = []
    for method in METHODS:
        cells = sorted(records.runs.get((method, most), {}), key=lambda cell: cell.seed)
        runs = [
            saved
            for cell in cells
            if (saved := predictions_of(FinishedRun(records.folders[cell]), records.checkpoint)) is not None
        ]
        runs = [run for run in runs if np.isfinite(run["logits"]).all()]
        if runs:
            curves.append(reliability_curve(method, runs))
    return sorted(curves, key=lambda curve: method_key(curve.method))


@styled
def draw_reliability(numbers: list[Reliability]) -> Canvas:
    """Accuracy against confidence with bands; below, how often each confidence occurs."""
    figure, axes = canvas(2, 1, height=5.4, width=5.2, sharex=True, height_ratios=[4, 1])
    above, below = axes[:, 0]
    above.plot([0, 1], [0, 1], color="0.3", linewidth=0.8, linestyle="--", label="calibrated")
    for curve in numbers:
        above.plot(MESH, curve.accuracy, color=colour(curve.method), label=label(curve.method))
        above.fill_between(MESH, curve.low, curve.high, color=colour(curve.method), alpha=0.2, linewidth=0)
        edges = np.linspace(0, 1, len(curve.density) + 1)
        below.stairs(curve.density, edges, color=colour(curve.method), linewidth=1.5)
    above.set(ylabel="accuracy", ylim=(0, 1.02), xlim=(0, 1))
    above.legend(frameon=False)
    below.set(xlabel="confidence of the predicted class", ylabel="share")
    return figure


def reliability(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_reliability(records)
    for method in sheet.methods(METHODS, ALL):
        if method in METHODS:
            sheet.entry("smooth_ece", method)
    n = ", ".join(f"{curve.method} {curve.seeds}" for curve in numbers) or "none"
    caption = (
        f"Accuracy given confidence, Gaussian kernel as wide as the smooth ECE; {BOTH}, all evaluation items; all seeds "
        f"pooled (n = {n} seeds). Bands: pointwise 95 %, items resampled. Below: how often each confidence occurs."
    )
    notes = [f"{curve.method}: kernel width {curve.width:.3f} (smooth ECE), {curve.items} predictions." for curve in numbers]
    if sheet.group.published:
        paper = published()["table2_main"]["facts"]["smooth_ece"]
        notes.append("Published smooth ECE: " + ", ".join(f"{method} {value}" for method, value in paper.items()) + ".")
    return Figure("3", "Reliability", caption, [*notes, *sheet.notes()], (lambda: draw_reliability(numbers)) if numbers else None)
