"""Table 2: the main comparison on full annotator distributions."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import better_direction
from hardlabels.reporting.published import published, published_metric
from hardlabels.reporting.tables.references import with_references
from hardlabels.reporting.tables.sheet import Sheet, with_test
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.reporting.tables.wording import TEMPERED, TWO_CALIBRATIONS, heading, over_seeds
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

SECTION = "table2_main"
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")
COLUMNS = ("soft_nll", "soft_nll_t", "hard_acc", "ece_eqmass", "ece_votes", "ent_corr")


def main(records: Records) -> Table:
    """The four main metrics by method, all votes; SLS tested two-sided against soft labels."""
    sheet, paper = Sheet(records, "main", seeds=10), published()[SECTION]
    methods = sheet.methods(METHODS, ALL)
    cells: Cells = {}
    for metric in COLUMNS:
        column = heading(metric)
        for method in methods:
            entry = sheet.entry(metric, method, published=published_metric(SECTION, method, metric))
            cells[method, column] = sheet.with_interval(entry, metric, method)
        if "sls" in methods and "soft" in methods:
            paper_p = paper["facts"]["sls_vs_soft_two_sided_p"].get(metric) if sheet.group.published else None
            test = sheet.test(metric, "sls", "soft", "two-sided")
            cells["sls", column] = with_test(cells["sls", column], test, paper_p)
        mark_best(cells, [(method, column) for method in methods], better_direction(Quantity(metric)))
    caption = (
        f"All votes, {BOTH}, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. "
        f"p (row sls): exact two-sided paired Wilcoxon of sls against soft. {TEMPERED}"
    )
    notes = [
        "A large p is no evidence that two methods match: that takes an equivalence test with a stated margin.",
        TWO_CALIBRATIONS,
        *sheet.notes(),
    ]
    table = Table("2", "Full distributions", caption, methods, [heading(m) for m in COLUMNS], cells, notes)
    return with_references(table, records, {heading(metric): (metric, ALL) for metric in COLUMNS})
