"""Long tables: one line a vote, with the columns task, worker and label (crowd-kit's), or others that are named."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.named import Codes, Column, NamedVotes, Options, assemble
from hardlabels.votes.formats.text import MISSING, TextTable, header_names

ROLES = {
    "task": (
        *("task", "task_id", "taskid", "item", "item_id", "id", "uid", "instance", "instance_id", "example", "example_id"),
        *(
            "question",
            "question_id",
            "document_id",
            "text_id",
            "image",
            "image_id",
            "filename",
            "file_name",
            "unit_id",
            "_unit_id",
        ),
    ),
    "worker": (
        *("worker", "worker_id", "workerid", "_worker_id", "annotator", "annotator_id", "performer", "rater", "rater_id"),
        *("user", "user_id", "labeler", "labeler_id", "participant", "participant_id", "coder"),
    ),
    "label": (
        *("label", "answer", "vote", "annotation", "rating", "response", "class", "category", "judgment", "judgement", "choice"),
        *("offensiveness", "politeness"),  # POPQUORN's
    ),
}
"""The names by which a column is known, crowd-kit's first."""


def find_columns(names: Sequence[str], options: Options, path: Path) -> dict[str, int] | None:
    """The place of task, label and, where there is one, worker; None when this is no long table.

    crowd-kit's own name wins; otherwise exactly one column may have a known name.

    >>> find_columns(["label", "text", "instance_id", "user_id"], Options(), Path("votes.csv"))
    {'task': 2, 'worker': 3, 'label': 0}
    """
    found: dict[str, int] = {}
    lower = [name.lower() for name in names]
    for role, known in ROLES.items():
        wanted = getattr(options, role)
        if wanted is not None:
            if wanted not in names:
                have = ", ".join(map(repr, names))[:300]
                raise InputError(f"{path}: expected a column {wanted!r} (--{role}); the columns are {have}")
            found[role] = names.index(wanted)
            continue
        places = [i for i, name in enumerate(lower) if name in known]
        if known[0] in lower:
            places = [lower.index(known[0])]
        if len(places) > 1:
            if role == "task" and not any(name in ROLES["label"] for name in lower) and options.label is None:
                return None
            choices = " or ".join(repr(names[i]) for i in places)
            raise InputError(f"{path}: expected one column of the {role}; {choices}? Say it with --{role}")
        if places:
            found[role] = places[0]
    if "task" in found and "label" in found:
        return found
    if "task" in found and "worker" in found:
        have = ", ".join(map(repr, names))[:300]
        raise InputError(f"{path}: expected a column of votes; name it with --label. The columns are {have}")
    return None


def read(path: Path, options: Options) -> NamedVotes:
    """Votes from a long table, ``.csv`` or ``.parquet``. Items whose ids are whole numbers come in order of number.

    A worker who votes twice on a task has two votes.
    """
    return read_parquet(path, options) if path.suffix == ".parquet" else read_csv(path, options)


def read_csv(path: Path, options: Options) -> NamedVotes:
    """From lines of text, in blocks."""
    table = TextTable(path)
    names = header_names(table.header, path, "column")
    columns = need_columns(names, options, path)
    return gather(table.columns([*columns.values()]), columns, names, path, options, lambda row: f"line {table.line(row + 1)}")


def read_parquet(path: Path, options: Options) -> NamedVotes:
    """From a parquet file, in blocks; needs pyarrow."""
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")  # optional, and large
    except ImportError as error:
        raise InputError(f"{path}: reading parquet needs pyarrow: pip install pyarrow, or save the table as .csv") from error
    try:
        with pq.ParquetFile(path) as file:
            names = header_names(list(file.schema_arrow.names), path, "column")
            columns = need_columns(names, options, path)
            wanted = [file.schema_arrow.names[place] for place in columns.values()]

            def blocks() -> Iterator[list[list[str]]]:
                for batch in file.iter_batches(1 << 16, columns=wanted):
                    yield [[_text(value) for value in batch.column(name).to_pylist()] for name in wanted]

            return gather(blocks(), columns, names, path, options, lambda row: f"row {row}")
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: expected a parquet file, found: {str(error).splitlines()[0]:.100}") from error


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def need_columns(names: Sequence[str], options: Options, path: Path) -> dict[str, int]:
    """As :func:`find_columns`, refusing a table without them."""
    columns = find_columns(names, options, path)
    if columns is None:
        have = ", ".join(map(repr, names))[:300]
        raise InputError(
            f"{path}: expected a long table with the columns task, worker and label, or others named with --task, --worker, "
            f"--label; the columns are {have}"
        )
    return columns


def gather(
    blocks: Iterator[Sequence[Sequence[str]]],
    columns: dict[str, int],
    names: Sequence[str],
    path: Path,
    options: Options,
    place: Callable[[int], str],
) -> NamedVotes:
    """Votes from blocks of the columns' cells; ``place(row)`` is how a message names a row."""
    codes = {role: Codes() for role in columns}
    parts: dict[str, list[np.ndarray]] = {role: [] for role in columns}
    done = 0
    for block in blocks:
        for role, cells in zip(columns, block, strict=True):
            parts[role].append(codes[role].take(cells))
            if any(text in codes[role] for text in MISSING):
                row = next(i for i, cell in enumerate(cells) if cell in MISSING)
                raise InputError(f"{path}: expected a {role} in column {names[columns[role]]!r}; {place(done + row)} has none")
        done += len(block[0])
    if not done:
        raise InputError(f"{path}: expected at least one vote, got a table without lines")
    ready = {role: Column(np.concatenate(parts.pop(role)), list(codes.pop(role))) for role in columns}
    for role, column in ready.items():
        for code, text in enumerate(column.texts):
            if not text.strip():
                row = int((column.codes == code).argmax())
                raise InputError(f"{path}: expected a {role} in column {names[columns[role]]!r}; {place(row)} has {text!r:.60}")
    if options.classes is not None:
        _refuse_unknown(ready["label"], options.classes, path, place)
    used = ", ".join(f"{role} = column {names[column]!r}" for role, column in columns.items())
    return assemble(
        ready["task"],
        ready["label"],
        ready.get("worker"),
        where=str(path),
        format="long",
        options=options,
        sort=True,
        notes=[used],
    )


def _refuse_unknown(column: Column, classes: tuple[str, ...], path: Path, place: Callable[[int], str]) -> None:
    known = {*classes}
    unknown = [code for code, text in enumerate(column.texts) if text.strip() not in known and _whole(text) not in known]
    if unknown:
        row = int(np.isin(column.codes, unknown).argmax())
        found = column.texts[column.codes[row]]
        raise InputError(f"{path}: expected one of the classes {', '.join(classes):.200}; {place(row)} has {found!r:.60}")


def _whole(text: str) -> str:
    return text.strip().removesuffix(".0")
