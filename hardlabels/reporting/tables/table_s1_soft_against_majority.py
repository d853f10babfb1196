"""Table S1: the second paper's comparison, soft labels against majority labels."""

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.claims.quantities import better_direction
from hardlabels.reporting.published import published
from hardlabels.reporting.tables.references import with_references
from hardlabels.reporting.tables.sheet import Sheet, with_test
from hardlabels.reporting.tables.table import MISSING, Cells, Entry, Table, mark_best
from hardlabels.reporting.tables.wording import TEMPERED, heading, over_seeds
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL

METHODS = ("soft", "majority")
COLUMNS = ("kl_to_annotator", "kl_to_annotator_t", "ent_corr", "hard_acc")
CHANGE = "change, soft over majority"


def soft_against_majority(records: Records, intervals: bool = True) -> Table:
    """KL to the annotators, entropy correlation and accuracy of both, and the relative change of the means.

    Args:
        records: of one data set and one recipe.
        intervals: whether those over votes stand beside the SD.
    """
    sheet, paper = Sheet(records, "main", seeds=10), published()["singh_soft_label"]
    cells: Cells = {}
    headline = {"kl_to_annotator": -paper["kl_reduction_soft_vs_hard"], "ent_corr": paper["entropy_correlation_gain"]}
    for metric in COLUMNS:
        column = heading(metric)
        for method in METHODS:
            entry = sheet.entry(metric, method)
            cells[method, column] = sheet.with_interval(entry, metric, method) if intervals else entry
        mark_best(cells, [(method, column) for method in METHODS], better_direction(Quantity(metric)))
        test = sheet.test(metric, "soft", "majority", "two-sided")
        change = relative_change(cells["soft", column], cells["majority", column])
        text, paper_change = None if change is not None else MISSING, headline.get(metric) if sheet.group.published else None
        cells[CHANGE, column] = with_test(Entry(change, None, test.n if test else 0, published=paper_change, text=text), test)
    caption = (
        f"All votes, {BOTH}, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. "
        f"Row '{CHANGE}': relative change of the mean, and the exact two-sided paired Wilcoxon p. {TEMPERED}"
    )
    notes = ["The published changes are averages over CIFAR-10H, ChaosNLI and POPQUORN, not of one data set.", *sheet.notes()]
    heads = [heading(metric) for metric in COLUMNS]
    table = Table("S1", "Soft against majority labels", caption, [*METHODS, CHANGE], heads, cells, notes)
    return with_references(table, records, {heading(metric): (metric, ALL) for metric in COLUMNS})


def relative_change(new: Entry, old: Entry) -> float | None:
    """(new - old) / old of the means; None where one is missing or the old one is 0.

    >>> relative_change(Entry(1.0), Entry(2.0)), relative_change(Entry(1.0), Entry())
    (-0.5, None)
    """
    if new.mean is None or not old.mean:
        return None
    return (new.mean - old.mean) / old.mean
