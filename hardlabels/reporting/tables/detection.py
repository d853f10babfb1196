"""What the three tables of outlier detection share: one row per detector, one column per method."""

from hardlabels.reporting.claims.quantities import auroc
from hardlabels.reporting.published import published, published_row
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, mark_best
from hardlabels.runs.quantity import Detection
from hardlabels.runs.records import Records

SETTINGS = (
    "The settings that the paper does not give (ODIN's temperature and step, KNN's k, which outliers) are in each run's "
    "diagnostics/ood.json."
)


PRIOR_AUROC = 0.5
NO_ORACLE = (
    f"prior: the class shares give every item one score, and no order: an AUROC of {PRIOR_AUROC:g} by definition. Outliers have "
    "no votes, so that there is no oracle."
)
"""The floor of these tables, and why they have no ceiling."""


def detections_in(records: Records) -> list[Detection]:
    """What was measured of outliers in any of the runs."""
    return [found for name in records.table["name"].unique() if (found := Detection.from_column(name)) is not None]


def detectors_in(sheet: Sheet, outliers: str, expected: list[str]) -> list[str]:
    """The detectors of the published table, where it applies, and those measured on this set of outliers."""
    found = detections_in(sheet.records)
    measured = {one.detector for one in found if (one.outliers, one.measure) == (outliers, "auroc")}
    wanted = set(expected) if sheet.group.published or sheet.empty or not measured else set()
    return detector_order(measured | wanted)


def detector_order(names: set[str]) -> list[str]:
    """Detectors in the order of the paper's table 7, then others by name; the probe's own list would bring torch.

    >>> detector_order({"knn", "other", "msp"})
    ['msp', 'knn', 'other']
    """
    order = [name for name in published()["table7_svhn_auroc"] if name in names]
    return order + sorted(names - set(order))


def auroc_cells(sheet: Sheet, outliers: str, section: str, methods: list[str], detectors: list[str]) -> Cells:
    """AUROC of every detector and method beside the published one; the best method of each detector is marked."""
    order = published()[section]["columns"]
    cells: Cells = {}
    for detector in detectors:
        for method in methods:
            paper = published_row(section, detector, order.index(method)) if method in order else (None, None)
            cells[detector, method] = sheet.entry(auroc(outliers, detector).column, method, published=paper)
        mark_best(cells, [(detector, method) for method in methods], higher=True)
    return cells
