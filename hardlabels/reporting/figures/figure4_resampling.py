"""Figure 4: how stale may a sampled label get?"""

import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, count_word, label, mark, mean_and_bar, styled
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, read_method, write_method

COLUMNS = ["hold", "mean", "sd", "n", "published"]


def epochs_held(method: str) -> int | None:
    """For how many epochs a method holds its SLS labels; None for other methods.

    >>> epochs_held("sls"), epochs_held("sls,hold=50"), epochs_held("soft")
    (1, 50, None)
    """
    name, settings = read_method(method)
    if name != "sls" or any(key != "hold" for key, _ in settings):
        return None
    hold = dict(settings).get("hold", 1)
    return hold if isinstance(hold, int) else None


def prepare_resampling(records: Records) -> pd.DataFrame:
    """Soft NLL by epochs held: mean, SD, n, published; the row of soft labels has hold 0."""
    sheet, paper = Sheet(records, "resampling", seeds=5), published()["figures"]["fig4_resampling"]
    known = dict(zip(paper["hold_epochs"], paper["soft_nll"], strict=True)) if sheet.group.own_regime else {}
    rows = []
    for method in sheet.methods((), ALL):
        hold = 0 if method == "soft" else epochs_held(method)
        values = sheet.values("soft_nll", method)
        if hold is not None and values:
            rows.append((hold, *mean_and_bar(list(values.values())), len(values), known.get(hold, float("nan"))))
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("hold", ignore_index=True)


@styled
def draw_resampling(numbers: pd.DataFrame) -> Canvas:
    """Soft NLL against epochs held; the line across is soft labels."""
    figure, axes = canvas(height=3.4, width=5.2)
    axis = axes[0, 0]
    rows, soft = numbers[numbers["hold"] > 0], numbers[numbers["hold"] == 0]
    x = list(range(len(rows)))
    axis.errorbar(x, rows["mean"], yerr=rows["sd"], color=colour("sls"), marker=mark("sls"), capsize=2, label="sls")
    if rows["published"].notna().any():
        axis.plot(x, rows["published"], color=colour("sls"), marker=mark("sls"), markerfacecolor="none", markersize=8,
                  linestyle=":", label="sls, published")  # fmt: skip
    if len(soft):
        axis.axhline(soft["mean"].iloc[0], color=colour("soft"), linestyle="--", label=label("soft"))
    axis.set_xticks(x, [str(hold) for hold in rows["hold"]])
    axis.set_xlim(-0.4, len(rows) - 0.6)
    axis.set(xlabel="epochs that a sampled label is kept", ylabel="soft NLL ↓")
    axis.legend(frameon=False)
    return figure


def resampling(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "resampling", seeds=5), prepare_resampling(records)
    holds = published()["figures"]["fig4_resampling"]["hold_epochs"]
    wanted = [write_method("sls", {"hold": hold}) for hold in holds if hold > 1]
    if sheet.group.published or sheet.empty or len(numbers[numbers["hold"] > 1]) == 0:
        for method in ("sls", *wanted):
            sheet.entry("soft_nll", method)
    rows = numbers[numbers["hold"] > 0]
    n = count_word(rows["n"])
    caption = (
        f"Soft NLL ↓ of SLS whose labels are drawn anew every 1, 5, 10, ... epochs; all votes, {BOTH}, all evaluation "
        f"items, {n}; bars: SD over seeds."
    )
    return Figure("4", "Stale labels", caption, sheet.notes(), (lambda: draw_resampling(numbers)) if len(rows) > 1 else None)
