"""Numeric tables that come from outside: refused as a whole, or by the first row that cannot be."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hardlabels.errors import InputError

RowName = Callable[[int], str]
"""What messages call row i, from 0: ``line 2`` where a file has lines."""


def row_number(row: int) -> str:
    """The name of a row that is known by its number only.

    >>> row_number(0)
    'row 0'
    """
    return f"row {row}"


def numeric(values: npt.ArrayLike, ndim: int, where: str, expected: str) -> np.ndarray:
    """The values as an array of numbers with this many dimensions.

    >>> numeric([1, 2], 1, "offsets", "a flat list").tolist()
    [1, 2]
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{where}: expected {expected}, got rows of different lengths") from error
    if array.ndim != ndim or array.dtype.kind not in "iufb":
        raise InputError(f"{where}: expected {expected}, got shape {array.shape}, type {array.dtype}")
    return array


def finite_matrix(values: npt.ArrayLike, where: str, row_name: RowName = row_number) -> np.ndarray:
    """(N, C) float64 without NaN or infinity, N and C at least 1.

    >>> finite_matrix([[1, 2]], "counts").tolist()
    [[1.0, 2.0]]
    """
    table = numeric(values, 2, where, "a numeric matrix of items x classes")
    if 0 in table.shape:
        raise InputError(f"{where}: expected at least one item and one class, got shape {table.shape}")
    with np.errstate(over="ignore"):  # of a wider float: infinite then, and refused
        table = table.astype(np.float64)
    refuse_rows(~np.isfinite(table), table, where, "finite numbers", row_name)
    return table


def refuse_rows(bad: np.ndarray, table: np.ndarray, where: str, expected: str, row_name: RowName = row_number) -> None:
    """Name the first bad row, and its first bad class where ``bad`` is (N, C) and not (N, 1)."""
    rows = np.flatnonzero(bad.any(1))
    if len(rows):
        more = f" ({len(rows)} such rows)" if len(rows) > 1 else ""
        row, column = rows[0], bad[rows[0]].argmax()
        cell = f", with {table[row, column]:.9g} at class {column}" if bad.shape == table.shape else ""
        raise InputError(f"{where}: expected {expected}; {row_name(int(row))} is {short(table[row])}{cell}{more}")


def short(row: np.ndarray) -> str:
    """A row for a message: its first numbers, and the last.

    >>> short(np.arange(20))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..., 19]'
    """
    values = [f"{value:.9g}" for value in row[:12]]
    return f"[{', '.join(values)}]" if len(row) <= 12 else f"[{', '.join(values[:11])}, ..., {row[-1]:.9g}]"
