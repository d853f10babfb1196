"""Tables of predictions as cells: a csv, or JSON lines as the csv of the same predictions; and the columns of ``predict``."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hardlabels.errors import InputError
from hardlabels.votes.formats.document import need_dict, read_lines
from hardlabels.votes.formats.text_tables import TextTable, header_names

OWN = ("id", "predicted", "entropy", "expected_disagreement")
"""The columns that ``hardlabels predict`` writes beside the classes; with "_" behind it until no class has that name."""
PROBABILITIES = "probabilities"
"""The field of its JSON lines that holds those of all classes, by name."""


def own_columns(classes: Sequence[str]) -> list[str]:
    """The names of ``OWN`` in a table with columns for these classes.

    >>> own_columns(["fear", "entropy", "id", "id_"])
    ['id__', 'predicted', 'entropy_', 'expected_disagreement']
    """
    own = []
    for name in OWN:
        while name in classes:
            name += "_"
        own.append(name)
    return own


def beside_the_classes(names: Sequence[str]) -> tuple[int, ...]:
    """The places of what ``hardlabels predict`` writes beside ids and probabilities; none in a table of anybody else.

    >>> beside_the_classes(["id", "predicted", "cat", "dog", "entropy", "expected_disagreement"])
    (1, 4, 5)
    >>> beside_the_classes(["id", "cat", "entropy"])
    ()
    """
    ours = [*names[:2], *names[-2:]] if len(names) > len(OWN) else []
    return (1, len(names) - 2, len(names) - 1) if tuple(name.rstrip("_") for name in ours) == OWN else ()


class Cells(NamedTuple):
    """A table as text.

    Attributes:
        first: the cells of its first line, without spaces around them.
        rows: the rows below it, from 1, that hold anything.
        line: from the number of a row to the line of the file.
        named: whether the first line is known to hold the names of the columns.
    """

    first: list[str]
    rows: dict[int, Sequence[str]]
    line: Callable[[int], int]
    named: bool


def cells_of(path: Path) -> Cells:
    """The cells of a ``.csv`` or ``.jsonl``."""
    return _json_lines(path) if path.suffix == ".jsonl" else _csv(path)


def _csv(path: Path) -> Cells:
    text = TextTable(path)
    below = [row for block in text.blocks() for row in block]
    rows: dict[int, Sequence[str]] = {line: row for line, row in enumerate(below, start=1) if any(cell.strip() for cell in row)}
    return Cells([cell.strip() for cell in text.header], rows, text.line, named=False)


def _json_lines(path: Path) -> Cells:
    """JSON lines as ``hardlabels predict`` writes them, as the csv of the same predictions: one column per class.

    The classes may also be fields of the line itself.
    """
    first: list[str] = []
    rows: dict[int, Sequence[str]] = {}
    lines = [0]
    for number_of_line, line in read_lines(path):
        where = f"{path}, line {number_of_line}"
        cells = _flat(need_dict(line, "an object with an id and a number for each class", where), where)
        first = first or list(cells)
        if cells.keys() != set(first):
            name = next(iter(cells.keys() ^ set(first)))
            raise InputError(f"{where}: expected the fields of the first line; {name!r:.60} is in one of them only")
        rows[len(lines)] = [cells[name] for name in first]
        lines.append(number_of_line)
    return Cells(header_names(first, path, "field"), rows, lines.__getitem__, named=True)


def _flat(entry: dict[str, Any], where: str) -> dict[str, str]:
    """The fields of a line as cells of a csv, with those of the classes in the place of ``PROBABILITIES``."""
    cells: dict[str, str] = {}
    classes = entry.get(PROBABILITIES)
    if PROBABILITIES in entry and not isinstance(classes, dict):
        raise InputError(f"{where}: expected {{class: probability}} in {PROBABILITIES!r}; found {classes!r:.60}")
    inner = classes if isinstance(classes, dict) else {}
    own = dict(zip(OWN, own_columns([*inner]), strict=True))
    for name, value in entry.items():
        if name == PROBABILITIES:
            cells.update({label: _cell(share, label, where) for label, share in inner.items()})
        elif (column := own.get(name, name)) in inner:
            raise InputError(f"{where}: expected {name!r:.60} once; it is a class in {PROBABILITIES!r} as well")
        else:
            cells[column] = _cell(value, name, where)
    return cells


def _cell(value: Any, name: str, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{where}: expected a number or a text in {name!r:.60}; found {json.dumps(value):.60}")
    return str(value)
