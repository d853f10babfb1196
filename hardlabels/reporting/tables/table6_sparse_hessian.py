"""Table 6: the largest Hessian eigenvalue with few votes per item."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.published import published, published_row
from hardlabels.reporting.tables.references import NO_WEIGHTS
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import over_seeds
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

SECTION = "table6_sparse_lambda_max"
VIEWS = {"full": "full", "high": "high_disagreement"}
METHODS = ("sls", "soft")


def sparse_hessian(records: Records) -> Table:
    """Largest eigenvalue of SLS and soft labels, and of others that were measured, by K and slice."""
    sheet = Sheet(records, "sparse", seeds=5)
    measured = records.table[records.table["name"] == "hessian/lambda_max"]
    asked = [k for k in published()[SECTION] if k != "columns"] if sheet.group.published or sheet.empty else []
    ks = sorted({*map(float, asked), *(k for k in records.table["K"].unique() if k != ALL)})
    others = [m for m in sheet.methods(METHODS) if m not in METHODS and (measured["method"] == m).any()]
    columns = [(f"{method}, {word}", method, view) for word, view in VIEWS.items() for method in (*METHODS, *others)]
    paper = {"sls, full": 0, "soft, full": 1, "sls, high": 2, "soft, high": 3}
    cells: Cells = {}
    for k in ks:
        row = f"K = {write_votes(k)}"
        for column, method, view in columns:
            if method in METHODS or sheet.values("hessian/lambda_max", method, k, view):
                number = published_row(SECTION, int(k), paper.get(column, -1))
                cells[row, column] = sheet.entry("hessian/lambda_max", method, k, view, published=number)
        for view in VIEWS.values():
            mark_best(cells, [(row, column) for column, _, other in columns if other == view], higher=False)
    caption = (
        f"Largest Hessian eigenvalue of the soft cross-entropy, {BOTH}, eval mode, BN frozen; full: all evaluation "
        f"items, high: the high-disagreement slice; {over_seeds(cells)}. Lower is flatter; no test."
    )
    rows = [f"K = {write_votes(k)}" for k in ks]
    return Table(
        "6", "Hessian with few votes", caption, rows, [column for column, _, _ in columns], cells, [NO_WEIGHTS, *sheet.notes()]
    )
