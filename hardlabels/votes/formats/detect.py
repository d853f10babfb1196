"""Which format a file is in, by its ending and its content. Where that cannot be told, the user must."""

import re
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats import answers, arrow, cifar10s, json_lines, label_studio, lewidi, mturk, prodigy
from hardlabels.votes.formats.class_order import number_of
from hardlabels.votes.formats.columns import ask_for_columns, find_columns
from hardlabels.votes.formats.document import read_json, read_lines
from hardlabels.votes.formats.named import Options
from hardlabels.votes.formats.text_tables import MISSING, TextTable, check_file
from hardlabels.votes.formats.wide import ANNOTATOR_NAMES, CLASS_CORNER, CORNER, has_ids

ENDINGS = (".csv", ".tsv", ".npy", ".parquet", ".json", ".jsonl")
NUMERAL = re.compile(r"[-+]?[0-9][0-9.,' \u00a0\u202f]*%?|[0-9]+ ?/ ?[0-9]+")
"""A number as people and spreadsheets write it: ``60 %``, ``0,6``, ``1,234``, ``3/5``."""


def detect(path: Path, options: Options) -> str:
    """A key of ``FORMATS``.

    - ``.npy``: matrix. ``.parquet``: long. A folder with a ``state.json``: a data set that Hugging Face's ``datasets`` saved.
    - ``.jsonl``: prodigy, where the first line has its hashes; chaosnli, where it has a ``label_counter``. Long, where the lines
      have a list of votes or one vote each; matrix, where they have numbers per class (:func:`.json_lines.shape`).
    - ``.json``: by what the first item is: a list of Label Studio's tasks, or an object of items.
    - ``.tsv`` as ``.csv``, but with tabs between the cells.
    - ``.csv`` with answers of MTurk that are not one column: mturk.
    - ``.csv`` with columns that are named as a task and a label (or that the user names): long.
    - ``.csv`` whose first cell is ``task/worker``, or whose columns are all named as annotators (``annotator1``, ``Ann1``): wide.
      Whose first cell is ``task/class``: matrix.
    - ``.csv`` of nothing but numbers: matrix. Of nothing but words and empty cells: wide. Of whole numbers and empty cells: wide,
      where a first column of ids shows that this is a table of votes. A table of words without ids, of which no two columns share
      one, is more likely a long table with names that are not known: refused. So is a table whose words are all numbers in
      another writing (``60%``, ``0,6``): more likely shares or counts of classes.
    - Everything else is refused, and the message says what to do.
    """
    if arrow.is_saved(path):
        return "datasets"
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: expected votes as {', '.join(ENDINGS)}; got {path.suffix or 'no ending'!r:.60}")
    check_file(path)
    if path.suffix == ".npy":
        return "matrix"
    if path.suffix == ".parquet":
        return "long"
    if path.suffix == ".jsonl":
        return detect_lines(path, options)
    return detect_json(path, options) if path.suffix == ".json" else detect_csv(path, options)


def detect_json(path: Path, options: Options) -> str:
    """By the value of the first item. What is no answers, but has their shape, is refused."""
    document: Any = read_json(path)
    modules = {"label_studio": label_studio, "lewidi": lewidi, "answers": answers, "cifar10s": cifar10s}
    for name, module in modules.items():
        if module.looks_like(document):
            if name == "answers":
                answers.refuse_other_objects(document, path, options)
            return name
    if isinstance(document, list) and document and isinstance(document[0], dict):
        lines = f"pandas.read_json({path.name!r}).to_json({path.with_suffix('.jsonl').name!r}, orient='records', lines=True)"
        raise InputError(f"{path}: expected an export of Label Studio; a list of other objects is read as JSON lines: {lines}")
    raise InputError(
        f"{path}: expected an export of Label Studio, answers {{task: {{worker: label}}}} or {{task: [label, ...]}}, a LeWiDi "
        "set {id: {annotations, annotators}} or distributions {id: [[...]]}; found none of them"
    )


def detect_lines(path: Path, options: Options) -> str:
    """By the fields of the first line, and by what the first lines hold. An empty file is chaosnli's to refuse."""
    _, first = next(read_lines(path), (0, {"label_counter": {}}))
    fields = list(first) if isinstance(first, dict) else []
    if prodigy.looks_like(fields):
        return "prodigy"
    if "label_counter" in fields:
        return "chaosnli"
    if fields and (found := json_lines.shape(path, options)) is not None:
        return found
    raise InputError(json_lines.refusal(path, options))


