"""Texts from a file: a csv with an id in the first column, or JSON lines; one text per item, or a pair."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.sources.features import is_number
from hardlabels.sources.id_columns import id_field, names_ids, refuse_row_numbers
from hardlabels.sources.texts import SHOWN, is_text, refuse
from hardlabels.votes.formats.document import need_dict, read_lines
from hardlabels.votes.formats.text_tables import TextTable, header_names

ENDINGS = (".csv", ".jsonl")
COLUMNS: tuple[tuple[str, ...], ...] = (
    *((name,) for name in ("text", "sentence", "comment", "tweet", "post", "utterance", "document")),
    *((f"{name}{first}", f"{name}{second}") for name in ("text", "sentence") for first, second in ("12", ("_a", "_b"))),
    *(("premise", "hypothesis"), ("question1", "question2"), ("question", "answer"), ("context", "response")),
)
"""Names of columns that say that they hold texts, and for pairs in which order."""


def read_texts(path: Path, text: str | Sequence[str] | None = None) -> tuple[list[str], np.ndarray] | None:
    """The ids of a table of texts, and its (N, parts) texts; None where it is no table of texts.

    A csv is one of texts where its header names them, and not all of those cells are numbers; or where one column follows the
    id and none of its cells is a number. All else has to be said.

    Args:
        path: a ``.csv`` with a header and the id in the first column, or a ``.jsonl`` with an object a line, one of whose fields
            is called ``id`` or the like.
        text: the column of the text, or the two of a pair, where it cannot be told.

    Raises:
        InputError: no such column, an item without a text, an id with two texts: with their lines.
    """
    given = () if text is None else tuple(map(str, text if isinstance(text, list | tuple) else [text]))
    if text is not None and (path.suffix not in ENDINGS or len(given) not in (1, 2) or len(set(given)) < len(given)):
        expected = f"the column of the text, or the two of a pair, in a {' or '.join(ENDINGS)}"
        raise InputError(f"data.text must be {expected}; got {', '.join(given) or 'none'} for {path}")
    if path.suffix == ".csv":
        return _read_csv(path, given)
    return _read_lines(path, given) if path.suffix == ".jsonl" else None


def text_columns(names: Sequence[str], path: Path) -> tuple[str, ...]:
    """The columns of the text or the pair, by their names; none where no name says so.

    >>> text_columns(["Hypothesis", "Premise", "source"], Path("pairs.csv"))
    ('Premise', 'Hypothesis')
    >>> text_columns(["height", "weight"], Path("features.csv"))
    ()
    """
    own = {name.lower(): name for name in names}
    found = [tuple(own[name] for name in columns) for columns in COLUMNS if set(columns) <= set(own)]
    if len(found) > 1:
        listed = " or ".join(" and ".join(columns) for columns in found)
        raise InputError(f"{path}: expected the columns of one text or one pair; got {listed}: data.text says which")
    return found[0] if found else ()


def _read_csv(path: Path, given: tuple[str, ...]) -> tuple[list[str], np.ndarray] | None:
    table = TextTable(path)
    key, *names = (name.strip() for name in table.header or [""])
    lonely = len(names) == 1 and names_ids(key)
    if not given and not lonely and not text_columns(names, path):
        return None
    refuse_row_numbers(header_names(table.header, path, "column"), path)
    chosen = _choose(given, names, key, path)
    places = [1 + names.index(name) for name in chosen or names]
    rows = [(row[0].strip(), [row[place].strip() for place in places]) for block in table.blocks() for row in block]
    numbers = [is_number(cell) for _, cells in rows for cell in cells]
    if not given and (all(numbers) or (not chosen and any(numbers))):
        return None
    return _table(path, chosen or names, given or names, rows, lambda place: table.line(1 + place))


def _read_lines(path: Path, given: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    numbers, entries = [], []
    for number, entry in read_lines(path):
        numbers.append(number)
        entries.append(need_dict(entry, "an object with an id and a text", f"{path}, line {number}"))
    fields = list(entries[0]) if entries else []
    key = id_field(fields)
    if key is None:
        raise InputError(f"{path}: expected objects with the item's id in a field 'id', got {', '.join(fields) or 'none':.300}")
    names = [name for name in fields if name != key]
    chosen = _choose(given, names, key, path)
    if not chosen and len(names) != 1:
        expected = "expected a field 'text', or the pair 'premise' and 'hypothesis'"
        raise InputError(f"{path}: {expected}; got {', '.join(names) or 'none':.300}: data.text says which")
    rows = [(_id(entry.get(key)), [entry.get(name) for name in chosen or names]) for entry in entries]
    return _table(path, chosen or names, given or names, rows, numbers.__getitem__)


def _choose(given: tuple[str, ...], names: Sequence[str], key: str, path: Path) -> tuple[str, ...]:
    lacking = [name for name in given if name not in names]
    if lacking:
        listed = f"{', '.join(names):.300} besides the id, {key!r:.60}"
        raise InputError(f"{path}: data.text names {' and '.join(lacking)}; the columns are {listed}")
    return given or text_columns(names, path)


def _id(value: object) -> str:
    """An id of JSON, as votes write it: 7 and "7" are the same item."""
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _table(
    path: Path,
    chosen: Sequence[str],
    names: Sequence[str],
    rows: Sequence[tuple[str, Sequence[object]]],
    line: Callable[[int], int],
) -> tuple[list[str], np.ndarray]:
    """Ids and texts of rows that are all there. Rows with one id and one text, as in a table of votes, are one item.

    Args:
        path: for messages.
        chosen: the columns of the cells.
        names: of which they were chosen; what is left of them is said.
        rows: id and cells.
        line: from a row to its line, for messages.
    """
    seen: dict[str, Sequence[object]] = {}
    problems: list[str] = []
    for place, (name, cells) in enumerate(rows):
        wrong = ""
        if not name:
            wrong = "has no id"
        elif name in seen:
            wrong = "" if seen[name] == cells else f"has the id {name!r:.60} again, with another text"
        elif lacking := [column for column, cell in zip(chosen, cells, strict=True) if not is_text(cell)]:
            wrong = f"(item {name:.60}) has no text in {' and '.join(lacking)}"
        if wrong:  # finding a line may mean reading the file again: only for those that are shown
            problems.append(f"line {line(place)} {wrong}" if len(problems) < SHOWN else wrong)
        elif name not in seen:
            seen[name] = cells
    refuse(path, "an id of its own and a text for every item", problems)
    if not rows:
        raise InputError(f"{path}: expected at least one line of an id and a text, got none")
    if unused := [name for name in names if name not in chosen]:
        say(f"{path}: the text is {' and '.join(chosen)}; not used: {', '.join(unused):.300} (data.text chooses)")
    return list(seen), np.array([[str(cell).strip() for cell in cells] for cells in seen.values()], dtype=object)
