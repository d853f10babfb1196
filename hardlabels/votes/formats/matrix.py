"""Counts and probabilities: one line per item, one column per class, ``.npy``, ``.csv`` or ``.jsonl``."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.arrays import read_arrays
from hardlabels.votes.formats import json_lines
from hardlabels.votes.formats.class_order import number_of
from hardlabels.votes.formats.codes import Codes
from hardlabels.votes.formats.columns import ask_for_columns
from hardlabels.votes.formats.named import NamedVotes, Options, check_ids
from hardlabels.votes.formats.other_columns import other_column
from hardlabels.votes.formats.text_tables import TextTable, check_file, header_names
from hardlabels.votes.formats.wide import CLASS_CORNER, has_ids
from hardlabels.votes.names import check_class_names
from hardlabels.votes.numeric_tables import RowName, row_number, short
from hardlabels.votes.votes_table import SUM_OFF, Votes

ONE_HOT = "a single 1 in each line: taken as counts of one vote; they may be probabilities"
HALF_OFF = 1e-3  # a sum of probabilities of half precision may be off 1 by this much
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
                return "counts", ONE_HOT
            percent = ", or percentages, of which only the user knows" if bool(np.all(table.sum(1) == 100)) else ""
            return "counts", f"whole numbers: counts{percent}"
        if (np.abs(table.sum(1) - 1) <= 1e-3).mean() > 0.5:
            return "probs", "rows that sum to 1: probabilities"
    return "counts", "numbers whose rows do not sum to 1: counts"


def read(path: Path, options: Options, kind: str | None = None) -> NamedVotes:
    """Votes from a table of counts, or distributions from one of probabilities.

    Args:
        path: ``.npy``; ``.csv`` with or without a line of class names and a column of ids; ``.jsonl`` with numbers per class.
        options: ``classes`` names the columns of a table without names, and puts those of one with names in this order.
        kind: ``counts`` or ``probs``; None decides by :func:`kind_of`.
    """
    check_file(path)
    table, items, names, row_name, only_classes, how = read_table(path, options)
    if table.ndim != 2:
        raise InputError(f"{path}: expected a numeric matrix of items x classes, got shape {table.shape}, type {table.dtype}")
    taken, why = kind_of(table)
    if kind is None:
        if options.classes is None and not only_classes and (found := other_column(table, names)) is not None:
            told = f"{options.wording.option('format', 'counts')} (or probs) takes every column as a class"
            raise InputError(f"{path}: expected a column for each class; {found}. Leave it out, or call ids 'id'; {told}")
        _refuse_neither(table, str(path), row_name)
        kind, why = taken, f"{why} ({options.wording.option('format', 'probs')})" if why == ONE_HOT else why
    else:
        why = f"{kind}, as {options.wording.option('format')} says"
    if options.classes is not None:
        table, names = with_classes(table, names, options, path)
    build = Votes.from_counts if kind == "counts" else Votes.from_probabilities
    votes = build(table, where=str(path), row_name=row_name)
    has_names = names is not None
    names = names if names is not None else [str(c) for c in range(votes.num_classes)]
    check_class_names(names, str(path))
    notes = (why, *how) if how or items is not None or not _counts_up(table[0]) else (why, NO_NAMES)
    ids = items or [str(i) for i in range(len(votes))]
    return NamedVotes(votes, ids, tuple(names), None, kind, notes, has_ids=items is not None, has_class_names=has_names)


class NumberTable(NamedTuple):
    """The numbers of a file.

    Attributes:
        table: of items and classes.
        items: the ids of the rows, where there are some.
        names: of the columns, where there are some.
        row_name: what messages call a row: its line, where the file has lines.
        only_classes: whether the file says of itself that every column is a class.
        how: what had to be decided, for a person to check.
    """

    table: np.ndarray
    items: list[str] | None
    names: list[str] | None
    row_name: RowName
    only_classes: bool = False
    how: tuple[str, ...] = ()


def read_table(path: Path, options: Options) -> NumberTable:
    """The numbers of a file, and the names that it gives to items and classes."""
    if path.suffix == ".jsonl":
        table, items, names, from_objects, how = json_lines.read_counts(path, options)
        return NumberTable(table, items, names, partial(json_lines.name_line, path), from_objects, (how,))
    if path.suffix != ".csv":
        return NumberTable(in_full_precision(read_arrays(path)[""]), None, None, row_number)
    text = TextTable(path)
    if text.header and has_ids(text.header) and not all(number_of(cell) is not None for cell in text.header):
        says_so = text.header[0].strip().lower() == CLASS_CORNER
        return NumberTable(*read_with_ids(text, options), lambda row: f"line {text.line(1 + row)}", says_so)
    table = read_arrays(path)[""]
    named = bool(text.header) and not any(_numeric(cell) for cell in text.header)
    columns = [cell.strip() for cell in text.header] if named else None
    return NumberTable(table, None, columns, lambda row: f"line {text.line(named + row)}")


def in_full_precision(array: np.ndarray) -> np.ndarray:
    """Numbers of half precision in double, rows that sum to 1 in half precision made to; every other array as it is.

    Rounding to float16 moves the sum of a softmax by up to 4e-4, and other files are held to ``SUM_OFF``.

    >>> in_full_precision(np.array([[0.1, 0.9]], dtype=np.float16)).sum()
    np.float64(1.0)
    """
    if array.dtype != np.float16 or array.ndim != 2:
        return array
    table = array.astype(np.float64)
    total = table.sum(1, keepdims=True)
    return np.divide(table, total, out=table, where=np.abs(total - 1) <= HALF_OFF)


def _refuse_neither(table: np.ndarray, where: str, row_name: RowName) -> None:
    """Refuse fractions that do not sum to 1: they are no counts, and no probabilities either."""
    if table.dtype.kind != "f" or not np.isfinite(table).all() or (table < 0).any():
        return  # which Votes refuses, or has nothing to refuse of
    total = table.sum(1)
    rows = np.flatnonzero((table != np.floor(table)).any(1) & (np.abs(total - 1) > SUM_OFF))
    if len(rows):
        first = int(rows[0])
        more = f" ({len(rows)} such rows)" if len(rows) > 1 else ""
        found = f"{row_name(first)} is neither counts nor probabilities: {short(table[first])} sums to {total[first]:.9g}{more}"
        raise InputError(f"{where}: expected whole counts, or probabilities that sum to 1; {found}")


def _counts_up(row: np.ndarray) -> bool:
    """Whether a first line is 0 .. C-1 or 1 .. C: more likely numbers of classes than somebody's votes."""
    return len(row) > 2 and any(np.array_equal(row, np.arange(first, first + len(row))) for first in (0, 1))


