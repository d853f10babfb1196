"""What figures 2, 5 and 6 share: improvement over soft labels, binned by the error of the K-vote target."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, count_word, label, legend_below, mark, mean_and_bar, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.saved import pair_values
from hardlabels.reporting.tables.sheet import HARD_DELIVERY, Sheet, method_key
from hardlabels.runs.quantity import write_probed
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import write_votes

PROBE, OTHERWISE = "sparse_target_train", "sparse_target"
"""On the items whose K votes were trained on; where nobody measured that, on evaluation items, which nobody trained on."""

WORDS = {"js": "JS distance", "l1": "L1 error"}


@dataclass(frozen=True)
class Improvement:
    """Numbers of one such figure.

    Attributes:
        bins: method, K, place (1 is the farthest bin), distance, improvement (means over seeds), sd (over seeds), n (seeds).
        spearman: method, K, seed, value, given_entropy: correlation of distance and improvement over items, by seed.
        kind: ``js`` or ``l1``.
        view: the slice.
        trained: whether the items are those whose K votes were trained on.
    """

    bins: pd.DataFrame
    spearman: pd.DataFrame
    kind: str
    view: str
    trained: bool = False


def prepare_improvement(records: Records, kind: str, view: str) -> Improvement:
    """Bins of every pair of runs, averaged over seeds.

    Seeds may have different numbers of bins: items that the K votes describe exactly share the first. Bins are therefore counted
    from the far end, where quantiles agree.

    Args:
        records: with pairs of the probe ``sparse_target_train``, or else ``sparse_target``.
        kind: ``js`` or ``l1``.
        view: slice.
    """
    bins: list[tuple[Any, ...]] = []
    spearman: list[tuple[Any, ...]] = []
    pairs = pair_values(records, PROBE)
    trained = any(write_probed(f"{kind}_bins", view) in values for values in pairs.values())
    for (a, b), values in (pairs if trained else pair_values(records, OTHERWISE)).items():
        table = values.get(write_probed(f"{kind}_bins", view))
        if table is None or a.K is None or b.variant != "soft":
            continue
        for place, (x, y) in enumerate(zip(reversed(table["distance"]), reversed(table["improvement"]), strict=True), start=1):
            bins.append((a.variant, float(a.K), place, x, y, a.seed))
        rank, given = (values.get(write_probed(f"{kind}_{name}", view)) for name in ("spearman", "spearman_given_entropy"))
        spearman.append((a.variant, float(a.K), a.seed, _number(rank), _number(given)))
    rows = pd.DataFrame(bins, columns=["method", "K", "place", "distance", "improvement", "seed"])
    averaged = [
        (*key, float(group["distance"].mean()), *mean_and_bar(group["improvement"].to_numpy()), len(group))
        for key, group in rows.groupby(["method", "K", "place"])
    ]
    columns = ["method", "K", "place", "distance", "improvement", "sd", "n"]
    ranks = pd.DataFrame(spearman, columns=["method", "K", "seed", "value", "given_entropy"])
    return Improvement(pd.DataFrame(averaged, columns=columns), ranks, kind, view, trained)


@styled
def draw_improvement(numbers: Improvement) -> Canvas:
    """One panel per K, one line per method; above 0 hard delivery is better."""
    ks = sorted(numbers.bins["K"].unique())
    columns = min(len(ks), 2)
    rows = -(-len(ks) // columns)
    figure, axes = canvas(rows, columns, height=0.7 + 2.3 * rows, width=6.4 if columns > 1 else 4.6, sharex=True, sharey=True)
    for axis, k in zip(axes.flat, ks, strict=False):
        inside = numbers.bins[numbers.bins["K"] == k]
        axis.axhline(0, color="0.3", linewidth=0.8)
        for method in sorted(inside["method"].unique(), key=method_key):
            line = inside[inside["method"] == method].sort_values("distance")
            axis.errorbar(
                line["distance"], line["improvement"], yerr=line["sd"], color=colour(method), marker=mark(method),
                label=label(method), capsize=2,
            )  # fmt: skip
        axis.set_title(f"K = {write_votes(k)}")
    for axis in axes.flat[len(ks) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel(f"{WORDS[numbers.kind]} of the K-vote target")
    for axis in axes[:, 0]:
        axis.set_ylabel("gain over soft, nat")
    legend_below(figure, axes[0, 0])
    return figure


def improvement_figure(records: Records, number: str, title: str, kind: str, view: str) -> Figure:
    """The figure, with the per-seed correlations in its notes."""
    sheet, numbers = Sheet(records, "sparse", seeds=5), prepare_improvement(records, kind, view)
    asked = published()["table1_sparse_soft_nll"]["K"] if sheet.group.published or sheet.empty else []
    for k in map(float, asked):
        for method in ("soft", *HARD_DELIVERY):
            sheet.entry("soft_nll", method, k)
    whose = (
        "training items, whose K votes were in the loss" if numbers.trained else "evaluation items, on which nothing was trained"
    )
    where = whose if view == "full" else f"the high-disagreement slice of the {whose}"
    n = count_word(numbers.bins["n"])
    caption = (
        "Soft NLL of soft labels minus that of hard delivery, item by item (above 0: hard delivery is better), in bins of the "
        f"{WORDS[kind]} between the K-vote target and the full distribution; {where}; {BOTH}, runs of one seed, "
        f"{n}; bars: SD over seeds."
    )
    if numbers.bins.empty:
        sheet.lack(PROBE)
        return Figure(number, title, caption, sheet.notes())
    notes = spearman_notes(numbers)
    if not numbers.trained:
        notes.append("On evaluation items, whose K votes nobody trained on, the distance can only reflect annotator entropy.")
    if sheet.group.published and kind == "js" and view == "full":
        low, high = published()["table1_sparse_soft_nll"]["facts"]["js_improvement_spearman"]
        notes.append(f"Published: per-seed Spearman {low} to {high}.")
    return Figure(number, title, caption, [*notes, *sheet.notes()], lambda: draw_improvement(numbers))


def spearman_notes(numbers: Improvement) -> list[str]:
    """One sentence for each method and K: the range of the per-seed correlations, plain and given annotator entropy."""
    lines = []
    for (method, k), group in numbers.spearman.dropna(subset="value").groupby(["method", "K"]):
        low, high = group["value"].min(), group["value"].max()
        given = group["given_entropy"].mean()
        beside = "" if np.isnan(given) else f"; given annotator entropy {given:+.3f}"
        lines.append(
            f"{method}, K = {write_votes(k)}: per-seed Spearman of error and gain {low:+.3f} to {high:+.3f}, mean "
            f"{group['value'].mean():+.3f} (n = {len(group)}){beside}."
        )
    return lines


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
