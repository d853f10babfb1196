"""Parquet files, and data sets as Hugging Face's ``datasets`` saves them.

Both hold Arrow tables, whose description says what ``datasets`` knows about a column: the names of its classes.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.document import need_dict, read_json
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.text_tables import header_names
from hardlabels.votes.formats.typed_tables import TypedTable, read_typed
from hardlabels.votes.numeric_tables import row_number

ROWS = 1 << 16  # at a time
STATE, PARTS = "state.json", "dataset_dict.json"
"""Files of a saved data set; of a saved dictionary of them."""


def is_saved(path: Path) -> bool:
    """Whether a folder is a saved data set, or a dictionary of them."""
    return (path / STATE).is_file() or (path / PARTS).is_file()


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of a ``.parquet`` file or of the folder of a saved data set; needs pyarrow."""
    with _opened(path) as table:
        named = read_typed(table, path, options)
    return replace(named, format="datasets" if path.is_dir() else "long")


# ---- the files ----


@contextmanager
def _opened(path: Path) -> Iterator[TypedTable]:
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


def _describe(schema: Any, batches: Any, pa: Any, path: Path) -> TypedTable:
    names = header_names(list(schema.names), path, "column")
    kinds = [field.type for field in schema]
    are_lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    lists = frozenset(place for place, kind in enumerate(kinds) if any(is_one(kind) for is_one in are_lists))

    def values(places: Sequence[int]) -> Iterator[list[list[Any]]]:
        for batch in batches(places):
            yield [_values(batch.column(at), pa) for at in range(len(places))]

    return TypedTable(names, lists, _classes(schema.metadata or {}), values, row_number)


def _values(column: Any, pa: Any) -> list[Any]:
    """The values of a column; bytes are text in UTF-8, which some programs do not say of the columns that they write."""
    binary = (pa.binary(), pa.large_binary())
    if column.type in binary:
        column = column.cast(pa.large_string())
    elif column.type in map(pa.list_, binary):
        column = column.cast(pa.list_(pa.large_string()))
    return column.to_pylist()


def _classes(metadata: dict[bytes, bytes]) -> dict[str, tuple[str, ...]]:
    """The names of classes that ``datasets`` wrote beside the columns: ``{"info": {"features": {column: {"names": ...}}}}``.

    Of a column of lists they are one level deeper: under ``feature``, or, before version 4, in a list of one.
    """
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        inner = {name: feature[0] if isinstance(feature, list) and feature else feature for name, feature in features.items()}
        found = {name: feature.get("feature", feature) for name, feature in inner.items() if isinstance(feature, dict)}
        return {name: tuple(feature["names"]) for name, feature in found.items() if feature.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, AttributeError, ValueError):  # written by something else: nothing is known then
        return {}