def _numeric(cell: str) -> bool:
    return number_of(cell) is not None or cell.strip().lower() in ("nan", "inf", "-inf")


def read_with_ids(text: TextTable, options: Options) -> tuple[np.ndarray, list[str], list[str]]:
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
                hint = ask_for_columns([*map(str.strip, text.header)], options, path)
                raise InputError(f"{path}: expected every item once; {place}. If a line is one vote, {hint}")
            rows.append([number for number in numbers if number is not None])
    if not rows or not names:
        raise InputError(f"{path}: expected at least one item and one class, got {len(rows)} x {len(names)}")
    check_ids(list(ids), "item", str(path))
    return np.array(rows), list(ids), names


def with_classes(table: np.ndarray, names: list[str] | None, options: Options, path: Path) -> tuple[np.ndarray, list[str]]:
    """The columns in the order of the classes that a user named.

    >>> with_classes(np.array([[1, 2]]), ["dog", "cat"], Options(classes=("cat", "dog")), Path("votes.csv"))[0].tolist()
    [[2, 1]]
    """
    classes = options.classes or ()
    if table.ndim != 2 or table.shape[1] != len(classes):
        said = f"as {options.wording.option('classes')} says"
        raise InputError(f"{path}: expected {len(classes)} classes, {said}, got shape {table.shape}")
    if names is None:
        return table, list(classes)
    for name in names:
        if name not in classes:
            raise InputError(f"{path}: expected one of the classes {', '.join(classes):.200}; line 1 has {name!r:.60}")
    return table[:, [names.index(name) for name in classes]], list(classes)
