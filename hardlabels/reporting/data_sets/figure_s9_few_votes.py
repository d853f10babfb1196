"""Figure S9: soft NLL against the number of votes per item, on every data set."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.data_sets.panels import leftmost, lowest, missing_from, panels
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.figure1_sparse_sweep import COLUMNS, prepare_sparse_sweep
from hardlabels.reporting.figures.style import colour, count_word, label, legend_below, mark, styled
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes
from hardlabels.statistics.summaries import t_half_width

METRIC = "soft_nll"


def prepare_few_votes(groups: Mapping[str, Records]) -> pd.DataFrame:
    """Figure 1's soft NLL of every data set that has runs with few votes, with half of the 95 % t interval of each mean."""
    parts = []
    for name, records in groups.items():
        rows = prepare_sparse_sweep(records)
        rows = rows[rows["metric"] == METRIC]
        if (rows["K"] != ALL).any():
            parts.append(rows.assign(data=name))
    found = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*COLUMNS, "data"])
    seeds, spread = (found[name].to_numpy(dtype=float) for name in ("n", "sd"))
    return found.assign(half=t_half_width(spread, seeds))


@styled
def draw_few_votes(numbers: pd.DataFrame) -> Canvas:
    """One panel per data set, one line per method. Heights differ: each data set has its own floor."""
    methods = sorted(numbers["method"].unique(), key=method_key)
    figure, axes = panels(list(dict.fromkeys(numbers["data"])), height=1.75)
    for name, axis in axes.items():
        mine = numbers[numbers["data"] == name]
        ks = sorted(mine["K"].unique())
        for place, method in enumerate(methods):
            rows = mine[mine["method"] == method].sort_values("K")
            shift = (place - (len(methods) - 1) / 2) * 0.07  # side by side: bars of equal methods stay visible
            x = [ks.index(k) + shift for k in rows["K"]]
            style: dict[str, Any] = {"color": colour(method), "marker": mark(method), "markersize": 3.5, "capsize": 1.5}
            axis.errorbar(x, rows["mean"], yerr=rows["half"], label=label(method), **style)
        axis.set_xticks(range(len(ks)), [write_votes(k) for k in ks])
        axis.set_xlim(-0.5, len(ks) - 0.5)
    for axis in lowest(axes):
        axis.set_xlabel("votes per item, K")
    for axis in leftmost(axes):
        axis.set_ylabel("soft NLL ↓")
    legend_below(figure, next(iter(axes.values())))
    return figure


def few_votes(groups: Mapping[str, Records]) -> Figure:
    """The figure."""
    numbers = prepare_few_votes(groups)
    caption = (
        "Soft NLL (lower is better) against K, the votes per item that training sees; evaluation uses all votes. "
        f"{BOTH.capitalize()}, all evaluation items, {count_word(numbers['n'])}; bars: 95 % t interval of the mean over seeds."
    )
    notes = missing_from(list(groups), numbers["data"], "runs with few votes per item")
    draw = (lambda: draw_few_votes(numbers)) if len(numbers) else None
    return Figure("S9", "Few votes per item, by data set", caption, notes, draw)
