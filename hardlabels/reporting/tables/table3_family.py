"""Table 3: the family of hard deliveries and its controls."""

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

SECTION = "table3_hard_family"
METHODS = ("soft", "sls", "multipass", "deterministic_control", "shuffled_sls")
COLUMNS = ("soft_nll", "soft_nll_t", "hard_acc", "ece_eqmass", "ece_votes", "ent_corr")
BASELINES = ("majority", "label_smoothing", "mixup")  # of table 2
AGAINST_SLS = ("multipass", "shuffled_sls")


def family(records: Records) -> Table:
    """The four main metrics of the hard deliveries; multipass and shuffled SLS tested two-sided against SLS."""
    sheet, facts = Sheet(records, "family", seeds=5), published()[SECTION]["facts"]
    paper_p = {("multipass", "soft_nll"): facts["multipass_vs_sls_p_soft_nll"]}
    paper_p |= {("shuffled_sls", metric): facts["shuffled_vs_sls_two_sided_p"] for metric in ("soft_nll", "hard_acc", "ent_corr")}
    methods = [method for method in sheet.methods(METHODS, ALL) if method not in BASELINES]
    cells: Cells = {}
    for metric in COLUMNS:
        column = heading(metric)
        for method in methods:
            entry = sheet.entry(metric, method, published=published_metric(SECTION, method, metric))
            entry = sheet.with_interval(entry, metric, method)
            if method in AGAINST_SLS:
                test = sheet.test(metric, method, "sls", "two-sided")
                entry = with_test(entry, test, paper_p.get((method, metric)) if sheet.group.published else None)
            cells[method, column] = entry
        mark_best(cells, [(method, column) for method in methods], better_direction(Quantity(metric)))
    caption = (
        f"All votes, {BOTH}, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. "
        f"p (rows multipass and shuffled_sls): exact two-sided paired Wilcoxon against sls. {TEMPERED}"
    )
    notes = [TWO_CALIBRATIONS, *sheet.notes()]
    if sheet.group.published:
        notes.insert(0, "The paper's soft row is that of its table 2 (10 seeds); its other rows have 5 seeds.")
    table = Table("3", "The hard-delivery family", caption, methods, [heading(m) for m in COLUMNS], cells, notes)
    return with_references(table, records, {heading(metric): (metric, ALL) for metric in COLUMNS})
