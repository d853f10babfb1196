"""Numbers of a file as log-probabilities: whether they are logits or probabilities, or neither."""

import numpy as np
from scipy.special import expit, log_softmax, logsumexp

from hardlabels.errors import InputError

CLOSE = 1e-3
"""Sums that differ by no more are the same."""

SOME = 0.05
"""A share of rows: of logits, fewer sum to 1 within 1e-3 by chance."""


def to_log_q(table: np.ndarray, kind: str | None, where: str) -> tuple[np.ndarray, str]:
    """Log-probabilities, and whether the table was taken for logits or probabilities.

    Rows that are >= 0 and sum to 1 within 1e-3 are probabilities. A table in which only some rows are is refused: a broken row
    must not turn the whole file into logits. So is a table without any negative number: percentages, independent scores and
    probabilities that were rounded look so, and as logits they would give another, wrong number. So is one whose numbers follow
    from probabilities in another way (:func:`made_of_probabilities`).

    >>> to_log_q(np.array([[0.5, 0.5]]), None, "q.npy")[1], to_log_q(np.array([[2.0, -1.0]]), None, "q.npy")[1]
    ('probabilities', 'logits')
    """
    _refuse(np.isnan(table).any(1) | (table == np.inf).any(1), table, where, "numbers below infinity")
    _refuse((table == -np.inf).all(1), table, where, "a finite logit in every row")
    with np.errstate(over="ignore"):  # of huge logits
        sums = table.sum(1)
        proper = (table >= 0).all(1) & (np.abs(sums - 1) <= 1e-3)
    options = "(--logits or --probabilities tells what they are)"
    if kind is None and not proper.all():
        _refuse_ids(table, where)
        if proper.mean() > SOME:
            _refuse(~proper, table, where, f"rows that all sum to 1, or none {options}")
        if (table >= 0).all():
            row = int((~proper).argmax())
            expected = f"probabilities that sum to 1, or logits, some of which are negative {options}"
            raise InputError(f"{where}: expected {expected}; row {row} is {_shown(table[row])} and sums to {sums[row]:.6g}")
        if (found := made_of_probabilities(table)) is not None:
            expected = f"probabilities, their natural logarithms, or logits {options}"
            raise InputError(f"{where}: expected {expected}; row 0 is {_shown(table[0])}: all rows look like {found}")
    kind = kind or ("probabilities" if proper.all() else "logits")
    if kind == "logits":
        return log_softmax(table, axis=1), kind
    _refuse(~proper, table, where, "probabilities of at least 0 that sum to 1 within 0.001")
    with np.errstate(divide="ignore"):  # a probability of 0
        return np.log(table / table.sum(1, keepdims=True)), kind


def made_of_probabilities(table: np.ndarray) -> str | None:
    """What a table with negative numbers seems to be that is neither logits nor natural logarithms; None where it may be these.

    Rows of a network's logits do not all have one sum, and neither have their powers of 2 or 10.

    >>> q = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    >>> [made_of_probabilities(table) for table in (-q, np.log10(q), np.log(q))]
    ['probabilities that were negated or rescaled: each sums to -1', 'logarithms of base 10', None]
    """
    if len(table) < 2 or table.shape[1] < 2 or _alike(logsumexp(table, axis=1), 0):
        return None
    for base in (2, 10):
        if (table <= 0).all() and _alike(np.power(float(base), table).sum(1), 1):
            return f"logarithms of base {base}"
    if _alike(expit(table).sum(1), 1):
        return "log-odds, one against the others for each class"
    with np.errstate(over="ignore"):  # of huge logits
        sums = table.sum(1)
    if np.isfinite(sums).all() and _alike(sums, sums[0]) and (abs(sums[0]) > CLOSE or np.abs(table).max() <= 1):
        return f"probabilities that were negated or rescaled: each sums to {round(float(sums[0]), 3) + 0:g}"
    return None


def _alike(values: np.ndarray, wanted: float) -> bool:
    return bool((np.abs(values - wanted) <= CLOSE * max(1.0, abs(wanted))).all())


def _refuse_ids(table: np.ndarray, where: str) -> None:
    """Refuse a first column of different whole numbers before columns that sum to 1: ids, not the logits of a class."""
    first, rest = table[:, 0], table[:, 1:]
    with np.errstate(over="ignore", invalid="ignore"):
        others = rest.shape[1] > 1 and bool((np.abs(rest.sum(1) - 1) <= 1e-3).all() and (rest >= 0).all())
        if others and len(first) > 1 and len(np.unique(first)) == len(first) and bool((first == np.floor(first)).all()):
            expected = "one column a class; the first looks like ids, as the others sum to 1"
            raise InputError(f"{where}: expected {expected}: give the file a first line of names, such as id,cat,dog")


def _refuse(bad: np.ndarray, table: np.ndarray, where: str, expected: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{where}: expected {expected}; row {row} is {_shown(table[row])}")


def _shown(row: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:.6g}" for value in row[:12]) + (", ...]" if len(row) > 12 else "]")
