"""Table 8: near outliers, CIFAR-100, SLS against soft labels."""

from itertools import product

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import auroc
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.detection import (
    NO_ORACLE,
    SETTINGS,
    auroc_cells,
    detectors_in,
    row_at,
    rows_of,
    votes_in_words,
    votes_measured,
)
from hardlabels.reporting.tables.sheet import Sheet, with_test
from hardlabels.reporting.tables.table import Table
from hardlabels.reporting.tables.wording import over_seeds
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

SECTION = "table8_cifar100_auroc"
ONE_SIDED = (
    "The paper does not say which side its p has. 0.0186 and 0.0654 are 19/1024 and 67/1024: odd multiples of 1/1024, which with "
    "10 seeds only a one-sided test gives."
)


def cifar100(records: Records) -> Table:
    """AUROC of SLS and soft labels against CIFAR-100, with the one-sided paired test that SLS is higher."""
    sheet, paper = Sheet(records, "main", seeds=10), published()[SECTION]
    methods = ["sls", "soft"]
    detectors = detectors_in(sheet, "cifar100", [name for name in paper if name != "columns"])
    cells = auroc_cells(sheet, "cifar100", SECTION, methods, detectors)
    for k, detector in product(votes_measured(records), detectors):
        if (place := (row_at(detector, k), "sls")) in cells:
            test = sheet.test(auroc("cifar100", detector).column, "sls", "soft", "greater", k)
            paper_p = paper[detector][2] if sheet.group.published and k == ALL and detector in paper else None
            cells[place] = with_test(cells[place], test, paper_p)
    caption = (
        f"AUROC ↑ (higher is better) of the run's evaluation items against CIFAR-100's test images, "
        f"{votes_in_words(records)}, {BOTH}, {over_seeds(cells)}. "
        "p (column sls): exact one-sided paired Wilcoxon that sls is above soft; not "
        "corrected for the number of detectors, which are not independent."
    )
    remarks = [ONE_SIDED, SETTINGS] if sheet.group.published else [SETTINGS]
    return Table("8", "Near outliers: CIFAR-100", caption, rows_of(cells), methods, cells, [*remarks, NO_ORACLE, *sheet.notes()])
