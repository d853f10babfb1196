"""The labels that a data set has itself, held against the majority of the votes: rows or classes in another order show there."""

import numpy as np
from scipy.optimize import linear_sum_assignment

ENOUGH = 50
"""So many items must have been read before anything is said."""
CLEAR = 0.05
"""A share of items: agreement that is not so much above that of chance is none."""
NEARLY_ALL = 0.9
"""A share of the items: it is told when so many were read. Workers that read at the same time lose a few counts, not a tenth."""
MOST_CLASSES = 256  # a table of C x C is kept


def disagreement(table: np.ndarray) -> str | None:
    """What is wrong, most likely, where a data set's own labels are not those of the votes; None where nothing seems to be.

    Args:
        table: (C, C) how many items have each majority (rows) and each label of their own (columns).

    >>> disagreement(np.array([[40, 3], [5, 52]]))
    >>> disagreement(np.array([[25, 25], [25, 25]]))
    "the data set's own labels are the votes' majority for 50.0% of 100 items, as by chance (50.0%): other rows"
    >>> disagreement(np.array([[0, 50, 0], [0, 0, 50], [50, 0, 0]])).split(", ", 1)[1]
    'but for 100.0% if 0, 1, ... are its 1, 2, 0: other classes'
    """
    n = int(table.sum())
    if n < ENOUGH:
        return None
    agree = np.trace(table) / n
    chance = float(table.sum(0) @ table.sum(1)) / n**2
    rows, columns = linear_sum_assignment(table, maximize=True)
    best = table[rows, columns].sum() / n
    said = f"the data set's own labels are the votes' majority for {agree:.1%} of {n} items"
    # The best order of the classes always agrees a little better; by how much where there is none to find, falls with n.
    if best - agree > max(2 * CLEAR, 3 / np.sqrt(n)) and best - chance > 4 * CLEAR:
        return f"{said}, but for {best:.1%} if 0, 1, ... are its {', '.join(map(str, columns[:12].tolist()))}: other classes"
    if chance < 1 - CLEAR and agree - chance < CLEAR:
        return f"{said}, as by chance ({chance:.1%}): other rows"
    return None
