"""Wide tables: one line an item, one column an annotator, empty (or NaN) where that annotator did not vote (cleanlab's)."""

from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.long import ROLES
from hardlabels.votes.formats.named import Codes, Column, NamedVotes, Options, assemble
from hardlabels.votes.formats.text import MISSING, TextTable, header_names

CORNER = "task/worker"
"""The first cell of a wide table that says of itself that it is one: rows are tasks, columns are workers."""
ID_NAMES = {"", "index", "unnamed: 0", CORNER, "task/class", *ROLES["task"]}
"""Names of a first column that holds the items' ids. pandas writes an index without a name."""


def has_ids(header: list[str]) -> bool:
    """Whether the first column is the items' ids, by its name.

    >>> has_ids(["", "Ann1", "Ann2"]), has_ids(["cat", "dog"])
    (True, False)
    """
    return header[0].strip().lower() in ID_NAMES


def read(path: Path, options: Options) -> NamedVotes:
    """Votes from a wide table. Without a column of ids, items are numbered from 0."""
    table = TextTable(path)
    if not table.header:
        raise InputError(f"{path}: expected a first line with the names of the annotators, got an empty file")
    first = int(has_ids(table.header))
    workers = header_names(table.header, path, "annotator")[first:]
    if not workers:
        raise InputError(f"{path}: expected a column an annotator beside {table.header[0]!r:.60}, found none")
    ids, labels = Codes(), Codes()
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    done = 0
    for block in table.blocks():
        codes = labels.take([cell for row in block for cell in row[first:]]).reshape(len(block), len(workers))
        absent = [labels[cell] for cell in MISSING if cell in labels]
        given = ~np.isin(codes, absent)
        if not given.any(1).all():
            row = int((~given.any(1)).argmax())
            raise InputError(f"{path}: expected at least one vote an item; line {table.line(done + row + 1)} has none")
        items, who = np.nonzero(given)
        parts.append((items.astype(np.int32) + done, codes[given], who.astype(np.int32)))
        for row, cells in enumerate(block):
            name = cells[0].strip() if first else str(done + row)
            if ids[name] != done + row or not name:
                expected = "every item once" if name else "an id in every line"
                raise InputError(f"{path}: expected {expected}; line {table.line(done + row + 1)} has {name!r:.60}")
        done += len(block)
    if not done:
        raise InputError(f"{path}: expected at least one item, got a table without lines")
    task, label, worker = (np.concatenate(part) for part in zip(*parts, strict=True))
    notes = ["one line an item, one column an annotator, empty = no vote"]
    label_column = _drop_missing(Column(label, list(labels)))
    return assemble(
        Column(task, list(ids)),
        label_column,
        Column(worker, workers),
        where=str(path),
        format="wide",
        options=options,
        sort=False,
        notes=notes,
    )


def _drop_missing(label: Column) -> Column:
    """Without the codes of empty cells, which no vote has."""
    kept = Codes()
    place = np.array([-1 if text in MISSING else kept[text] for text in label.texts])
    return Column(place[label.codes], list(kept))
