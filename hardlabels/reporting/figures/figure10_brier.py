"""Figure 10: where the soft Brier score comes from."""

import pandas as pd
from matplotlib.figure import Figure as Canvas

from hardlabels.metrics import METRICS
from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import canvas, colour, count_word, label, mark, mean_and_bar, places, styled
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.wording import heading
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

PARTS = ("brier_reliability", "brier_resolution", "brier_uncertainty")
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")


def prepare_brier(records: Records) -> pd.DataFrame:
    """One row for each method and part of the score: mean, SD, n over seeds, all votes."""
    sheet, rows = Sheet(records, "main", seeds=10), []
    for method in sheet.methods((), ALL):
        for part in PARTS:
            values = sheet.values(part, method)
            if values and "," not in method:
                rows.append((part, method, *mean_and_bar(list(values.values())), len(values)))
    return pd.DataFrame(rows, columns=["part", "method", "mean", "sd", "n"])


@styled
def draw_brier(numbers: pd.DataFrame) -> Canvas:
    """One panel per part of the score, one mark per method, the SD over seeds as bars."""
    figure, axes = canvas(1, len(PARTS), height=3.2, width=7.2)
    methods = list(dict.fromkeys(numbers["method"]))
    for axis, part in zip(axes[0], PARTS, strict=True):
        for row in numbers[numbers["part"] == part].itertuples():
            style = {"color": colour(row.method), "marker": mark(row.method), "markersize": 7, "capsize": 3}
            axis.errorbar([methods.index(row.method)], [row.mean], yerr=[row.sd], **style)
        places(axis, map(label, methods), rotation=40)
        axis.set_title(heading(part))
    return figure


def brier(records: Records) -> Figure:
    """The figure."""
    sheet, numbers = Sheet(records, "main", seeds=10), prepare_brier(records)
    for method in sheet.methods(METHODS, ALL):
        sheet.entry("brier_resolution", method)
    n = count_word(numbers["n"])
    caption = (
        f"{', '.join(METRICS[part].label for part in PARTS)}: 15 bins of equal mass a class, summed over classes. All votes, "
        f"{BOTH}, all evaluation items, {n}; bars: SD over seeds. Uncertainty is the data's; no model changes it."
    )
    notes = ["Reliability − resolution + uncertainty is the soft Brier score of the bin means.", *sheet.notes()]
    return Figure("10", "Brier decomposition", caption, notes, (lambda: draw_brier(numbers)) if len(numbers) else None)
