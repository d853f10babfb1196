"""What a file says about each item beside its content and its votes: a column such as ``user``, ``premise`` or ``split``."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.id_columns import id_field
from hardlabels.votes.formats import prodigy
from hardlabels.votes.formats.cleaning import shorten_id
from hardlabels.votes.formats.columns import KNOWN, find_columns, known_as
from hardlabels.votes.formats.document import need_dict, read_json, read_lines
from hardlabels.votes.formats.named import Options
from hardlabels.votes.formats.text_tables import TextTable

SHOWN = 5


class Table(NamedTuple):
    """A file that may have a column of this kind.

    Args:
        path: the file.
        options: the votes' columns, where it is a file of votes; None for a file of items, whose first column is the id.
    """

    path: Path
    options: Options | None = None


def item_values(setting: str, column: str, ids: Sequence[str], tables: Sequence[Table]) -> list[str]:
    """The value that the first file with such a column gives to each item.

    Args:
        setting: the setting that names the column, for messages: ``data.group``.
        column: its name.
        ids: of the items.
        tables: where to look, in this order.

    Raises:
        InputError: no file has the column; an item has no value, or two.
    """
    looked = []
    for table in tables:
        names = list(_columns(table))
        if column in names:
            return _by_item(setting, column, ids, table)
        if names:
            looked.append(f"{table.path} ({', '.join(names):.200})")
    found = " or ".join(looked) or f"{' or '.join(str(table.path) for table in tables)}, which have no columns for items"
    raise InputError(f"{setting}={column} must be a column of an item's own; there is none in {found}")


def codes_of(values: Sequence[str]) -> np.ndarray:
    """(N,) int64: equal numbers for equal values, in the order in which they first come.

    >>> codes_of(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    places: dict[str, int] = {}
    return np.array([places.setdefault(value, len(places)) for value in values], dtype=np.int64)


def _by_item(setting: str, column: str, ids: Sequence[str], table: Table) -> list[str]:
    values: dict[str, str] = {}
    asked = table.options.clean if table.options else ()  # the votes' ids may be shorter than those of their file
    for name, value in ((shorten_id(name, asked), value) for name, value in _values(table, column)):
        if value and values.setdefault(name, value) != value:
            both = f"{values[name]!r:.60} and {value!r:.60}"
            raise InputError(
                f"{setting}: expected one value of {column!r} for each item; item {name!r:.60} has {both} in {table.path}"
            )
    lacking = [name for name in ids if name not in values]
    if lacking:
        more = f" and {len(lacking) - SHOWN:,} more" if len(lacking) > SHOWN else ""
        listed = f"{', '.join(f'{name:.60}' for name in lacking[:SHOWN])}{more}"
        raise InputError(f"{setting}: {len(lacking):,} of {len(ids):,} items have no {column!r} in {table.path}: {listed}")
    return [values[name] for name in ids]


def _columns(table: Table) -> Iterable[str]:
    """The names of the columns that may say something about an item; none where the file is of another kind."""
    match table.path.suffix:
        case ".csv" | ".tsv":
            names = [name.strip() for name in TextTable(table.path).header]
            return () if table.options and find_columns(names, table.options, table.path) is None else names
        case ".parquet" if table.options:
            return _parquet(table.path).schema_arrow.names
        case ".jsonl":
            return dict.fromkeys(name for _, entry in _objects(table) for name in _flat(entry))
        case ".json":
            return dict.fromkeys(name for _, entry in _objects(table) for name in entry)
    return ()


def _values(table: Table, column: str) -> Iterator[tuple[str, str]]:
    """(id, value) of every row, without spaces around them."""
    path = table.path
    if path.suffix in (".json", ".jsonl"):
        for key, entry in _objects(table):
            value = _flat(entry).get(column)
            yield key, "" if value is None else str(value).strip()
        return
    if path.suffix == ".parquet":
        names = _parquet(path).schema_arrow.names
        key = names[_task(names, table)]
        frame = _parquet(path).read([key, column]).to_pydict()
        yield from (
            (str(name).strip(), "" if value is None else str(value).strip()) for name, value in zip(*frame.values(), strict=True)
        )
        return
    text = TextTable(path)
    names = [name.strip() for name in text.header]
    for block in text.columns([_task(names, table), names.index(column)]):
        yield from ((name.strip(), value.strip()) for name, value in zip(*block, strict=True))


def _task(names: Sequence[str], table: Table) -> int:
    """The place of the column of ids: that which the reader of the votes takes, or the first of a file of items."""
    if table.options is None:
        return 0
    with suppress(InputError):  # a table with lists of votes is no long table
        if (columns := find_columns(names, table.options, table.path)) is not None:
            return columns.places["task"]
    return names.index(key) if (key := _votes_field(names, table.options)) in names else 0


def _votes_field(names: Collection[str], options: Options) -> str | None:
    """The field of ids in a file of votes: the user's word, Prodigy's own, or the one with a common name."""
    if options.task is not None:
        return options.task
    if prodigy.looks_like([*names]):
        return prodigy.HASHES[0]
    known = [name for name in names if known_as(name) in KNOWN["task"]]
    return known[0] if len(known) == 1 else id_field(names)


def _parquet(path: Path) -> Any:
    return import_module("pyarrow.parquet").ParquetFile(path)  # an extra, which the reader of the votes has asked for


def _objects(table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, fields) of every item: of JSON lines, or of one object by id, as LeWiDi has them."""
    path = table.path
    if path.suffix == ".json":
        document = read_json(path)
        if isinstance(document, dict):
            yield from ((key.strip(), entry) for key, entry in document.items() if isinstance(entry, dict))
        return
    key: str | None = None
    for number, line in read_lines(path):
        entry = need_dict(line, "an object with an id", f"{path}, line {number}")
        if key is None:  # by the first line, as the readers of items and of votes do
            key = id_field(entry) if table.options is None else _votes_field(entry, table.options)
        if key is not None and (value := entry.get(key, _flat(entry).get(key))) is not None:
            yield str(value).strip(), entry


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    """An object's fields, and those of the objects in it: ChaosNLI's ``example`` holds the premise.

    >>> _flat({"uid": "1", "example": {"premise": "It rains."}})
    {'premise': 'It rains.', 'uid': '1'}
    """
    plain = {name: value for name, value in entry.items() if not isinstance(value, dict | list)}
    for inner in (value for value in entry.values() if isinstance(value, dict)):
        plain = {**{name: value for name, value in inner.items() if not isinstance(value, dict | list)}, **plain}
    return plain
