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
ANNOTATOR_NAMES = ("ann", "worker", "rater", "coder", "user", "labeler", "participant")
"""How the names of columns begin that are annotators without doubt."""
CLASS_CORNER = "task/class"
"""The same for counts and probabilities, as the votes command writes them: columns are classes."""
CORNERS = (CORNER, CLASS_CORNER, *ROW_NUMBERS)
"""Names of a first column that holds the items' ids, beside the names of a long table's task."""
TEXTS = frozenset(("text", "sentence", "comment", "tweet", "post", "utterance", "document", "premise", "hypothesis", "url"))
"""Names of columns with what was voted on, as :func:`~hardlabels.votes.formats.columns.known_as` writes them: no votes."""


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
        raise InputError(f"{path}: expected a column per annotator beside {table.header[0]!r:.60}, found none")
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
            raise InputError(f"{path}: expected at least one vote per item; line {table.line(done + row + 1)} has none. {hint}")
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
    unused = [] if table.header[0].strip().lower() == CORNER else _texts(label, worker, workers, bool(first), path)
    notes = ["one line per item, one column per annotator, empty = no vote"]
    votes = ~np.isin(worker, unused)
    if unused:
        notes.append(f"not used: {', '.join(workers[place] for place in unused):.200}")
    lacking = np.setdiff1d(task, task[votes]).tolist()
    if lacking and "empty" not in options.clean:
        raise InputError(
            f"{path}: expected at least one vote per item; line {table.line(lacking[0] + 1)} has a text alone. "
            f"{options.wording.option('clean', 'empty')} skips items without votes"
        )
    return assemble(
        Column(task, list(ids)).kept(votes),
        _drop_missing(Column(label, list(labels)).kept(votes)),
        Column(worker, workers).kept(votes),
        where=str(path),
        format="wide",
        options=options,
        sort=False,
        notes=notes,
        has_ids=bool(first),
        cleaned={"empty": empty + len(lacking)} if "empty" in options.clean else {},
    )


def _drop_missing(label: Column) -> Column:
    """Without the codes of empty cells, which no vote has."""
    kept = Codes()
    place = np.array([-1 if text in MISSING else kept[text] for text in label.texts])
    return Column(place[label.codes], list(kept))


def _texts(labels: np.ndarray, worker: np.ndarray, workers: list[str], has_ids: bool, path: Path) -> list[int]:
    """The columns of texts, by name and content. Other columns that no annotator can have filled are refused.

    Args:
        labels: the code of each filled cell.
        worker: its column.
        workers: the names of the columns.
        has_ids: whether the table has a column of ids beside them.
        path: for messages.
    """
    lonely = _alone(labels, worker, len(workers))
    texts = [place for place in lonely if known_as(workers[place]) in TEXTS]
    unknown = [place for place in lonely if place not in texts and not workers[place].lower().startswith(ANNOTATOR_NAMES)]
    others = [place for place in unknown if np.count_nonzero(worker == place) >= FEW_ROWS]
    if others and len(workers) - len(texts) > 1:
        name, call = workers[others[0]], "'text'" if others[0] or has_ids else "'id'"
        raise InputError(
            f"{path}: expected a column of votes for each annotator; nothing in {name!r:.60} is in any other column: ids, texts "
            f"or a source? Call it {call}, or leave it out (a table whose first cell is {CORNER!r} is taken as it stands)"
        )
    if len(texts) == len(workers):
        raise InputError(f"{path}: expected a column of votes for each annotator; found {', '.join(workers):.200} only")
    return texts


def _alone(labels: np.ndarray, worker: np.ndarray, columns: int) -> list[int]:
    """The columns that have no cell in common with any other column.

    >>> _alone(np.array([0, 1, 2, 3, 4, 3]), np.array([0, 0, 1, 1, 2, 2]), 3)
    [0]
    """
    label, column = np.unique(np.stack([labels, worker]), axis=1)  # each label of a column once
    shared = np.bincount(label)[label] > 1
    return np.flatnonzero(np.bincount(column[shared], minlength=columns) == 0).tolist()
