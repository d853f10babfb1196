"""Table S2: the main metrics where annotators disagree."""

from hardlabels.metrics import METRICS
from hardlabels.reporting.tables.sheet import Sheet, heading, over_seeds
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.runs.records import Records

VIEWS = {"non-unanimous": "non_unanimous", "high": "high_disagreement"}
METRIC_NAMES = ("soft_nll", "hard_acc", "ent_corr")
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")


def slices(records: Records) -> Table:
    """Soft NLL, accuracy and entropy correlation on the items that are not unanimous, and on the high-disagreement slice."""
    sheet = Sheet(records, "main", seeds=10)
    methods = sheet.methods(METHODS, float("inf"))
    columns, cells = [], Cells()
    for word, view in VIEWS.items():
        for metric in METRIC_NAMES:
            column = f"{heading(metric)}, {word}"
            columns.append(column)
            cells |= {(method, column): sheet.entry(metric, method, slice=view) for method in methods}
            mark_best(cells, [(method, column) for method in methods], METRICS[metric].higher_is_better)
    caption = (
        f"All votes, best checkpoint, {over_seeds(cells)}; ↓ lower, ↑ higher is better; no test. Non-unanimous: "
        "items with at least two different votes. High: annotator entropy in the data set's top decile."
    )
    remark = "Unanimous items are one large tie in annotator entropy: the correlation without them says more."
    return Table("S2", "Where annotators disagree", caption, methods, columns, cells, [remark, *sheet.notes()])
