"""Table S1: the second paper's comparison, soft labels against majority labels."""

from hardlabels.metrics import METRICS
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.sheet import Sheet, heading, over_seeds, with_test
from hardlabels.reporting.tables.table import MISSING, Cells, Entry, Table, mark_best
from hardlabels.runs.records import Records

METHODS = ("soft", "majority")
COLUMNS = ("kl_to_annotator", "ent_corr", "hard_acc")
CHANGE = "change, soft over majority"


def soft_against_majority(records: Records) -> Table:
    """KL to the annotators, entropy correlation and accuracy of both, and the relative change of the means."""
    sheet, paper = Sheet(records, "main", seeds=10), published()["singh_soft_label"]
    cells: Cells = {}
    headline = {"kl_to_annotator": -paper["kl_reduction_soft_vs_hard"], "ent_corr": paper["entropy_correlation_gain"]}
    for metric in COLUMNS:
        column = heading(metric)
        for method in METHODS:
            cells[method, column] = sheet.with_interval(sheet.entry(metric, method), metric, method)
        mark_best(cells, [(method, column) for method in METHODS], METRICS[metric].higher_is_better)
        test = sheet.test(metric, "soft", "majority", "two-sided")
        change = relative_change(cells["soft", column], cells["majority", column])
        text, paper_change = None if change is not None else MISSING, headline.get(metric) if sheet.group.published else None
        cells[CHANGE, column] = with_test(Entry(change, None, test.n if test else 0, published=paper_change, text=text), test)
    caption = (
        f"All votes, best checkpoint, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. "
        "Last row: relative change of the mean, and the exact two-sided paired Wilcoxon p of soft against majority."
    )
    notes = ["The published changes are averages over CIFAR-10H, ChaosNLI and POPQUORN, not of one data set.", *sheet.notes()]
    return Table("S1", "Soft against majority labels", caption, [*METHODS, CHANGE], [heading(m) for m in COLUMNS], cells, notes)


def relative_change(new: Entry, old: Entry) -> float | None:
    """(new - old) / old of the means; None where one is missing or the old one is 0.

    >>> relative_change(Entry(1.0), Entry(2.0)), relative_change(Entry(1.0), Entry())
    (-0.5, None)
    """
    if new.mean is None or not old.mean:
        return None
    return (new.mean - old.mean) / old.mean
