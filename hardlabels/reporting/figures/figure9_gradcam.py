"""Figure 9: do runs of different seeds look at the same place of an image?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.across import means, means_of_few_votes, prepare_across, strips
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import WIDTH, label, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.saved import pair_arrays, pair_values
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.records import Records

PROBE = "gradcam"
SLICES = {"full": "all shared items", "high_disagreement": "high disagreement"}
SHOWN = 6


@dataclass(frozen=True)
class GradCam:
    """Numbers of the figure.

    Attributes:
        stability: kind of pair, slice, value: the mean correlation of maps, one row for each slice and pair of runs.
        examples: method to the arrays that the probe kept of its first pair.
    """

    stability: pd.DataFrame
    examples: dict[str, dict[str, np.ndarray]]


def prepare_gradcam(records: Records) -> GradCam:
    """Correlations of all pairs that see all votes, and the example maps of the first pair of SLS and of soft labels."""
    examples: dict[str, dict[str, np.ndarray]] = {}
    for a, b in sorted(pair_values(records, PROBE), key=lambda pair: (method_key(pair[0].variant), pair[0].seed, pair[1].seed)):
        if a.variant == b.variant and a.variant in ("sls", "soft") and a.K is None and a.variant not in examples:
            arrays = pair_arrays(records, PROBE, a, b)
            if {"example_image", "example_map_a", "example_map_b"} <= set(arrays):
                examples[a.variant] = arrays
    return GradCam(prepare_across(records, PROBE, "correlation", tuple(SLICES)), examples)


@styled
def draw_gradcam(numbers: GradCam) -> Canvas:
    """Above, the correlations; below, images with the maps of two seeds laid over them."""
    rows = 2 * len(numbers.examples)
    figure = Canvas(figsize=(WIDTH, 2.9 + 1.1 * rows), dpi=100, layout="constrained")
    parts = figure.subfigures(1 + bool(rows), 1, squeeze=False, height_ratios=[2.9, 1.1 * rows][: 1 + bool(rows)])[:, 0]
    axes = parts[0].subplots(1, len(SLICES), sharey=True)
    for axis, (view, word) in zip(axes, SLICES.items(), strict=True):
        strips(axis, numbers.stability[numbers.stability["slice"] == view])
        axis.set_title(word)
    axes[0].set_ylabel("correlation of maps")
    if not rows:
        return figure
    panels = parts[1].subplots(rows, min(SHOWN, max(len(e["example_image"]) for e in numbers.examples.values())), squeeze=False)
    for row, (method, which) in enumerate((m, w) for m in numbers.examples for w in ("a", "b")):
        arrays = numbers.examples[method]
        for axis, image, heat in zip(panels[row], arrays["example_image"], arrays[f"example_map_{which}"], strict=False):
            _overlay(axis, image, heat)
        for axis in panels[row]:
            axis.axis("off")
        panels[row, 0].set_title(f"{label(method)}, {'one seed' if which == 'a' else 'another seed'}", fontsize=8, loc="left")
    return figure


def gradcam(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_gradcam(records)
    sheet.uses(PROBE)
    if sheet.empty:
        sheet.entry("soft_nll", "sls")
        sheet.entry("soft_nll", "soft")
    pairs = int((numbers.stability["slice"] == "full").sum())
    caption = (
        "Pearson correlation of Grad-CAM maps between runs of one method and different seeds, mean over the images that neither "
        f"trained on; {BOTH}, all votes, {pairs} pairs: a dot each, lines are means. Pairs share runs and are not "
        "independent."
    )
    if numbers.stability.empty:
        sheet.lack(PROBE)
        return Figure("9", "Grad-CAM stability", caption, sheet.notes())
    notes = [*means(numbers.stability), *means_of_few_votes(records, PROBE, "correlation", tuple(SLICES))]
    if sheet.group.published:
        paper = published()["figures"]["fig9_gradcam"]
        words = [f"{part}: " + ", ".join(f"{m} {v}" for m, v in values.items()) for part, values in paper.items()]
        notes.append(f"Published: {'; '.join(words)}.")
    return Figure("9", "Grad-CAM stability", caption, [*notes, *sheet.notes()], lambda: draw_gradcam(numbers))


def _overlay(axis: Axes, image: np.ndarray, heat: np.ndarray) -> None:
    height, width = image.shape[:2]
    axis.imshow(image.squeeze(), cmap="gray", interpolation="nearest", extent=(0, width, height, 0))
    axis.imshow(heat, cmap="inferno", alpha=0.5, interpolation="bilinear", extent=(0, width, height, 0))
