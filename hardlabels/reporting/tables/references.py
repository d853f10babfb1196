"""The last rows of a table of scores: the floor and the ceiling, between which every network lies."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from hardlabels.metrics.prior import PRIOR
from hardlabels.reporting.tables.table import Entry, Table
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.statistics.summaries import summarise

REFERENCES = {
    PRIOR: "the class shares of the training votes, predicted for every item: what a network that learned nothing has",
    "oracle": "the annotators' own distribution of every item: no network can have a lower soft NLL",
}
"""Row to what it is."""

UNTEMPERED = {"soft_nll_t": "soft_nll", "kl_to_annotator_t": "kl_to_annotator"}
"""No temperature betters the annotators' own distribution, and the class shares were fitted: both stand as they are."""

NO_WEIGHTS = "The class shares (prior) and the annotators' own distributions (oracle) have no weights, and so no curvature."
"""What tables about the loss surface say in place of these rows."""


def reference_values(records: Records, reference: str, name: str, k: float, slice: str = "full") -> dict[int, float]:
    """The values of a reference by seed; all methods of a K and a seed see the same votes and are scored on the same items.

    Args:
        records: of one data set and one recipe.
        reference: a key of ``REFERENCES``.
        name: of a metric.
        k: votes per item in training, infinite for all.
        slice: of the evaluation items.
    """
    column = Quantity(UNTEMPERED.get(name, name), reference).column
    found: dict[int, float] = {}
    for (known, part, _, votes), rows in records.references.items():
        if (known, part, votes) == (column, slice, k):
            found |= {seed: value for seed, value in rows if seed not in found and isfinite(value)}
    return dict(sorted(found.items()))


def with_references(table: Table, records: Records, columns: Mapping[str, tuple[str, float] | tuple[str, float, str]]) -> Table:
    """The table with a row for each of ``REFERENCES``: mean and SD over seeds. They take no part in what is best.

    Args:
        table: that has no such rows yet.
        records: of one data set and one recipe.
        columns: heading to metric, K and slice (all items where it is not said).
    """
    cells, notes = dict(table.cells), list(table.notes)
    for reference, what in REFERENCES.items():
        entries = {}
        for column, (name, k, *part) in columns.items():
            found = reference_values(records, reference, name, k, *part)
            if found:
                summary = summarise(found, name)
                entries[reference, column] = Entry(summary.mean, summary.sd if summary.n > 1 else None, summary.n)
        if entries:
            cells.update(entries)
            notes.append(f"{reference}: {what}.")
    rows_shown = dict.fromkeys(row for row, _ in cells if row in REFERENCES)
    return replace(table, rows=[*table.rows, *rows_shown], cells=cells, notes=notes)
