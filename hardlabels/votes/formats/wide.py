"""Wide tables: one line per item, one column per annotator, empty (or NaN) where that annotator did not vote (cleanlab's)."""

from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.codes import Codes, Column
from hardlabels.votes.formats.columns import KNOWN, ROW_NUMBERS, ask_for_columns, known_as
from hardlabels.votes.formats.named import NamedVotes, Options, assemble
from hardlabels.votes.formats.other_columns import FEW_ROWS
from hardlabels.votes.formats.text_tables import MISSING, TextTable, header_names

CORNER = "task/worker"
"""The first cell of a wide table that says of itself that it is one: rows are tasks, columns are workers."""
CLASS_CORNER = "task/class"
"""The same for counts and probabilities, as the votes command writes them: columns are classes."""
CORNERS = (CORNER, CLASS_CORNER, *ROW_NUMBERS)
"""Names of a first column that holds the items' ids, beside the names of a long table's task."""


def has_ids(header: list[str]) -> bool:
    """Whether the first column is the items' ids, by its name.

    >>> has_ids(["", "Ann1", "Ann2"]), has_ids(["cat", "dog"])
    (True, False)
    """
    return header[0].strip().lower() in CORNERS or known_as(header[0]) in KNOWN["task"]


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
    done = empty = 0
    for block in table.blocks():
        codes = labels.take([cell for row in block for cell in row[first:]]).reshape(len(block), len(workers))
        absent = [labels[cell] for cell in MISSING if cell in labels]
        given = ~np.isin(codes, absent)
        empty += int((~given.any(1)).sum())
        if empty and "empty" not in options.clean:
            row = int((~given.any(1)).argmax())
            hint = f"{options.wording.option('clean', 'empty')} skips items without votes"
            raise InputError(f"{path}: expected at least one vote an item; line {table.line(done + row + 1)} has none. {hint}")
        items, who = np.nonzero(given)
        parts.append((items.astype(np.int32) + done, codes[given], who.astype(np.int32)))
        for row, cells in enumerate(block):
            name = cells[0].strip() if first else str(done + row)
            if ids[name] != done + row or not name:
                expected = "every item once" if name else "an id in every line"
                hint = ""
                if name and table.header[0].strip().lower() != CORNER:
                    hint = f". If a line is one vote, {ask_for_columns([*map(str.strip, table.header)], options, path)}"
                raise InputError(f"{path}: expected {expected}; line {table.line(done + row + 1)} has {name!r:.60}{hint}")
        done += len(block)
    if not done:
        raise InputError(f"{path}: expected at least one item, got a table without lines")
    task, label, worker = (np.concatenate(part) for part in zip(*parts, strict=True))
    if not first:
        _refuse_ids(np.array(list(labels), dtype=object)[label], worker, workers[0], done, str(path))
    notes = ["one line an item, one column an annotator, empty = no vote"]
    label_column = _drop_missing(Column(label, list(labels)))
    return assemble(
        Column(task, list(ids)).kept(np.ones(len(task), dtype=bool)),
        label_column,
        Column(worker, workers),
        where=str(path),
        format="wide",
        options=options,
        sort=False,
        notes=notes,
        has_ids=bool(first),
        cleaned={"empty": empty} if "empty" in options.clean else {},
    )


def _drop_missing(label: Column) -> Column:
    """Without the codes of empty cells, which no vote has."""
    kept = Codes()
    place = np.array([-1 if text in MISSING else kept[text] for text in label.texts])
    return Column(place[label.codes], list(kept))


def _refuse_ids(labels: np.ndarray, worker: np.ndarray, name: str, items: int, where: str) -> None:
    """Refuse a first column of texts that all differ, and that no other column has: ids, not somebody's votes."""
    own = labels[worker == 0]
    others = set(labels[worker > 0])
    if items >= FEW_ROWS and len(own) == items == len(set(own)) and others and others.isdisjoint(own):
        looks = f"those of {name!r:.60} all differ, and no other column has any of them: ids?"
        raise InputError(
            f"{where}: expected a column of votes for each annotator; {looks} Call that column 'id', or leave it out"
        )
