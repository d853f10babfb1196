"""Parquet files, and data sets as Hugging Face's ``datasets`` saves them: one row per vote, or per item with lists of votes.

Both hold Arrow tables, whose description says what ``datasets`` knows about a column: the names of its classes.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats import long
from hardlabels.votes.formats.columns import KNOWN, ROLES, Columns, known_as, need_columns
from hardlabels.votes.formats.document import label_text, need_dict, read_json
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.text_tables import header_names
from hardlabels.votes.formats.votewise import Ballot

ROWS = 1 << 16  # at a time
STATE, PARTS = "state.json", "dataset_dict.json"
"""Files of a saved data set; of a saved dictionary of them."""


@dataclass(frozen=True)
class Opened:
    """An Arrow table on disk.

    Args:
        names: of its columns, without spaces around them.
        lists: which of them hold a list in every row.
        classes: of the columns that ``datasets`` knows the classes of, by name.
        batches: its rows, many at a time: given places of columns, a list of values for each.
    """

    names: list[str]
    lists: frozenset[int]
    classes: dict[str, tuple[str, ...]]
    batches: Any


def is_saved(path: Path) -> bool:
    """Whether a folder is a saved data set, or a dictionary of them."""
    return (path / STATE).is_file() or (path / PARTS).is_file()


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of a ``.parquet`` file or of the folder of a saved data set; needs pyarrow."""
    with _opened(path) as table:
        columns = list_columns(table, options, path)
        named = read_lists(table, columns, path, options) if columns else read_votes(table, path, options)
    return replace(named, format="datasets" if path.is_dir() else "long")


def read_votes(table: Opened, path: Path, options: Options) -> NamedVotes:
    """One row per vote."""
    columns = need_columns(table.names, options, path)
    places = [*columns.places.values()]
    classes = table.classes.get(table.names[columns.places["label"]])
    if classes and options.classes is None:
        options = replace(options, classes=classes)
    at = list(columns.places).index("label")

    def blocks() -> Iterator[Sequence[Sequence[str]]]:
        for cells in table.batches(places):
            if classes:
                cells[at] = [class_of(value, classes) for value in cells[at]]
            yield [["" if value is None else str(value) for value in column] for column in cells]

    def place(row: int) -> str:
        return f"row {row}"

    ready = long.gather(blocks(), columns, table.names, path, options, place)
    return long.finish(ready, columns, path, options, place)


