"""Table 3: the family of hard deliveries and its controls."""

from hardlabels.metrics import METRICS
from hardlabels.reporting.published import published, published_row
from hardlabels.reporting.tables.sheet import Sheet, heading, over_seeds, with_test
from hardlabels.reporting.tables.table import Cells, Table, mark_best
from hardlabels.runs.records import Records

SECTION = "table3_hard_family"
METHODS = ("soft", "sls", "multipass", "deterministic_control", "shuffled_sls")
COLUMNS = ("soft_nll", "hard_acc", "ece_eqmass", "ent_corr")
BASELINES = ("majority", "label_smoothing", "mixup")  # of table 2
AGAINST_SLS = ("multipass", "shuffled_sls")


def family(records: Records) -> Table:
    """The four main metrics of the hard deliveries; multipass and shuffled SLS tested two-sided against SLS."""
    sheet, facts = Sheet(records, "family", seeds=5), published()[SECTION]["facts"]
    paper_p = {("multipass", "soft_nll"): facts["multipass_vs_sls_p_soft_nll"]}
    paper_p |= {("shuffled_sls", metric): facts["shuffled_vs_sls_two_sided_p"] for metric in ("soft_nll", "hard_acc", "ent_corr")}
    methods = [method for method in sheet.methods(METHODS, float("inf")) if method not in BASELINES]
    cells: Cells = {}
    for place, metric in enumerate(COLUMNS):
        column = heading(metric)
        for method in methods:
            entry = sheet.entry(metric, method, published=published_row(SECTION, method, place))
            entry = sheet.with_interval(entry, metric, method)
            if method in AGAINST_SLS:
                test = sheet.test(metric, method, "sls", "two-sided")
                entry = with_test(entry, test, paper_p.get((method, metric)) if sheet.group.published else None)
            cells[method, column] = entry
        mark_best(cells, [(method, column) for method in methods], METRICS[metric].higher_is_better)
    caption = (
        f"All votes, best checkpoint, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. "
        "p (rows multipass and shuffled_sls): exact two-sided paired Wilcoxon against sls."
    )
    notes = sheet.notes()
    if sheet.group.published:
        notes.insert(0, "The paper's soft row is that of its table 2 (10 seeds); its other rows have 5 seeds.")
    return Table("3", "The hard-delivery family", caption, methods, [heading(m) for m in COLUMNS], cells, notes)
