"""Long tables: one line per vote, with the columns task, worker and label (crowd-kit's), or others that are named."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats import fast
from hardlabels.votes.formats.cleaning import Cleaned, is_empty
from hardlabels.votes.formats.codes import Codes, Column
from hardlabels.votes.formats.columns import Columns, need_columns
from hardlabels.votes.formats.named import NamedVotes, Options, assemble
from hardlabels.votes.formats.text_tables import TextTable, header_names
from hardlabels.votes.names import spelling

REJECTED = "rejected"
"""What a column of status says of an answer that was rejected, in MTurk's and in Toloka's exports, but for upper case."""


def read(path: Path, options: Options) -> NamedVotes:
    """Votes from a long table, ``.csv`` or ``.tsv``. Items whose ids are whole numbers come in order of number.

    A worker who votes twice on a task has two votes. Large plain files are read by polars, all others in blocks.
    """
    table = TextTable(path)
    names = header_names(table.header, path, "column")
    columns = need_columns(names, options, path)
    places = [*columns.places.values()]

    def place(row: int) -> str:
        return f"line {table.line(row + 1)}"

    if (quick := fast.read_columns(table, places)) is not None:
        ready = dict(zip(columns.places, quick, strict=True))
    else:
        ready = gather(table.columns(places), columns, names, path, options, place)
    return finish(ready, columns, path, options, place)


def gather(
    blocks: Iterator[Sequence[Sequence[str]]],
    columns: Columns,
    names: Sequence[str],
    path: Path,
    options: Options,
    place: Callable[[int], str],
) -> dict[str, Column]:
    """The columns from blocks of their cells; ``place(row)`` is how a message names a row. Empty cells are refused.

    But for labels, where the user asked to skip votes without one: they keep their code, and :func:`finish` leaves them out.
    """
    codes = {role: Codes() for role in columns.places}
    parts: dict[str, list[np.ndarray]] = {role: [] for role in columns.places}
    done = 0
    for block in blocks:
        for role, cells in zip(columns.places, block, strict=True):
            known = len(codes[role])
            parts[role].append(codes[role].take(cells))
            may_be_empty = role == "label" and "empty" in options.clean
            if not may_be_empty and any(map(is_empty, islice(reversed(codes[role]), len(codes[role]) - known))):
                row = next(i for i, cell in enumerate(cells) if is_empty(cell))
                raise InputError(_none(path, names, columns, role, place(done + row), cells[row], options))
        done += len(block[0])
    if not done:
        raise InputError(f"{path}: expected at least one vote, got a table without lines")
    return {role: Column(np.concatenate(parts.pop(role)), list(codes.pop(role))) for role in columns.places}


def _none(path: Path, names: Sequence[str], columns: Columns, role: str, where: str, cell: str, options: Options) -> str:
    found = f"{where} has {repr(cell) if cell.isspace() else 'none'}"
    hint = f". {options.wording.option('clean', 'empty')} skips votes without a label" if role == "label" else ""
    return f"{path}: expected a {role} in column {names[columns.places[role]]!r}; {found}{hint}"


def finish(ready: dict[str, Column], columns: Columns, path: Path, options: Options, place: Callable[[int], str]) -> NamedVotes:
    """The votes of these columns, after rejected answers and votes without a label were left out, where the user asked for it."""
    cleaned: Cleaned = {}
    status = ready.pop("status", None)
    for choice, column, wrong in (
        ("rejected", status, lambda text: text.strip().lower() == REJECTED),
        ("empty", ready["label"] if "empty" in options.clean else None, is_empty),
    ):
        if column is not None:
            bad = [code for code, text in enumerate(column.texts) if wrong(text)]
            kept = ~np.isin(column.codes, bad)
            cleaned[choice] = int((~kept).sum())
            if not kept.any():
                raise InputError(f"{path}: expected at least one vote, and cleaning it of {choice} leaves none")
            if cleaned[choice]:
                ready = {role: part.kept(kept) for role, part in ready.items()}
    _refuse_several(ready["label"], path, place)
    if options.classes is not None and "variants" not in options.clean:
        _refuse_unknown(ready["label"], options, path, place)
    return assemble(
        ready["task"],
        ready["label"],
        ready.get("worker"),
        where=str(path),
        format="long",
        options=options,
        sort=True,
        notes=[columns.note],
        cleaned=cleaned,
    )


def _refuse_several(column: Column, path: Path, place: Callable[[int], str]) -> None:
    """Refuse a cell with a JSON list or object of labels: they would be one class of that name."""
    for code, text in enumerate(column.texts):
        if text.strip().startswith(("[", "{")) and text.strip().endswith(("]", "}")) and '"' in text:
            row = int((column.codes == code).argmax())
            found = f"{place(row)} has {text!r:.60}"
            raise InputError(f"{path}: expected one label a vote; {found}. Label Studio's export as JSON is read with several")


def _refuse_unknown(column: Column, options: Options, path: Path, place: Callable[[int], str]) -> None:
    classes = options.classes or ()
    known = {*classes}
    unknown = [code for code, text in enumerate(column.texts) if text.strip() not in known and _whole(text) not in known]
    if unknown:
        row = int(np.isin(column.codes, unknown).argmax())
        found = column.texts[column.codes[row]]
        variant = spelling(found) in map(spelling, classes)
        hint = (
            f". {options.wording.option('clean', 'variants')} takes it as the class that it is a spelling of" if variant else ""
        )
        expected = f"one of the classes {', '.join(classes):.200}"
        raise InputError(f"{path}: expected {expected}; {place(row)} has {found!r:.60}{hint}")


def _whole(text: str) -> str:
    return text.strip().removesuffix(".0")
