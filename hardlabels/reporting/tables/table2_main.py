"""Table 2: the main comparison on full annotator distributions."""

from hardlabels.metrics import METRICS
from hardlabels.reporting.published import published, published_row
from hardlabels.reporting.tables.sheet import Sheet, heading, over_seeds, with_test
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.runs.records import Records

SECTION = "table2_main"
METHODS = ("soft", "sls", "majority", "label_smoothing", "mixup")
COLUMNS = ("soft_nll", "hard_acc", "ece_eqmass", "ent_corr")


def main(records: Records) -> Table:
    """The four main metrics by method, all votes; SLS tested two-sided against soft labels."""
    sheet, paper = Sheet(records, "main", seeds=10), published()[SECTION]
    methods = sheet.methods(METHODS, float("inf"))
    cells: Cells = {}
    for place, metric in enumerate(COLUMNS):
        column = heading(metric)
        for method in methods:
            entry = sheet.entry(metric, method, published=published_row(SECTION, method, place))
            cells[method, column] = sheet.with_interval(entry, metric, method)
        if "sls" in methods and "soft" in methods:
            paper_p = paper["facts"]["sls_vs_soft_two_sided_p"][metric] if sheet.group.published else None
            test = sheet.test(metric, "sls", "soft", "two-sided")
            cells["sls", column] = with_test(cells["sls", column], test, paper_p)
        mark_best(cells, [(method, column) for method in methods], METRICS[metric].higher_is_better)
    caption = (
        f"All votes, best checkpoint, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. "
        "p (row sls): exact two-sided paired Wilcoxon of sls against soft."
    )
    remark = "A large p is no evidence that two methods match: that takes an equivalence test with a stated margin."
    return Table("2", "Full distributions", caption, methods, [heading(m) for m in COLUMNS], cells, [remark, *sheet.notes()])
