"""Figure S10: in its first pass multipass shows votes that nobody has seen, and is SLS on all votes; then votes come again."""

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from hardlabels.delivery.base import FEWEST_VOTES
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, label, legend_below, mean_and_bar, styled
from hardlabels.reporting.number_formats import true_minus
from hardlabels.reporting.selection import MONITORED, curves
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import write_votes
from hardlabels.statistics.first_pass import differences_by_pass
from hardlabels.statistics.summaries import t_half_width

FRESH, METHOD = "sls", "multipass"
METHODS = ("soft", "sls", "multipass", "stratified_sls")
SHOWN_PASSES = 4
"""Panels end here: what the repeated votes cost is seen by then, and a hundred epochs would hide the first five."""


NOTHING = "Nothing with few votes whose epochs hold two passes, beside SLS with all votes, yet."


@dataclass(frozen=True)
class Lead:
    """How far a method with K votes lies above SLS with all votes, epoch by epoch.

    Attributes:
        method: its name.
        K: votes per item.
        differences: (seeds, epochs) soft NLL of evaluation items, method with K votes minus SLS with all votes.
        by_pass: mean of the differences over the seeds and epochs of each whole pass.
    """

    method: str
    K: int
    differences: np.ndarray
    by_pass: np.ndarray


def prepare_first_pass(records: Records) -> list[Lead]:
    """Every method at each small K of which the epochs hold two passes, on the seeds that it shares with SLS on all votes."""
    fresh = {
        cell.seed: curve
        for cell in records.folders
        if (cell.variant, cell.K) == (FRESH, None) and (curve := _curve(records, cell))
    }
    found = []
    for k in sorted({cell.K for cell in records.folders if cell.K is not None and cell.K >= FEWEST_VOTES}):
        for method in sorted(METHODS, key=method_key):
            cells = [cell for cell in records.folders if (cell.variant, cell.K) == (method, k) and cell.seed in fresh]
            mine = {cell.seed: curve for cell in cells if (curve := _curve(records, cell))}
            lengths = {len(curve) for curve in (*mine.values(), *(fresh[seed] for seed in mine))}
            if len(lengths) == 1 and lengths.pop() >= 2 * k:
                passes = differences_by_pass(mine, {seed: fresh[seed] for seed in mine}, k)
                rows = np.array([np.subtract(mine[seed], fresh[seed]) for seed in passes.seeds])
                found.append(Lead(method, k, rows, passes.differences.mean(0)))
    return found


def _curve(records: Records, cell: Cell) -> list[float]:
    """Soft NLL of evaluation items by epoch; empty where it is not known, or not finite."""
    values = curves(records.folders[cell]).get(MONITORED, np.zeros(0))
    return values.tolist() if np.isfinite(values).all() else []


@styled
def draw_first_pass(numbers: list[Lead]) -> Canvas:
    """A panel per K: mean difference to SLS on all votes by epoch, with its 95 % interval; grey lines end the passes."""
    ks = list(dict.fromkeys(lead.K for lead in numbers))
    figure, axes = canvas(1, len(ks), height=3.4, width=6.4 if len(ks) > 1 else 5.2, sharey=True)
    lowest = highest = 0.0
    for axis, k in zip(axes[0], ks, strict=True):
        for lead in (lead for lead in numbers if k == lead.K):
            epochs = min(lead.differences.shape[1], SHOWN_PASSES * k)
            x, rows = np.arange(1, epochs + 1), lead.differences[:, :epochs]
            mean, sd = np.array([mean_and_bar(column) for column in rows.T]).T
            half = t_half_width(sd, len(rows))
            later = slice(k, None)  # in pass 1 of a hard problem curves jump: they may leave the picture
            lowest, highest = min(lowest, (mean - half)[later].min()), max(highest, (mean + half)[later].max())
            axis.plot(x, mean, color=colour(lead.method), label=f"{label(lead.method)}, K votes")
            axis.fill_between(x, mean - half, mean + half, color=colour(lead.method), alpha=0.2, linewidth=0)
        for end in range(k, epochs, k):
            axis.axvline(end + 0.5, color="0.6", linewidth=0.8, linestyle=":")
        axis.axhline(0, color="0.3", linewidth=0.8)
        axis.set(title=f"K = {write_votes(k)}", xlabel="epoch, after training it")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    if highest > lowest:
        room = 0.15 * (highest - lowest)
        axes[0, 0].set_ylim(lowest - room, highest + room)
    axes[0, 0].set_ylabel("soft NLL − that of sls on all votes")
    legend_below(figure, axes[0, 0])
    return figure


def first_pass(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "sparse", seeds=5), prepare_first_pass(records)
    if sheet.empty:
        for method in (FRESH, METHOD):
            sheet.entry("soft_nll", method)
    seeds = sorted({len(lead.differences) for lead in numbers})
    n = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"{seeds[0]}" if seeds else "no"
    caption = (
        f"Soft NLL of the evaluation items by epoch with K votes, minus that of SLS with all votes, paired by seed ({n} seeds): "
        "mean and 95 % t interval. Dotted lines end the passes of K epochs. In pass 1 the K votes that multipass shows are "
        "fresh draws, as those of SLS on all votes are: its curve should stay at 0. From pass 2 on it shows votes again. The "
        "height fits passes 2 and later."
    )
    notes = [
        f"{lead.method}, K = {lead.K}: mean difference "
        + ", ".join(f"pass {at}: {true_minus(f'{value:+.4f}')}" for at, value in enumerate(lead.by_pass[:SHOWN_PASSES], start=1))
        + "."
        for lead in numbers
    ]
    shown = any(lead.method == METHOD for lead in numbers)
    draw = (lambda: draw_first_pass(numbers)) if shown else None
    figure = Figure("S10", "The first pass is fresh", caption, [*notes, *sheet.notes()], draw, timeless="curves over all epochs")
    return figure if shown else replace(figure, notes=[NOTHING, *sheet.notes()])
