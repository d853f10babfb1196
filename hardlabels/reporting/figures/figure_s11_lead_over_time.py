"""Figure S11: when in training do hard deliveries part from soft labels?"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, count_word, label, legend_below, loss_limits, styled
from hardlabels.reporting.number_formats import true_minus
from hardlabels.reporting.selection import MONITORED, SELECTED_APART, curves
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import write_votes
from hardlabels.statistics.summaries import mean_sd, t_half_width

REFERENCE = "soft"
METHODS = ("sls", "multipass", "stratified_sls")


@dataclass(frozen=True)
class Lead:
    """One method beside soft labels, at one K, on the seeds that both have.

    Attributes:
        method: its name.
        K: votes per item in training, None for all.
        curves: (seeds, epochs) soft NLL of the evaluation items.
        reference: (seeds, epochs), that of soft labels of the same seeds.
        selected: (seeds,) the epoch that each run selected, from 0.
        reference_selected: (seeds,) that of soft labels.
    """

    method: str
    K: int | None
    curves: np.ndarray
    reference: np.ndarray
    selected: np.ndarray
    reference_selected: np.ndarray

    @property
    def differences(self) -> np.ndarray:
        """(seeds, epochs): method minus soft labels of the same seed."""
        return self.curves - self.reference


def prepare_lead_over_time(records: Records) -> list[Lead]:
    """Every hard delivery that has a curve beside soft labels, K ascending and all votes last."""
    found: dict[tuple[str, int | None], dict[int, tuple[np.ndarray, int]]] = {}
    for cell, folder in records.folders.items():
        if cell.variant in (REFERENCE, *METHODS):
            known = curves(folder)
            curve = known.get(MONITORED, np.zeros(0))
            if len(curve) > 1 and np.isfinite(curve).all():
                selected = int(np.argmin(known.get(SELECTED_APART, curve)))
                found.setdefault((cell.variant, cell.K), {})[cell.seed] = (curve, selected)
    leads = []
    for k in sorted({k for _, k in found}, key=lambda k: np.inf if k is None else k):
        for method in METHODS:
            mine, soft = found.get((method, k), {}), found.get((REFERENCE, k), {})
            seeds = sorted(set(mine) & set(soft))
            if seeds and len({len(one[seed][0]) for one in (mine, soft) for seed in seeds}) == 1:
                lines, epochs = ([np.array([one[seed][at] for seed in seeds]) for one in (mine, soft)] for at in (0, 1))
                leads.append(Lead(method, k, *lines, *epochs))
    return leads


@styled
def draw_lead_over_time(numbers: list[Lead]) -> Canvas:
    """A column per K. Above: mean curves, with a tick for the epoch that each run selected. Below: differences, 95 % interval."""
    ks = list(dict.fromkeys(lead.K for lead in numbers))
    figure, axes = canvas(2, len(ks), height=5.4, width=max(5.2, 3.2 * len(ks)), sharex="col", sharey="row")
    for column, k in enumerate(ks):
        leads = [lead for lead in numbers if k == lead.K]
        above, below = axes[:, column]
        _draw_curve(above, REFERENCE, leads[0].reference, leads[0].reference_selected, row=0)
        for row, lead in enumerate(leads, start=1):
            _draw_curve(above, lead.method, lead.curves, lead.selected, row)
            mean, half = _mean_and_interval(lead.differences)
            epochs = np.arange(len(mean))
            below.plot(epochs, mean, color=colour(lead.method))
            below.fill_between(epochs, mean - half, mean + half, color=colour(lead.method), alpha=0.2, linewidth=0)
        below.axhline(0, color="0.3", linewidth=0.8)
        above.set(title="all votes" if k is None else f"K = {write_votes(k)}")
        below.set(xlabel="epoch")
    loss_limits(axes[0, 0], [rows for lead in numbers for rows in (lead.curves, lead.reference)])
    loss_limits(axes[1, 0], [lead.differences for lead in numbers])
    axes[0, 0].set_ylabel("soft NLL ↓")
    axes[1, 0].set_ylabel("− that of soft labels")
    legend_below(figure, axes[0, 0])
    return figure


def _draw_curve(axis: Axes, method: str, rows: np.ndarray, selected: np.ndarray, row: int) -> None:
    axis.plot(np.arange(rows.shape[1]), rows.mean(0), color=colour(method), label=label(method))
    heights = np.full(len(selected), 0.03 + 0.035 * row)  # in shares of the axis: ticks of a method lie in a line of their own
    axis.plot(selected, heights, "|", color=colour(method), transform=axis.get_xaxis_transform(), markersize=6)


def _mean_and_interval(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over seeds and half of its 95 % t interval, by epoch."""
    mean, sd = np.array([mean_sd(column) for column in rows.T]).T
    return mean, t_half_width(sd, len(rows))


def lead_over_time(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_lead_over_time(records)
    if not numbers:
        for method in (REFERENCE, METHODS[0]):
            sheet.entry("soft_nll", method)
    counts = count_word([len(lead.curves) for lead in numbers])
    caption = (
        f"Soft NLL of the evaluation items by epoch, {counts}. Above: means over seeds; a tick marks the epoch that a run "
        "selected. Below: method minus soft labels of the same seed, mean and 95 % t interval, which treats seeds as "
        "independent. Epochs count from 0; the first may be off the scale."
    )
    notes = [*map(_in_words, numbers), *sheet.notes()]
    draw = (lambda: draw_lead_over_time(numbers)) if numbers else None
    title, why = "When hard deliveries part from soft labels", "curves over all epochs"
    return Figure("S11", title, caption, notes, draw, timeless=why)


def _in_words(lead: Lead) -> str:
    """Since when most seeds are below soft labels without a break, what is left of it at the end, and the selected epochs."""
    behind = np.flatnonzero((lead.differences < 0).mean(0) <= 0.5)
    first = behind[-1] + 1 if behind.size else 0
    since = f"from epoch {first} on" if first < lead.differences.shape[1] else "never"
    votes = "all votes" if lead.K is None else f"K = {write_votes(lead.K)}"
    return (
        f"{lead.method}, {votes}: lower in most seeds {since}; mean difference at the last epoch "
        f"{true_minus(f'{lead.differences[:, -1].mean():+.4f}')}; median selected epoch {np.median(lead.selected):g} "
        f"(soft labels {np.median(lead.reference_selected):g})."
    )
