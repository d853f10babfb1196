"""Table 7: far outliers, SVHN."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.detection import (
    NO_ORACLE,
    SETTINGS,
    auroc_cells,
    detectors_in,
    methods_in_columns,
    rows_of,
    votes_in_words,
)
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Table
from hardlabels.reporting.tables.wording import over_seeds
from hardlabels.runs.records import Records

SECTION = "table7_svhn_auroc"


def svhn(records: Records) -> Table:
    """AUROC of the evaluation items against SVHN by detector and method."""
    sheet = Sheet(records, "family", seeds=5)
    methods = methods_in_columns(sheet, SECTION)
    detectors = detectors_in(sheet, "svhn", [name for name in published()[SECTION] if name != "columns"])
    cells = auroc_cells(sheet, "svhn", SECTION, methods, detectors)
    caption = (
        f"AUROC ↑ (higher is better) of the run's evaluation items against SVHN's test images, "
        f"{votes_in_words(records)}, {BOTH}, {over_seeds(cells)}. "
        "Outliers are the positives. Descriptive, no test: seeds may differ by column."
    )
    return Table("7", "Far outliers: SVHN", caption, rows_of(cells), methods, cells, [SETTINGS, NO_ORACLE, *sheet.notes()])
