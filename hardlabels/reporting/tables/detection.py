"""What the tables of outlier detection share: one row per detector and K, one column per method."""

from hardlabels.reporting.claims.quantities import auroc
from hardlabels.reporting.published import published, published_row
from hardlabels.reporting.tables.sheet import Sheet, method_key
from hardlabels.reporting.tables.table import Cells, mark_best
from hardlabels.runs.quantity import Detection
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

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


def votes_measured(records: Records) -> list[float]:
    """All votes, which the paper's tables have, then every other K whose runs were measured."""
    names = {one.quantity.column for one in detections_in(records)}
    rows = records.table[records.table["name"].isin(names)]
    return [ALL, *sorted(k for k in rows["K"].unique() if k != ALL)]


def methods_in_columns(sheet: Sheet, section: str) -> list[str]:
    """The methods of the published table and of all votes, and those that were measured with few votes."""
    names = {one.quantity.column for one in detections_in(sheet.records)}
    rows = sheet.records.table
    few = rows[rows["name"].isin(names) & (rows["K"] != ALL)]["method"].unique()
    return sorted({*sheet.methods(published()[section]["columns"], ALL), *few}, key=method_key)


def row_at(name: str, K: float) -> str:  # noqa: N803
    """The heading of a row: those of few votes name their K.

    >>> row_at("energy", ALL), row_at("energy", 5)
    ('energy', 'energy, K = 5')
    """
    return name if ALL == K else f"{name}, K = {write_votes(K)}"


def votes_in_words(records: Records) -> str:
    """What a caption says of the votes that its runs were trained with."""
    return "all votes" if len(votes_measured(records)) == 1 else "all votes but where a row names a K"


def auroc_cells(sheet: Sheet, outliers: str, section: str, methods: list[str], detectors: list[str]) -> Cells:
    """AUROC of every detector, K and method, beside the published one; the best method of each row is marked.

    With all votes what is not there is missing. Other K have the methods that were measured: the paper has none of them.
    """
    order = published()[section]["columns"]
    expected = sheet.methods(order, ALL)
    cells: Cells = {}
    for k in votes_measured(sheet.records):
        for detector in detectors:
            name, row = auroc(outliers, detector).column, row_at(detector, k)
            for method in methods:
                if k == ALL and method in expected:
                    paper = published_row(section, detector, order.index(method)) if method in order else (None, None)
                    cells[row, method] = sheet.entry(name, method, published=paper)
                elif k != ALL and sheet.values(name, method, k):
                    cells[row, method] = sheet.entry(name, method, k)
            mark_best(cells, [(row, method) for method in methods], higher=True)
    return cells


def rows_of(cells: Cells) -> list[str]:
    """Their rows, in order."""
    return list(dict.fromkeys(row for row, _ in cells))