def class_of(value: Any, classes: Sequence[str]) -> Any:
    """The name of a class by its number; -1 is ``datasets``' word for none. What is no such number stays as it is.

    >>> class_of(1, ["no", "yes"]), class_of(-1, ["no", "yes"]), class_of("yes", ["no", "yes"])
    ('yes', None, 'yes')
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    return classes[value] if 0 <= value < len(classes) else None if value == -1 else value


def list_columns(table: Opened, options: Options, path: Path) -> Columns | None:
    """The columns of a table whose rows are items with a list of votes; None where no column of votes is a list.

    A column of several may be called by the plural of a common name: ``annotations``, ``annotator_ids``.
    """
    wanted = {role: getattr(options, role) for role in ROLES}
    candidates = {
        role: [
            place
            for place, name in enumerate(table.names)
            if (name == wanted[role] if wanted[role] else _singular(name) in KNOWN[role])
            and (role == "task") != (place in table.lists)
        ]
        for role in ROLES
    }
    if not candidates["label"]:
        return None
    for role, found in candidates.items():
        if len(found) > 1:
            choices = " or ".join(repr(table.names[place]) for place in found)
            option = options.wording.option(role)
            raise InputError(f"{path}: expected one column for the {role}; {choices}? {option} COLUMN says which")
        if wanted[role] and not found:
            kind = "a value" if role == "task" else "a list"
            raise InputError(
                f"{path}: expected a column {wanted[role]!r} with {kind} in each row ({options.wording.option(role)})"
            )
    places = {role: found[0] for role, found in candidates.items() if found}
    note = ", ".join(f"{role} = column {table.names[place]!r}" for role, place in places.items())
    return Columns(places, f"one row an item, a list of votes in each: {note}")


def _singular(name: str) -> str:
    known = known_as(name)
    return known.removesuffix("s") if known not in KNOWN["label"] | KNOWN["task"] | KNOWN["worker"] else known


def read_lists(table: Opened, columns: Columns, path: Path, options: Options) -> NamedVotes:
    """One row per item, with a list of votes and perhaps one of annotators. Without a column of ids, rows are numbered from 0."""
    places, ballot, row = columns.places, Ballot(str(path)), 0
    classes = table.classes.get(table.names[places["label"]])
    roles = list(places)
    for cells in table.batches([*places.values()]):
        for values in zip(*cells, strict=True):
            entry, where = dict(zip(roles, values, strict=True)), f"{path}, row {row}"
            name = str(row) if "task" not in entry else "" if entry["task"] is None else str(entry["task"])
            if not name.strip():
                raise InputError(f"{where}: expected an id in column {table.names[places['task']]!r}, found none")
            labels, people = entry["label"], entry.get("worker")
            if not labels:
                raise InputError(f"{where}: expected at least one vote in column {table.names[places['label']]!r}, found none")
            if people is not None and len(people) != len(labels):
                raise InputError(f"{where}: expected an annotator for each of {len(labels)} votes, found {len(people)}")
            ballot.item(name)
            for label, who in zip(labels, people or [None] * len(labels), strict=True):
                if isinstance(label, float) and label != int(label):
                    expected = "single votes in a list; these look like probabilities"
                    raise InputError(f"{where}: expected {expected}: {labels!r:.60}. Save those as .npy or .csv")
                label = class_of(label, classes) if classes else label
                ballot.vote(label_text(label, where, options), None if who is None else str(who))
            row += 1
    if classes and options.classes is None:
        options = replace(options, classes=classes)
    return replace(ballot.close("long", options, [columns.note]), has_ids="task" in places)


# ---- the files ----


@contextmanager
def _opened(path: Path) -> Iterator[Opened]:
    """The table of a file or a folder, as long as the block runs."""
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")  # optional, and large
    except ImportError as error:
        raise InputError(f"{path}: reading it needs pyarrow: pip install pyarrow, or save the table as .csv") from error
    try:
        if path.is_dir():
            yield _describe(*_saved(path, pa), pa, path)
            return
        with pq.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
            batches = lambda places: file.iter_batches(ROWS, columns=[names[place] for place in places])  # noqa: E731
            yield _describe(file.schema_arrow, batches, pa, path)
    except (OSError, pa.ArrowException) as error:
        kind = "a data set as datasets saves it" if path.is_dir() else "a parquet file"
        raise InputError(f"{path}: expected {kind}, found: {str(error).splitlines()[0]:.100}") from error


def _saved(path: Path, pa: Any) -> tuple[Any, Any]:
    """The schema of a saved data set, and what gives its batches."""
    if not (path / STATE).is_file():
        parts = need_dict(read_json(path / PARTS), "an object with 'splits'", str(path / PARTS)).get("splits")
        listed = ", ".join(str(path / str(part)) for part in parts) if isinstance(parts, list) else "its folders"
        raise InputError(f"{path}: expected one data set, found a dictionary of them. Give one of {listed:.300}")
    state = need_dict(read_json(path / STATE), "an object with '_data_files'", str(path / STATE))
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise InputError(f"{path}: expected a data set without indices; save it again with a newer version of datasets")
    files: list[Any] = [entry.get("filename") for entry in state.get("_data_files") or [] if isinstance(entry, dict)]
    if not files or not all(isinstance(name, str) and name and name == Path(name).name for name in files):
        raise InputError(f"{path / STATE}: expected the names of files in this folder in '_data_files', found {files!r:.100}")
    with pa.OSFile(str(path / files[0])) as file:
        schema = pa.ipc.open_stream(file).schema

    def batches(places: Sequence[int]) -> Iterator[Any]:
        for name in files:
            with pa.memory_map(str(path / name)) as file:
                for batch in pa.ipc.open_stream(file):
                    if batch.schema.names != schema.names:
                        raise InputError(f"{path / name}: expected the columns of {files[0]}, {', '.join(schema.names):.200}")
                    yield batch.select(list(places))

    return schema, batches


def _describe(schema: Any, batches: Any, pa: Any, path: Path) -> Opened:
    names = header_names(list(schema.names), path, "column")
    kinds = [field.type for field in schema]
    lists = frozenset(place for place, kind in enumerate(kinds) if pa.types.is_list(kind) or pa.types.is_large_list(kind))

    def values(places: Sequence[int]) -> Iterator[list[list[Any]]]:
        for batch in batches(places):
            yield [batch.column(at).to_pylist() for at in range(len(places))]

    return Opened(names, lists, _classes(schema.metadata or {}), values)


def _classes(metadata: dict[bytes, bytes]) -> dict[str, tuple[str, ...]]:
    """The names of classes that ``datasets`` wrote beside the columns: ``{"info": {"features": {column: {"names": ...}}}}``."""
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        found = {name: feature.get("feature", feature) for name, feature in features.items() if isinstance(feature, dict)}
        return {name: tuple(feature["names"]) for name, feature in found.items() if feature.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, AttributeError, ValueError):  # written by something else: nothing is known then
        return {}
