"""What the three tables of outlier detection share: a row a detector, a column a method."""

from hardlabels.reporting.published import published, published_row
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.reporting.tables.table import Cells, mark_best

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


def detectors_in(sheet: Sheet, outliers: str, expected: list[str]) -> list[str]:
    """The detectors of the published table, where it applies, and those measured on this set of outliers."""
    names = sheet.records.table["name"].unique()
    measured = {name.split("/")[2] for name in names if name.startswith(f"ood/{outliers}/") and name.endswith("/auroc")}
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
            cells[detector, method] = sheet.entry(f"ood/{outliers}/{detector}/auroc", method, published=paper)
        mark_best(cells, [(detector, method) for method in methods], higher=True)
    return cells
