"""Counts and probabilities: one line an item, one column a class, ``.npy`` or ``.csv``."""

from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.arrays import read_arrays
from hardlabels.votes.formats.named import Codes, NamedVotes, Options, check_ids, number_of
from hardlabels.votes.formats.text import TextTable, check_file, header_names
from hardlabels.votes.formats.wide import has_ids
from hardlabels.votes.names import check_class_names
from hardlabels.votes.table import Votes

NO_NAMES = "the first line reads like numbers of classes, but is taken as an item; write names as words, or remove it"


def kind_of(table: np.ndarray) -> tuple[str, str]:
    """``counts`` or ``probs``, and why.

    Whole numbers are counts. Otherwise probabilities, where more than half of the rows sum to 1 (the others are then refused).

    >>> kind_of(np.array([[2, 1], [0, 4]])), kind_of(np.array([[0.5, 0.5]]))
    (('counts', 'whole numbers: counts'), ('probs', 'rows that sum to 1: probabilities'))
    """
    if table.ndim != 2 or not table.size or table.dtype.kind not in "iufb":
        return "counts", "counts"  # which Votes refuses
    with np.errstate(over="ignore", invalid="ignore"):
        if not (table != np.floor(table)).any():
            if bool(np.all((table == 0) | (table == 1)) and np.all(table.sum(1) == 1)):
                return "counts", "one 1 a line: taken as counts of one vote; they may be probabilities (--format probs)"
            return "counts", "whole numbers: counts"
        if (np.abs(table.sum(1) - 1) <= 1e-3).mean() > 0.5:
            return "probs", "rows that sum to 1: probabilities"
    return "counts", "numbers whose rows do not sum to 1: counts"


def read(path: Path, options: Options, kind: str | None = None) -> NamedVotes:
    """Votes from a table of counts, or distributions from one of probabilities.

    Args:
        path: ``.npy``, or ``.csv`` with or without a line of class names and a column of ids.
        options: ``classes`` names the columns of a table without names, and puts those of one with names in this order.
        kind: ``counts`` or ``probs``; None decides by :func:`kind_of`.
    """
    check_file(path)
    table, items, names = read_table(path)
    if table.ndim != 2:
        raise InputError(f"{path}: expected a numeric matrix of items x classes, got shape {table.shape}, type {table.dtype}")
    taken, why = kind_of(table)
    if kind is None:
        kind = taken
    else:
        why = f"{kind}, as --format says"
    if options.classes is not None:
        table, names = with_classes(table, names, options.classes, path)
    build = Votes.from_counts if kind == "counts" else Votes.from_probabilities
    votes = build(table, where=str(path))
    names = names if names is not None else [str(c) for c in range(votes.num_classes)]
    check_class_names(names, str(path))
    notes = (why,) if items is not None or not _counts_up(table[0]) else (why, NO_NAMES)
    return NamedVotes(votes, items or [str(i) for i in range(len(votes))], tuple(names), None, kind, notes)


def read_table(path: Path) -> tuple[np.ndarray, list[str] | None, list[str] | None]:
    """The numbers, the ids of the lines where there are some, the names of the columns where there are some."""
    if path.suffix != ".csv":
        return read_arrays(path)[""], None, None
    text = TextTable(path)
    if text.header and has_ids(text.header) and not all(number_of(cell) is not None for cell in text.header):
        return read_with_ids(text)
    table = read_arrays(path)[""]
    named = bool(text.header) and not any(_numeric(cell) for cell in text.header)
    return table, None, [cell.strip() for cell in text.header] if named else None


def _counts_up(row: np.ndarray) -> bool:
    """Whether a first line is 0 .. C-1 or 1 .. C: more likely numbers of classes than somebody's votes."""
    return len(row) > 2 and any(np.array_equal(row, np.arange(first, first + len(row))) for first in (0, 1))


def _numeric(cell: str) -> bool:
    return number_of(cell) is not None or cell.strip().lower() in ("nan", "inf", "-inf")


def read_with_ids(text: TextTable) -> tuple[np.ndarray, list[str], list[str]]:
    """A csv whose first column is the items' ids."""
    path, ids = text.path, Codes()
    names = header_names(text.header, path, "class")[1:]
    rows: list[list[float]] = []
    for block in text.blocks():
        for cells in block:
            numbers = [number_of(cell) for cell in cells[1:]]
            if None in numbers:
                cell = cells[1 + numbers.index(None)]
                raise InputError(f"{path}: expected finite numbers; line {text.line(len(rows) + 1)} has {cell!r:.60}")
            if ids[cells[0].strip()] != len(rows):
                place = f"line {text.line(len(rows) + 1)} has {cells[0]!r:.60} again"
                raise InputError(f"{path}: expected every item once; {place}")
            rows.append([number for number in numbers if number is not None])
    if not rows or not names:
        raise InputError(f"{path}: expected at least one item and one class, got {len(rows)} x {len(names)}")
    check_ids(list(ids), "item", str(path))
    return np.array(rows), list(ids), names


def with_classes(
    table: np.ndarray, names: list[str] | None, classes: tuple[str, ...], path: Path
) -> tuple[np.ndarray, list[str]]:
    """The columns in the order of the classes that a user named.

    >>> with_classes(np.array([[1, 2]]), ["dog", "cat"], ("cat", "dog"), Path("votes.csv"))[0].tolist()
    [[2, 1]]
    """
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise InputError(f"{path}: expected {len(classes)} classes, as --classes says, got shape {table.shape}")
    if names is None:
        return table, list(classes)
    for name in names:
        if name not in classes:
            raise InputError(f"{path}: expected one of the classes {', '.join(classes):.200}; line 1 has {name!r:.60}")
    return table[:, [names.index(name) for name in classes]], list(classes)
