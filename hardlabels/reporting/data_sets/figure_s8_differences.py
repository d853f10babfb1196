"""Figure S8: each method against soft labels, on every data set."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.data_sets.panels import lowest, missing_from, panels
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import colour, count_word, label, mark, styled
from hardlabels.reporting.number_formats import true_minus
from hardlabels.reporting.tables.sheet import Sheet, method_key, methods_in
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL
from hardlabels.statistics.intervals import hodges_lehmann

REFERENCE = "soft"
LINEAR = 0.01
"""The axis is linear up to this difference, in nat, and logarithmic beyond: majority labels may lie a hundred times further."""

COLUMNS = ["data", "method", "estimate", "low", "high", "level", "n", "tempered"]


def prepare_differences(groups: Mapping[str, Records]) -> pd.DataFrame:
    """One row per data set and method: the difference of soft NLL to soft labels, all votes, paired by seed, with its interval.

    ``tempered`` is the estimate after one temperature each; NaN where it is not known.
    """
    rows = []
    for name, records in groups.items():
        sheet = Sheet(records, "main", seeds=10)
        for method in methods_in(records, ALL):
            test = sheet.test("soft_nll", method, REFERENCE, "two-sided") if method != REFERENCE else None
            if test is not None:
                found = hodges_lehmann(test.differences)
                after = sheet.test("soft_nll_t", method, REFERENCE, "two-sided")
                tempered = float("nan") if after is None else hodges_lehmann(after.differences).value
                rows.append((name, method, found.value, found.low, found.high, found.level, found.n, tempered))
    return pd.DataFrame(rows, columns=COLUMNS)


@styled
def draw_differences(numbers: pd.DataFrame) -> Canvas:
    """One panel per data set, one line per method; left of zero it is better than soft labels."""
    methods = sorted(numbers["method"].unique(), key=method_key)
    names = list(dict.fromkeys(numbers["data"]))
    figure, axes = panels(names, height=0.45 + 0.2 * len(methods), sharex=True, sharey=True)
    for name, axis in axes.items():
        axis.axvline(0, color="0.3", linewidth=1)
        for row in numbers[numbers["data"] == name].itertuples(index=False):
            place, tint = methods.index(row.method), colour(row.method)
            axis.plot([row.low, row.high], [place, place], linewidth=1.6, color=tint)
            axis.plot(row.estimate, place, mark(row.method), markersize=5, color=tint)
            axis.plot(row.tempered, place, mark(row.method), markersize=6, color=tint, markerfacecolor="none")
        axis.set_yticks(range(len(methods)), [label(method) for method in methods])
        axis.set_ylim(len(methods) - 0.5, -0.5)
        axis.set_xscale("symlog", linthresh=LINEAR)
        axis.set_xlim(*_limits(numbers))
        axis.xaxis.set_major_locator(FixedLocator([-1, -0.1, -LINEAR, 0, LINEAR, 0.1, 1]))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: true_minus(f"{value:g}")))
        axis.tick_params(axis="x", labelsize=7)
    for axis in lowest(axes):
        axis.tick_params(labelbottom=True)
        axis.set_xlabel(f"soft NLL − that of {REFERENCE} ↓")
    return figure


def differences(groups: Mapping[str, Records]) -> Figure:
    """The figure."""
    numbers = prepare_differences(groups)
    level = numbers["level"].min() if len(numbers) else 0.95
    short = f" ({100 * level:.4g} % is the most that the fewest seeds can attain)" if level < 0.95 else ""
    caption = (
        f"Soft NLL of each method minus that of {REFERENCE} labels, paired by seed; all votes, {BOTH}, all evaluation "
        f"items, {count_word(numbers['n'])}. Left of zero the method is better. Dots: Hodges-Lehmann estimate; bars: exact 95 % "
        f"signed-rank interval over seeds{short}. Hollow: the estimate after one temperature each. The axis is linear to "
        f"±{LINEAR:g} nat and logarithmic beyond."
    )
    notes = missing_from(list(groups), numbers["data"], f"pair of {REFERENCE} and another method with all votes")
    draw = (lambda: draw_differences(numbers)) if len(numbers) else None
    return Figure("S8", "Each method against soft labels, by data set", caption, notes, draw)


def _limits(numbers: pd.DataFrame) -> tuple[float, float]:
    """All intervals with some room, and zero well inside."""
    low, high = numbers[["low", "tempered"]].min().min(), numbers[["high", "tempered"]].max().max()
    return min(1.6 * low, -2 * LINEAR), max(1.6 * high, 2 * LINEAR)
