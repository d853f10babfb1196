"""Table 1: soft NLL with few votes per item."""

from hardlabels.delivery.base import FEWEST_VOTES
from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.references import with_references
from hardlabels.reporting.tables.sheet import HARD_DELIVERY, Sheet, with_test
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import TEMPERED, over_seeds
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes
from hardlabels.statistics.holm import Family
from hardlabels.statistics.paired import PairedTest

SECTION = "table1_sparse_soft_nll"
METHODS = ("soft", *HARD_DELIVERY)


def sparse(records: Records) -> Table:
    """Soft NLL by method and K; each hard delivery tested one-sided against soft labels, Holm over all cells with few votes."""
    sheet, paper = Sheet(records, "sparse", seeds=5), published()[SECTION]
    asked = paper["K"] if sheet.group.published or sheet.empty else []
    finite = sorted({*map(float, asked), *(k for k in records.table["K"].unique() if k != ALL)})
    measured = bool(((records.table["K"] != ALL) & (records.table["name"] == "soft_nll")).any())
    ks = [*finite, ALL] if measured and (records.table["K"] == ALL).any() else finite  # all votes: context for few, no more
    methods = sorted({m for k in finite for m in sheet.methods(METHODS, k)}, key=sheet.methods(METHODS).index)
    columns = {k: f"K = {write_votes(k)}" for k in ks}
    tests = cell_tests(sheet, finite)
    family = (
        Family("sparse sweep, soft NLL", {f"{m} K={write_votes(k)}": test for (m, k), test in tests.items()}) if tests else None
    )
    cells: Cells = {}
    for k, column in columns.items():
        for method in methods:
            number, number_p = _paper(paper, method, k)
            if k == ALL and not sheet.values("soft_nll", method, k):
                continue  # all votes are context here, and not asked for
            entry = sheet.entry("soft_nll", method, k, published=(number, None))
            if k != ALL:
                entry = sheet.with_interval(entry, "soft_nll", method, k)
            adjusted = family.adjusted.get(f"{method} K={write_votes(k)}") if family else None
            cells[method, column] = with_test(
                entry, tests.get((method, k)), number_p if sheet.group.published else None, adjusted
            )
        mark_best(cells, [(method, column) for method in methods], higher=False)
    tempered = {k: f"{column}, after one temperature" for k, column in columns.items()}
    for k, column in tempered.items():
        found = {(m, column): sheet.entry("soft_nll_t", m, k) for m in methods if sheet.values("soft_nll_t", m, k)}
        cells |= found
        mark_best(cells, list(found), higher=False)
    same = "; with a single vote all but label smoothing are the same run" if min(finite, default=ALL) < FEWEST_VOTES else ""
    caption = (
        f"Soft NLL ↓ (lower is better), {BOTH}, all evaluation items, {over_seeds(cells)}. Training "
        "sees K votes per item, evaluation all of them. p: exact one-sided paired Wilcoxon against soft of the same K; Holm over "
        f"the {len(tests)} cells of hard delivery with few votes{same}. {TEMPERED}"
    )
    notes = [*family_notes(family), *sheet.notes()]
    heads = [*columns.values(), *(column for column in tempered.values() if any(column == one for _, one in cells))]
    table = Table("1", "Few votes per item", caption, methods, heads, cells, notes)
    about = {column: ("soft_nll", k) for part in (columns, tempered) for k, column in part.items() if column in heads}
    return with_references(table, records, about)


def cell_tests(sheet: Sheet, ks: list[float]) -> dict[tuple[str, float], PairedTest]:
    """(method, K) to the one-sided test that hard delivery has the lower soft NLL; cells without a common seed are left out."""
    found = {(m, k): sheet.test("soft_nll", m, "soft", "less", k) for m in HARD_DELIVERY for k in ks if k >= FEWEST_VOTES}
    return {cell: test for cell, test in found.items() if test is not None}


def family_notes(family: Family | None) -> list[str]:
    """What the tests say together: how many cells are better, unanimous, and left after Holm."""
    if family is None:
        return ["No cell can be tested: hard delivery and soft labels have no seed in common."]
    better = sum(test.mean < 0 for test in family.tests.values())
    of = len(family.tests)
    return [
        f"Better than soft in {better} of {of} cells; all seeds agree in {len(family.unanimous)}; "
        f"Holm-adjusted p at most {family.alpha:g} in {len(family.rejected)}.",
        family.reach,
    ]


def _paper(paper: dict, method: str, k: float) -> tuple[float | None, float | None]:
    """Published soft NLL and p."""
    if method not in METHODS or k not in paper["K"]:
        return None, None
    place = paper["K"].index(k)
    return paper[method]["nll"][place], paper[method]["p"][place] if "p" in paper[method] else None
