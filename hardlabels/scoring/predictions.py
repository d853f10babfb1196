"""Files of predictions: their numbers, and the ids and class names that they may have."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.scoring import lewidi
from hardlabels.scoring.cells import Cells, beside_the_classes, cells_of
from hardlabels.scoring.classes import named_as_class
from hardlabels.scoring.numbers import whole_numbers
from hardlabels.votes.arrays import number, read_arrays
from hardlabels.votes.formats.columns import KNOWN, ROW_NUMBERS, known_as
from hardlabels.votes.formats.named import check_ids
from hardlabels.votes.formats.text_tables import header_names
from hardlabels.votes.names import check_class_names
from hardlabels.votes.numeric_tables import refuse_rows

ENDINGS = (".csv", ".jsonl", ".npy", ".npz", lewidi.ENDING)
"""Of the files that can be scored."""


@dataclass(frozen=True)
class Predictions:
    """The content of a file of predictions.

    Args:
        path: the file.
        table: (N, columns) its numbers: logits or probabilities, one column per class.
        names: of the columns; None where the file has none.
        ids: of the rows; None where the file has none.
        texts: further columns, which hold no numbers, by name.
        logits: whether the file itself says that its numbers are logits, as a run's does.
        p: (N, classes) the annotators' distribution, which only a run's file holds.
        index: (N,) positions of the rows in the whole data set, likewise.
        shares: (N, classes) shares of the annotators who give each label, where they may give several: of a LeWiDi submission.
    """

    path: Path
    table: np.ndarray
    names: list[str] | None = None
    ids: list[str] | None = None
    texts: dict[str, Sequence[str]] = field(default_factory=dict)
    logits: bool = False
    p: np.ndarray | None = None
    index: np.ndarray | None = None
    shares: np.ndarray | None = None

    def rows(self, kept: Sequence[int]) -> "Predictions":
        """The predictions of these rows."""
        places = list(kept)
        return replace(
            self,
            table=self.table[places],
            ids=None if self.ids is None else [self.ids[place] for place in places],
            texts={name: [cells[place] for place in places] for name, cells in self.texts.items()},
            p=None if self.p is None else self.p[places],
            index=None if self.index is None else self.index[places],
            shares=None if self.shares is None else self.shares[places],
        )


def read_predictions(
    path: Path, *, id_column: str | None = None, task: str | None = None, classes: Sequence[str] = (), items: int = 0
) -> Predictions:
    """The predictions of a file.

    Args:
        path: ``.csv`` or ``.jsonl`` as ``hardlabels predict`` writes them, any ``.npy`` or ``.csv`` of probabilities or logits, a
            run's ``predictions.npz``, or a submission to LeWiDi 2025 (``.tsv``).
        id_column: the column of the ids in a table, as the user named it; a common name (``id``, ``doc_id``, ...) needs no word.
        task: the column of the ids in the votes, as the user named it: one of the same name in a table holds the ids, too.
        classes: of the votes, where they have names: a column that is named as a class is no id.
        items: how many the votes have.
    """
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: expected a file {', '.join(ENDINGS)}; got {path.suffix or 'no ending'!r:.60}")
    if path.suffix in (".csv", ".jsonl"):
        return _read_cells(cells_of(path), path, id_column, task, classes, items)
    if path.suffix == lewidi.ENDING:
        items_of, numbers, several = lewidi.read_submission(path)
        if several:
            refuse_rows((numbers.sum(1) == 0)[:, None], numbers, str(path), "a share above 0 for some label of each item")
        table = numbers / numbers.sum(1, keepdims=True) if several else numbers
        return Predictions(path, table, ids=_checked(items_of, path), shares=numbers if several else None)
    arrays = read_arrays(path)
    if path.suffix == ".npy":
        return Predictions(path, _matrix(arrays[""], path))
    if "logits" not in arrays:
        found = ", ".join(map(repr, arrays))[:200] or "none"
        raise InputError(f"{path}: expected an array 'logits', as in a run's predictions.npz; found {found}")
    table = _matrix(arrays["logits"], path)
    if (index := arrays.get("index")) is not None:
        check_index(index, len(table), f"{path}, index")
    if (p := arrays.get("p")) is not None and (p := _matrix(p, path)).shape != table.shape:
        shapes = [" x ".join(map(str, array.shape)) for array in (p, table)]
        raise InputError(f"{path}, p: expected {shapes[1]} numbers, as its logits are, got {shapes[0]}")
    names, ids = _texts(arrays, "class_names", table.shape[1], path), _texts(arrays, "ids", len(table), path)
    if names is not None:
        check_class_names(names, f"{path}, class_names")
    return Predictions(path, table, names, _checked(ids, path), logits=True, p=p, index=index)


def _matrix(table: np.ndarray, path: Path) -> np.ndarray:
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iufb":
        found = f"shape {table.shape}, type {table.dtype}"
        raise InputError(f"{path}: expected a numeric matrix of items x classes, got {found}")
    return table.astype(np.float64)


def _texts(arrays: dict[str, np.ndarray], name: str, length: int, path: Path) -> list[str] | None:
    """An array of names in an .npz: text of a fixed width (nothing pickled is read), or whole numbers."""
    if (array := arrays.get(name)) is None:
        return None
    if array.shape != (length,) or array.dtype.kind not in "Uiu":
        found = f"shape {array.shape}, type {array.dtype}"
        raise InputError(f"{path}, {name}: expected {length} texts, one for each, got {found}")
    return [str(text).strip() for text in array.tolist()]


def check_index(index: np.ndarray, items: int, where: str) -> None:
    """Refuse positions of items that are not whole, not one per item, negative, or twice the same.

    >>> check_index(np.array([4, 2]), 2, "index")
    """
    if index.shape != (items,) or index.dtype.kind not in "iu":
        raise InputError(f"{where}: expected {items} whole numbers, one an item, got shape {index.shape}, type {index.dtype}")
    _, first = np.unique(index, return_index=True)
    bad = index < 0
    bad[np.setdiff1d(np.arange(items), first)] = True
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{where}: expected every item once, by its position from 0; row {row} is {index[row]}")


def _checked(ids: list[str] | None, path: Path) -> list[str] | None:
    """Ids that can be printed, each once."""
    if ids is None:
        return None
    check_ids(ids, "item", str(path))
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if first.setdefault(name, row) != row:
            raise InputError(f"{path}: expected every item once; {name!r:.60} has row {first[name]} and row {row}")
    return ids


# ---- tables ----


def _read_cells(
    content: Cells, path: Path, id_column: str | None, task: str | None, classes: Sequence[str], items: int
) -> Predictions:
    """Numbers, ids and texts of a table, column by column."""
    first, rows, line, named = content
    if id_column is not None and id_column not in first:
        raise InputError(f"{path}: expected a column {id_column!r} (--id); the first line is {', '.join(map(repr, first)):.300}")
    own = [name for name in (id_column, task) if name in first]
    named = named or _is_header(first, own, numbers_are_names=len(rows) == items)
    if not named:
        _refuse_names_among_items(first, [*rows.values()], classes, path)
        rows = {0: first, **rows}
    if not rows or not first:
        raise InputError(f"{path}: expected at least one item, got {'a line of names alone' if first else 'an empty file'}")
    names = header_names(first, path, "column") if named else [str(place) for place in range(len(first))]
    ids_at = _id_column(names, own, classes, path) if named else None
    if not named and not any(number(row[0]) is not None for row in rows.values()):
        ids_at = 0
    ids: list[str] | None = None
    table: dict[str, np.ndarray] = {}
    texts: dict[str, Sequence[str]] = {}
    beside = beside_the_classes(names) if named else ()
    for place, name in enumerate(names):
        if place in beside:
            continue
        cells = [row[place].strip() for row in rows.values()]
        values = [number(cell) for cell in cells]
        wrong = values.index(None) if None in values else None
        may_be_text = named and not named_as_class(name, classes) and (bool(classes) or set(values) == {None})
        if place == ids_at:
            ids = _checked(cells, path)
        elif may_be_text and (wrong is not None or name.lower() in ROW_NUMBERS):
            texts[name] = cells
        elif wrong is None:
            table[name] = np.array(values, dtype=np.float64)
        else:
            where = f"line {line([*rows][wrong])} has {cells[wrong]!r:.60}"
            expected = f"numbers in column {name!r}" if named else "numbers separated by commas"
            raise InputError(f"{path}: expected {expected}; {where}")
    if not table:
        raise InputError(f"{path}: expected a column of numbers for each class, got {', '.join(map(repr, names)):.300}")
    return Predictions(path, np.column_stack([*table.values()]), list(table) if named else None, ids, texts)


def _refuse_names_among_items(first: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str], path: Path) -> None:
    """Refuse a first line that was taken as an item by the number of lines, but is the classes' names: an item may be lost.

    Of two classes, 0,1 may also be probabilities; not where all others are written with a point.
    """
    if not _may_be_names(first):
        return
    numbers, c = [*map(int, first)], len(first)
    usual = ([*range(c)], [*range(1, c + 1)], sorted(whole_numbers(classes) or []))
    with_points = bool(rows) and all("." in cell for row in rows for cell in row)
    if sorted(numbers) in usual and (sum(numbers) != 1 or with_points):
        expected = "a first line that is an item, or as many lines below it as there are items"
        raise InputError(f"{path}: expected {expected}; line 1 reads like names of classes: {', '.join(first):.100}")


def _is_header(first: Sequence[str], id_columns: Sequence[str], *, numbers_are_names: bool) -> bool:
    """Whether the first line names the columns.

    It does where a cell beyond the first is a word, or where the first cell is the name of a column of ids. A line of different
    whole numbers (pandas names columns 0, 1, 2) is one of names where the lines below it are as many as the items; without ids,
    any other number of lines is refused anyway.

    >>> _is_header(["cat", "dog"], (), numbers_are_names=False), _is_header(["d036", "0.2", "0.8"], (), numbers_are_names=False)
    (True, False)
    >>> _is_header(["id", "0", "1"], (), numbers_are_names=False), _is_header(["0", "1"], (), numbers_are_names=True)
    (True, True)
    """
    words = [number(cell) is None for cell in first]
    if any(words[1:]):
        return True
    if any(words):
        return len(first) == 1 or first[0] in id_columns or first[0].lower() in ROW_NUMBERS or known_as(first[0]) in KNOWN["task"]
    return numbers_are_names and _may_be_names(first)


def _may_be_names(first: Sequence[str]) -> bool:
    """Whether a line of numbers may be the names of classes: whole, without a point, and all different."""
    return len(set(first)) == len(first) and all(re.fullmatch("-?[0-9]{1,15}", cell) for cell in first)


def _id_column(names: Sequence[str], wanted: Sequence[str], classes: Sequence[str], path: Path) -> int | None:
    """The place of the column that holds the items' ids: by the user's word, by a common name, or pandas' row numbers."""
    if wanted:
        return names.index(wanted[0])
    free = [place for place, name in enumerate(names) if not named_as_class(name, classes)]
    found = [place for place in free if known_as(names[place]) in KNOWN["task"]]
    if len(found) > 1:
        choices = " or ".join(repr(names[place]) for place in found)
        raise InputError(f"{path}: expected one column of the items' ids; {choices}? --id COLUMN says which")
    return found[0] if found else next((place for place in free if names[place].lower() in ROW_NUMBERS), None)