def detect_csv(path: Path, options: Options) -> str:
    """By the names in the first line, then by the cells."""
    table = TextTable(path)
    header = [name.strip() for name in table.header]
    ids = bool(header) and has_ids(header)
    if not header or (not ids and any(number_of(name) is not None for name in header)):
        return "matrix"  # a first line of numbers
    if header[0].lower() in (CORNER, CLASS_CORNER):
        return "wide" if header[0].lower() == CORNER else "matrix"
    if mturk.looks_like(header) and (options.label is None or options.label not in header):
        return "mturk"
    if find_columns(list(dict.fromkeys(header)), options, path) is not None:
        return "long"  # which refuses a name that comes twice
    if len(header) == 1:
        return "matrix"  # which refuses it
    if all(name.lower().startswith(ANNOTATOR_NAMES) for name in header[ids:]):
        return "wide"
    kinds = scan(table, int(ids))
    if kinds.keys() <= {"whole", "fraction"}:
        return "matrix"
    if "numeral" in kinds and "word" not in kinds:
        line, cell = kinds["numeral"]
        expected = "numbers with a decimal point and no other sign, such as 0.6 for 60 %"
        votes = f"if they are votes, with a column per annotator: {options.wording.option('format', 'wide')}"
        raise InputError(f"{path}: expected {expected}; line {line} has {cell!r:.60} ({votes})")
    words = kinds.keys() <= {"word", "numeral", "empty"}
    if (words and (ids or share_labels(table))) or (ids and kinds.keys() <= {"whole", "empty"}):
        return "wide"
    line, cell = kinds["empty" if "empty" in kinds and "word" not in kinds else "word"]
    option, asked = options.wording.option, ask_for_columns(header, options, path)
    raise InputError(
        f"{path}: what the columns hold cannot be told by their names. One vote per line: {asked}. "
        f"One column per annotator: {option('format', 'wide')}. One column per class: {option('format', 'counts')} or "
        f"{option('format', 'probs')}, with numbers in all cells, but line {line} has {cell!r:.60}"
    )


def share_labels(table: TextTable) -> bool:
    """Whether some label is in two columns, as in a table with a column per annotator. One line cannot tell, and is taken as one.

    In a long table (clip, ear, sound) the columns hold different things, and no word is in two of them.
    """
    seen: list[set[str]] = [set() for _ in table.header]
    rows = 0
    for block in table.blocks():
        rows += len(block)
        for place, cells in enumerate(zip(*block, strict=True)):
            seen[place] |= {cell.strip() for cell in cells} - MISSING
        filled = [labels for labels in seen if labels]
        if len(set().union(*filled)) < sum(map(len, filled)):
            return True
    return rows < 2 or len(filled) < 2


def scan(table: TextTable, first: int) -> dict[str, tuple[int, str]]:
    """The kinds of cells beyond the ids, each with its first line and text: whole, fraction, numeral, word, empty."""
    kinds: dict[str, tuple[int, str]] = {}
    known: set[str] = set()
    done = 1
    for block in table.blocks():
        # In the order of the file: a message names the first cell of its kind, and the same one each time.
        for cell in dict.fromkeys(cell for row in block for cell in row[first:] if cell not in known):
            known.add(cell)
            if (kind := kind_of(cell)) not in kinds:
                row = next(i for i, cells in enumerate(block) if cell in cells[first:])
                kinds[kind] = (table.line(done + row), cell)
        if len(known) > 1 << 16:
            known.clear()
        done += len(block)
    return kinds


def kind_of(cell: str) -> str:
    """Of one cell.

    >>> [kind_of(cell) for cell in ("3", "3.0", "0.5", "60 %", "cat", "NaN")]
    ['whole', 'whole', 'fraction', 'numeral', 'word', 'empty']
    """
    if cell.strip() in MISSING:
        return "empty"
    number = number_of(cell)
    if number is None:
        return "numeral" if NUMERAL.fullmatch(cell.strip()) else "word"
    return "whole" if number == int(number) else "fraction"
