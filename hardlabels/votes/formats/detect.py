"""Which format a file is in, by its ending and its content. Where that cannot be told, the user must."""

from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats import answers, cifar10s, lewidi
from hardlabels.votes.formats.document import read_json
from hardlabels.votes.formats.long import find_columns
from hardlabels.votes.formats.named import Options, number_of
from hardlabels.votes.formats.text import MISSING, TextTable, check_file
from hardlabels.votes.formats.wide import CORNER, has_ids

ANNOTATOR_NAMES = ("ann", "worker", "rater", "coder", "user", "labeler", "participant")
ENDINGS = (".csv", ".npy", ".parquet", ".json", ".jsonl")


def detect(path: Path, options: Options) -> str:
    """``long``, ``wide``, ``matrix`` (counts or probabilities), ``answers``, ``lewidi``, ``chaosnli`` or ``cifar10s``.

    - ``.npy``: matrix. ``.parquet``: long.
    - ``.jsonl``: chaosnli. ``.json``: by what the first item is.
    - ``.csv`` with columns that are named as a task and a label (or that the user names): long.
    - ``.csv`` whose first cell is ``task/worker``, or whose columns are all named as annotators (``annotator1``, ``Ann1``): wide.
    - ``.csv`` of nothing but numbers: matrix. Of nothing but words and empty cells: wide. Of whole numbers and empty cells: wide,
      where a first column of ids shows that this is a table of votes.
    - Everything else is refused, and the message says what to do.
    """
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: expected votes as {', '.join(ENDINGS)}; got {path.suffix or 'no ending'!r:.60}")
    check_file(path)
    if path.suffix == ".npy":
        return "matrix"
    if path.suffix == ".parquet":
        return "long"
    if path.suffix == ".jsonl":
        return "chaosnli"
    return detect_json(path) if path.suffix == ".json" else detect_csv(path, options)


def detect_json(path: Path) -> str:
    """By the value of the first item."""
    document: Any = read_json(path)
    for name, module in {"lewidi": lewidi, "answers": answers, "cifar10s": cifar10s}.items():
        if module.looks_like(document):
            return name
    expected = "answers {task: {worker: label}}, a LeWiDi set {id: {annotations, annotators}} or distributions {id: [[...]]}"
    raise InputError(f"{path}: expected {expected}; found neither")


def detect_csv(path: Path, options: Options) -> str:
    """By the names in the first line, then by the cells."""
    table = TextTable(path)
    header = [name.strip() for name in table.header]
    ids = bool(header) and has_ids(header)
    if not header or (not ids and any(number_of(name) is not None for name in header)):
        return "matrix"  # a first line of numbers
    if header[0].lower() == CORNER:
        return "wide"
    if find_columns(header, options, path) is not None:
        return "long"
    if len(header) == 1:
        return "matrix"  # which refuses it
    if all(name.lower().startswith(ANNOTATOR_NAMES) for name in header[ids:]):
        return "wide"
    kinds = scan(table, int(ids))
    if kinds.keys() <= {"whole", "fraction"}:
        return "matrix"
    if kinds.keys() <= {"word", "empty"} or (ids and kinds.keys() <= {"whole", "empty"}):
        return "wide"
    line, cell = kinds["empty" if "empty" in kinds and "word" not in kinds else "word"]
    more = "" if ids else "; a first column of ids, named task, tells empty votes from lost numbers"
    raise InputError(
        f"{path}: expected numbers in all cells, or a wide table of labels; line {line} has {cell!r:.60}. "
        f"--format says what it is: wide (a column an annotator), counts or probs (a column a class){more}"
    )


def scan(table: TextTable, first: int) -> dict[str, tuple[int, str]]:
    """The kinds of cells beyond the ids, each with its first line and text: whole, fraction, word, empty."""
    kinds: dict[str, tuple[int, str]] = {}
    known: dict[str, str] = {}
    done = 1
    for block in table.blocks():
        for cell in {cell for row in block for cell in row[first:]} - known.keys():
            known[cell] = kind = kind_of(cell)
            if kind not in kinds:
                row = next(i for i, cells in enumerate(block) if cell in cells[first:])
                kinds[kind] = (table.line(done + row), cell)
        if len(known) > 1 << 16:
            known.clear()
        done += len(block)
    return kinds


def kind_of(cell: str) -> str:
    """Of one cell.

    >>> [kind_of(cell) for cell in ("3", "3.0", "0.5", "cat", "NaN")]
    ['whole', 'whole', 'fraction', 'word', 'empty']
    """
    if cell.strip() in MISSING:
        return "empty"
    number = number_of(cell)
    return "word" if number is None else "whole" if number == int(number) else "fraction"
