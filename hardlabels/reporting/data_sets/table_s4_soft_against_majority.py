"""Table S4: the second paper's headline, soft against majority labels on every data set and on average."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hardlabels.metrics.prior import PRIOR
from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.published import published
from hardlabels.reporting.tables import table_s1_soft_against_majority as s1
from hardlabels.reporting.tables.references import REFERENCES
from hardlabels.reporting.tables.sheet import group_of
from hardlabels.reporting.tables.table import MISSING, Cells, Entry, Table
from hardlabels.reporting.tables.wording import TEMPERED, heading, over_seeds
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import read_corpus

MEAN = "mean over corpora"
LAST = {"kl_to_annotator": "change", "kl_to_annotator_t": "change", "ent_corr": "change", "hard_acc": "difference"}
HEADS = (*s1.METHODS, PRIOR)


def soft_against_majority(groups: Mapping[str, Records]) -> Table:
    """Table S1 of every data set as one row; below them the mean change, beside the published one."""
    cells: Cells = {}
    notes = []
    data = {name: group_of(records, "main").data for name, records in groups.items()}
    for name, records in groups.items():
        table = s1.soft_against_majority(records, intervals=False)
        cells |= {(name, column): entry for metric in s1.COLUMNS for column, entry in _row(table.cells, metric).items()}
        notes += [f"{name}: {note}" for note in table.notes if "python -m" in note]
    caption = (
        f"All votes, {BOTH}, all evaluation items, {over_seeds(cells)}; ↓ lower, ↑ higher is better. Change: relative, "
        "of the means (−0.32 is 32 % lower), with the exact two-sided paired Wilcoxon p of soft against majority; difference: "
        "soft minus majority. Last row: the mean of the changes, first within a corpus (the data sets that share the part of "
        f"their name before the first _), then over corpora. {TEMPERED}"
    )
    paper = published()["singh_soft_label"]
    headline = {"kl_to_annotator": -paper["kl_reduction_soft_vs_hard"], "ent_corr": paper["entropy_correlation_gain"]}
    for metric, word in LAST.items():
        column = f"{heading(metric)}, {word}"
        changes = [(data[name], mean) for name in groups if (mean := cells[name, column].mean) is not None]
        mean = corpus_mean(changes) if changes else None
        cells[MEAN, column] = Entry(mean, published=headline.get(metric), text=None if changes else MISSING)
    columns = [f"{heading(metric)}, {word}" for metric in s1.COLUMNS for word in (*HEADS, LAST[metric])]
    measured = dict.fromkeys(
        read_corpus(data[row]) for (row, _), entry in cells.items() if row != MEAN and entry.mean is not None
    )
    remark = (
        f"Here the mean is over {_words(list(measured)) or 'nothing yet'}; the published −32 % and +61 % are averages "
        f"over {_words(paper['datasets'])}, with other models and splits; for accuracy the paper says that it matches."
    )
    floor = f"{PRIOR}: {REFERENCES[PRIOR]}. The oracle has KL 0, entropy correlation 1 and accuracy 1 by definition."
    title = "Soft against majority over data sets"
    return Table("S4", title, caption, [*groups, MEAN], columns, cells, [remark, floor, *notes])


def corpus_mean(values: Iterable[tuple[str, float]]) -> float:
    """The mean over corpora of the means over their data sets.

    Args:
        values: each data set's name and value.

    >>> corpus_mean([("chaosnli_snli", 0.25), ("chaosnli_mnli", 0.75), ("popquorn", 1.0)])
    0.75
    """
    parts: dict[str, list[float]] = {}
    for data, value in values:
        parts.setdefault(read_corpus(data), []).append(value)
    return float(np.mean([np.mean(part) for part in parts.values()]))


def _row(cells: Cells, metric: str) -> dict[str, Entry]:
    """Columns of one metric, from the cells of table S1; intervals over votes stay there."""
    column = heading(metric)
    soft, majority, change = (cells[row, column] for row in (*s1.METHODS, s1.CHANGE))
    prior = cells.get((PRIOR, column), Entry(text=MISSING))
    if LAST[metric] == "difference" and soft.mean is not None and majority.mean is not None:
        change = replace(change, mean=soft.mean - majority.mean, text=None)
    entries = (soft, majority, prior, replace(change, published=None))
    heads = [f"{column}, {word}" for word in (*HEADS, LAST[metric])]
    return {head: replace(entry, target_interval=None) for head, entry in zip(heads, entries, strict=True)}


def _words(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
