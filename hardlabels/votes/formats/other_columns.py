"""Columns in tables of votes that hold something else: row numbers, ids, totals, gold labels. They are no votes."""

from collections.abc import Sequence

import numpy as np

from hardlabels.votes.formats.columns import known_as

FEW_ROWS, SOME_ROWS = 5, 8
"""So many rows that count up by one, or go up in any steps, are no votes: 8 counts are in order once in 40,000 times."""

LARGEST = 1e15  # whole numbers up to here are exact as floats, and so are their sums

OTHER_NUMBERS = frozenset(
    (
        *("total", "sum", "n", "count", "counts", "votes", "nvotes", "numvotes", "annotators", "nannotators", "numannotators"),
        *("gold", "goldlabel", "truelabel", "target", "majority", "majoritylabel", "majorityvote", "label", "labels", "y"),
        *("entropy", "agreement", "confidence", "fold", "split", "row", "nr", "number", "index", "id", "uid", "itemid", "taskid"),
    )
)
"""Names of columns beside those of the classes, as :func:`~hardlabels.votes.formats.columns.known_as` writes them."""


def other_column(table: np.ndarray, names: Sequence[str] | None) -> str | None:
    """Why one column of a table of counts or probabilities holds no class; None where all of them may.

    Args:
        table: (N, columns) the numbers.
        names: of the columns; None where the file has none.

    >>> numbered = np.column_stack([np.arange(7, 12), [2, 0, 3, 1, 1], [1, 3, 0, 2, 2]])
    >>> other_column(numbered, ["nr", "cat", "dog"])
    "column 'nr' reads like row numbers or ids, as every line has a higher one"
    >>> other_column(np.array([[2, 1, 3], [0, 3, 3]]), ["cat", "dog", "all"])
    "column 'all' is the sum of the others"
    >>> other_column(np.array([[2, 1], [0, 3]]), ["cat", "gold"])
    "column 'gold' is named as something else"
    >>> other_column(np.array([[2, 1], [0, 3]]), None)
    """
    if table.ndim != 2 or not table.size or table.dtype.kind not in "iuf" or not (np.abs(table) < LARGEST).all():
        return None  # which Votes refuses
    columns = [*map(repr, names)] if names else [*map(str, range(table.shape[1]))]
    table = table.astype(np.float64)  # twice 128 is 0 in bytes
    rows, wide = len(table), table.shape[1] > 2
    steps = np.diff(table[:, 0])
    if wide and ((rows >= FEW_ROWS and (steps == 1).all()) or (rows >= SOME_ROWS and (steps > 0).all())):
        return f"column {columns[0]:.60} reads like row numbers or ids, as every line has a higher one"
    total = (2 * table == table.sum(1, keepdims=True)).all(0) & (table > 0).any(0)
    if wide and rows > 1 and total.any():
        return f"column {columns[int(total.argmax())]:.60} is the sum of the others"
    other = next((name for name in names or () if known_as(name) in OTHER_NUMBERS), None)
    return None if other is None else f"column {other!r:.60} is named as something else"
