"""Table S3: outlier detection in full, every set of outliers and every measure."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.tables.detection import (
    NO_ORACLE,
    SETTINGS,
    detections_in,
    detectors_in,
    row_at,
    rows_of,
    votes_in_words,
    votes_measured,
)
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import over_seeds
from hardlabels.runs.quantity import Detection
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

MEASURES = {"auroc": ("AUROC ↑", True), "aupr": ("AUPR ↑", True), "fpr95": ("FPR95 ↓", False)}
METHODS = ("soft", "sls")
SETS = ("svhn", "cifar100")


def detection(records: Records) -> Table:
    """AUROC, AUPR and FPR95 of soft labels and SLS by set and detector."""
    sheet = Sheet(records, "main", seeds=10)
    measured = {found.outliers for found in detections_in(records)}
    sets = [*SETS, *sorted(measured - set(SETS))] if sheet.group.published or not measured else sorted(measured)
    rows = {
        row_at(f"{one}, {detector}", k): (one, detector, k)
        for k in votes_measured(records)
        for one in sets
        for detector in detectors_in(sheet, one, ["energy", "msp", "odin"])
    }
    columns = {f"{method}, {word}": (method, measure) for measure, (word, _) in MEASURES.items() for method in METHODS}
    cells: Cells = {}
    for row, (one, detector, k) in rows.items():
        for column, (method, measure) in columns.items():
            name = Detection(one, detector, measure).quantity.column
            if k == ALL or sheet.values(name, method, k):
                cells[row, column] = sheet.entry(name, method, k)
        for word, higher in MEASURES.values():
            mark_best(cells, [(row, f"{method}, {word}") for method in METHODS], higher)
    caption = (
        f"The run's evaluation items against outliers, which are the positives; {votes_in_words(records)}, {BOTH}, "
        f"{over_seeds(cells)}; "
        "↑ higher, ↓ lower is better; no test. FPR95: share of evaluation items above the threshold that finds 95 % of the "
        "outliers."
    )
    return Table(
        "S3", "Outlier detection in full", caption, rows_of(cells), list(columns), cells, [SETTINGS, NO_ORACLE, *sheet.notes()]
    )
