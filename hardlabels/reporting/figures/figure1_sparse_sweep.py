"""Figure 1: metrics against the number of votes per item."""

import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import label_of
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, count_word, label, legend_below, mark, mean_and_bar, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.sheet import HARD_DELIVERY, Sheet, method_key
from hardlabels.reporting.tables.wording import heading
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

PANELS = ("soft_nll", "soft_nll_t", "hard_acc", "ece_eqmass", "ece_votes", "ent_corr")
METHODS = ("soft", *HARD_DELIVERY)
COLUMNS = ["metric", "method", "K", "mean", "sd", "n", "published"]


def prepare_sparse_sweep(records: Records) -> pd.DataFrame:
    """One row for each metric, method and K: mean, SD and n over seeds, and the published soft NLL. All votes are the last K."""
    sheet, paper = Sheet(records, "sparse", seeds=5), published()["table1_sparse_soft_nll"]
    few = {method for k in records.table["K"].unique() if k != ALL for method in sheet.methods((), k)}
    rows = []
    for k in sorted(records.table["K"].unique()):
        for method in sheet.methods((), k):
            if few and method not in few:  # has all votes alone: no line, and a point that would set the scale
                continue
            for metric in PANELS:
                values = sheet.values(metric, method, k)
                if not values or "," in method:  # variants have figure 4
                    continue
                known = metric == "soft_nll" and sheet.group.own_regime and method in METHODS and k in paper["K"]
                number = paper[method]["nll"][paper["K"].index(k)] if known else float("nan")
                rows.append((metric, method, k, *mean_and_bar(list(values.values())), len(values), number))
    return pd.DataFrame(rows, columns=COLUMNS)


@styled
def draw_sparse_sweep(numbers: pd.DataFrame) -> Canvas:
    """One panel per metric, one line per method, the SD over seeds as bars; hollow marks are the published means."""
    figure, axes = canvas(3, 2, height=7.4)
    ks = sorted(numbers["K"].unique())
    methods = sorted(numbers["method"].unique(), key=method_key)
    for axis, metric in zip(axes.flat, PANELS, strict=True):
        for place, method in enumerate(methods):
            rows = numbers[(numbers["metric"] == metric) & (numbers["method"] == method)].sort_values("K")
            shift = (place - (len(methods) - 1) / 2) * 0.07  # side by side: bars of equal methods stay visible
            x = [ks.index(k) + shift for k in rows["K"]]
            style = {"color": colour(method), "marker": mark(method)}
            axis.errorbar(x, rows["mean"], yerr=rows["sd"], label=label(method), capsize=2, **style)
            if rows["published"].notna().any():
                axis.plot(x, rows["published"], linestyle="none", markerfacecolor="none", markersize=7, **style)
        axis.set_xticks(range(len(ks)), [write_votes(k) for k in ks])
        axis.set_xlim(-0.5, len(ks) - 0.5)
        axis.set_title(heading(metric))
    for axis in axes[-1]:
        axis.set_xlabel("votes per item in training, K")
    legend_below(figure, axes[0, 0])
    return figure


def sparse_sweep(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "sparse", seeds=5), prepare_sparse_sweep(records)
    asked = published()["table1_sparse_soft_nll"]["K"] if sheet.group.published or sheet.empty else []
    for k in map(float, asked):
        for method in METHODS:
            sheet.entry("soft_nll", method, k)
    n = count_word(numbers["n"])
    caption = (
        f"{', '.join(label_of(Quantity(name)) for name in PANELS)} against K, the votes per item that training sees; evaluation "
        f"uses all votes. {BOTH.capitalize()}, all evaluation items, {n}; bars: SD over seeds. ↓ lower, ↑ higher is better."
    )
    if numbers["published"].notna().any():
        caption += " Hollow marks: the paper's means."
    finite = numbers[numbers["K"] != ALL]
    notes = sheet.notes() if len(finite) else ["Nothing with few votes per item yet.", *sheet.notes()]
    return Figure("1", "Few votes per item", caption, notes, (lambda: draw_sparse_sweep(numbers)) if len(finite) else None)
