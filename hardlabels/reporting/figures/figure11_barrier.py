"""Figure 11: how far the loss rises on the line between two networks."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.across import PairKind, votes_of_pairs
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, legend_below, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.saved import pair_values, predictions_of
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.quantity import write_probed
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

PROBE = "barrier"
VARIANTS = {"interpolated_bn": "BN statistics interpolated", "reestimated_bn": "BN statistics re-estimated"}
DASHES = {PairKind("sls", "soft"): "-", PairKind("sls", "sls"): "--", PairKind("soft", "soft"): ":"}


@dataclass(frozen=True)
class Barrier:
    """Numbers of the figure.

    Attributes:
        alpha: (points,) place on the line.
        curves: (variant, kind of pair) to (pairs, points) soft NLL.
        heights: (variant, kind of pair) to (pairs,) barriers.
        chance: ln C, the loss of a uniform prediction on every item; None where C is not known.
    """

    alpha: np.ndarray
    curves: dict[tuple[str, PairKind], np.ndarray]
    heights: dict[tuple[str, PairKind], np.ndarray]
    chance: float | None


def prepare_barrier(records: Records, K: float = ALL) -> Barrier:  # noqa: N803
    """Curves and barriers of all pairs that see K votes; pairs with another number of points than most are left out."""
    found = [
        (a, b, values) for (a, b), values in pair_values(records, PROBE).items() if a.votes == b.votes == K and "alpha" in values
    ]
    lengths = [len(values["alpha"]) for _, _, values in found]
    points = max(set(lengths), key=lengths.count) if lengths else 0
    curves: dict[tuple[str, PairKind], list[list[float]]] = {}
    heights: dict[tuple[str, PairKind], list[float]] = {}
    for a, b, values in found:
        for variant in VARIANTS:
            curve = values.get(write_probed(f"soft_nll_{variant}"))
            if curve is not None and len(curve) == points:
                key = variant, PairKind(a.variant, b.variant)
                curves.setdefault(key, []).append([np.nan if value is None else value for value in curve])
                height = values.get(write_probed(f"barrier_{variant}"))
                heights.setdefault(key, []).append(np.nan if height is None else height)
    saved = next((p for path in records.folders.values() if (p := predictions_of(FinishedRun(path))) is not None), None)
    return Barrier(
        np.linspace(0, 1, points),
        {key: np.array(rows, dtype=float) for key, rows in curves.items()},
        {key: np.array(rows, dtype=float) for key, rows in heights.items()},
        None if saved is None else float(np.log(saved["p"].shape[1])),
    )


@styled
def draw_barrier(numbers: Barrier) -> Canvas:
    """One panel per treatment of BN: every pair thin, the mean of a kind of pair bold."""
    figure, axes = canvas(1, len(VARIANTS), height=3.7, sharey=True)
    for axis, (variant, word) in zip(axes[0], VARIANTS.items(), strict=True):
        for (which, kind), curves in numbers.curves.items():
            if which != variant:
                continue
            style = {"color": colour(kind.first), "linestyle": DASHES.get(kind, "-.")}
            axis.plot(numbers.alpha, curves.T, alpha=0.25, linewidth=0.7, **style)
            axis.plot(numbers.alpha, curves.mean(0), linewidth=2, label=f"{kind} ({len(curves)} pairs)", **style)
        if numbers.chance is not None:
            axis.axhline(numbers.chance, color="0.4", linewidth=0.8, label="ln C, uniform prediction")
        axis.set(title=word, xlabel="place on the line, 0: the first named")
    axes[0, 0].set_ylabel("soft NLL")
    legend_below(figure, axes[0, 0], columns=2)
    return figure


def mean_heights(numbers: Barrier) -> list[str]:
    """One line for each kind of pair and treatment of BN: mean, range and number of pairs."""
    return [
        f"{kind}, {VARIANTS[variant]}: mean barrier {np.nanmean(values):.3f}, {np.nanmin(values):.3f} to "
        f"{np.nanmax(values):.3f}, {len(values)} pairs."
        for (variant, kind), values in sorted(numbers.heights.items(), key=lambda entry: (entry[0][0], str(entry[0][1])))
    ]


def barrier(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_barrier(records)
    sheet.uses(PROBE)
    if sheet.empty:
        sheet.entry("soft_nll", "sls")
        sheet.entry("soft_nll", "soft")
    caption = (
        f"Soft NLL on the straight line between two networks ({BOTH}), on the evaluation items of both, all votes: thin a pair, "
        "bold their mean. The sls – soft pairs share a seed; those of one method do not and are the control. Left: BN statistics "
        "are averaged like weights; right: computed anew at every point."
    )
    if not numbers.curves:
        sheet.lack(PROBE)
        return Figure("11", "Loss barrier", caption, sheet.notes())
    notes = mean_heights(numbers)
    for k in votes_of_pairs(records, PROBE):
        notes += [f"K = {write_votes(k)}, not drawn: {line}" for line in mean_heights(prepare_barrier(records, k))]
    if sheet.group.published:
        paper = published()["figures"]["fig11_loss_barrier"]
        notes.append(
            f"Published: mean barrier {paper['mean_barrier_sls_soft']} over {paper['pairs']} sls – soft pairs. That puts the "
            "midpoint above ln 10 = 2.30: stale BN statistics would do that."
        )
    return Figure("11", "Loss barrier", caption, [*notes, *sheet.notes()], lambda: draw_barrier(numbers))
