"""Table S2: the main metrics where annotators disagree."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import better_direction
from hardlabels.reporting.tables.references import with_references
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import TEMPERED, heading, over_seeds
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

VIEWS = {"non-unanimous": "non_unanimous", "high": "high_disagreement"}
METRIC_NAMES = ("soft_nll", "soft_nll_t", "hard_acc", "ece_votes", "ent_corr")
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")


def slices(records: Records) -> Table:
    """Soft NLL, accuracy and entropy correlation on the items that are not unanimous, and on the high-disagreement slice."""
    sheet = Sheet(records, "main", seeds=10)
    methods = sheet.methods(METHODS, ALL)
    columns: dict[str, tuple[str, float, str]] = {}
    cells: Cells = {}
    for word, view in VIEWS.items():
        for metric in METRIC_NAMES:
            column = f"{heading(metric)}, {word}"
            columns[column] = metric, ALL, view
            cells |= {(method, column): sheet.entry(metric, method, slice=view) for method in methods}
            mark_best(cells, [(method, column) for method in methods], better_direction(Quantity(metric)))
    caption = (
        f"All votes, {BOTH}, {over_seeds(cells)}; ↓ lower, ↑ higher is better; no test. Non-unanimous: "
        f"items with at least two different votes. High: annotator entropy in the data set's top decile. {TEMPERED}"
    )
    remark = "Unanimous items are one large tie in annotator entropy: the correlation without them says more."
    table = Table("S2", "Where annotators disagree", caption, methods, list(columns), cells, [remark, *sheet.notes()])
    return with_references(table, records, columns)
