"""Votes into files: long, wide, counts or probabilities, so that ``formats.read`` finds the same again."""

import csv
import io
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.named import NamedVotes
from hardlabels.votes.formats.wide import CLASS_CORNER, CORNER
from hardlabels.votes.votes_table import blocks
from hardlabels.whole_files import whole_file

MAX_CELLS = 10**8  # of a wide table: more is a file of gigabytes with hardly a vote in it
ENDINGS = {"long": (".csv", ".parquet"), "wide": (".csv",), "counts": (".csv", ".npy"), "probs": (".csv", ".npy")}
"""What each kind of table can be written as."""


def write(named: NamedVotes, kind: str, path: Path) -> None:
    """Write the votes as a table of this kind, whole or not at all.

    Args:
        named: votes, with their names.
        kind: ``long``, ``wide``, ``counts`` or ``probs``.
        path: ends in what ``ENDINGS`` allows. An ``.npy`` keeps no names.

    Raises:
        InputError: the kind needs what is not known (votes, annotators), or the file cannot be written.
    """
    if path.suffix not in ENDINGS[kind]:
        raise InputError(f"--to {kind}: expected a file {' or '.join(ENDINGS[kind])}, got {str(path)!r:.200}")
    if kind != "probs" and not named.votes.has_votes:
        raise InputError(f"--to {kind}: only probabilities are known, not votes; they can be written as probs")
    if kind == "wide":
        check_wide(named)
    if not path.parent.is_dir():
        raise InputError(f"--to {kind}: cannot write {path}: expected an existing folder, got {str(path.parent)!r:.200}")
    try:
        with whole_file(path) as file:
            if path.suffix == ".npy":
                np.save(file, named.votes.counts if kind == "counts" else named.votes.p)
            elif path.suffix == ".parquet":
                write_parquet(named, file)
            else:
                text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
                csv.writer(text, lineterminator="\n").writerows(ROWS[kind](named))
                text.detach()
    except OSError as error:
        raise InputError(f"--to {kind}: cannot write {path}: {error.strerror or error}") from error


def long_columns(named: NamedVotes) -> Iterator[tuple[list[str], list[str] | None, list[str]]]:
    """(task, worker or None, label) of all votes, block by block."""
    votes, who = named.votes, named.annotator_names
    for lo, hi in blocks(votes.offsets):
        here = slice(votes.offsets[lo], votes.offsets[hi])
        tasks = np.repeat(np.arange(lo, hi), votes.sizes[lo:hi]).tolist()
        workers = None
        if votes.annotators is not None and who is not None:
            workers = [who[code] for code in votes.annotators[here].tolist()]
        yield [named.items[i] for i in tasks], workers, [named.class_names[c] for c in votes.labels[here].tolist()]


def long_rows(named: NamedVotes) -> Iterator[Iterable[str]]:
    """One line per vote: task, worker, label; without the worker where it is not known."""
    yield ("task", "label") if named.votes.annotators is None else ("task", "worker", "label")
    for tasks, workers, labels in long_columns(named):
        yield from zip(tasks, labels, strict=True) if workers is None else zip(tasks, workers, labels, strict=True)


def write_parquet(named: NamedVotes, file: BinaryIO) -> None:
    """The long table as parquet; needs pyarrow."""
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError("writing parquet needs pyarrow: pip install pyarrow, or choose .csv") from error
    names = ["task", "label"] if named.votes.annotators is None else ["task", "worker", "label"]
    with pq.ParquetWriter(file, pa.schema([(name, pa.string()) for name in names])) as writer:
        for columns in long_columns(named):
            kept = [column for column in columns if column is not None]
            writer.write_table(pa.table(dict(zip(names, kept, strict=True))))


def check_wide(named: NamedVotes) -> None:
    """Refuse votes that a wide table cannot hold: of nobody, or two by one annotator on one item."""
    votes, who = named.votes, named.annotator_names
    if votes.annotators is None or who is None:
        raise InputError("--to wide: it is not known who voted; long or counts can hold these votes")
    if len(votes) * len(who) > MAX_CELLS:
        raise InputError(f"--to wide: {len(votes):,} items x {len(who):,} annotators are more than {MAX_CELLS:,} cells; use long")
    for lo, hi in blocks(votes.offsets):
        item = np.repeat(np.arange(lo, hi), votes.sizes[lo:hi])
        pair = np.sort(item * len(who) + votes.annotators[votes.offsets[lo] : votes.offsets[hi]])
        if len(twice := np.flatnonzero(pair[1:] == pair[:-1])):
            first, code = divmod(int(pair[twice[0]]), len(who))
            found = f"{who[code]!r:.60} voted twice on {named.items[first]!r:.60}"
            ways = "long can hold that; --clean duplicates drops votes that are equal"
            raise InputError(f"--to wide: expected one vote an annotator and item; {found}. {ways}")


def wide_rows(named: NamedVotes) -> Iterator[list[str]]:
    """One line per item, one column per annotator."""
    votes, who = named.votes, named.annotator_names
    assert votes.annotators is not None and who is not None, "checked before"  # noqa: PT018
    yield [CORNER, *who]
    names = np.array(["", *named.class_names], dtype=object)
    for i, item in enumerate(named.items):
        here = slice(votes.offsets[i], votes.offsets[i + 1])
        cells = np.zeros(len(who), dtype=np.int64)
        cells[votes.annotators[here]] = votes.labels[here].astype(np.int64) + 1
        yield [item, *names[cells].tolist()]


def count_rows(named: NamedVotes) -> Iterator[list[str | int]]:
    """One line per item, one column per class."""
    yield [CLASS_CORNER, *named.class_names]
    for item, row in zip(named.items, named.votes.counts.tolist(), strict=True):
        yield [item, *row]


def probability_rows(named: NamedVotes) -> Iterator[list[str]]:
    """The same for p, in as many digits as a float64 has."""
    yield [CLASS_CORNER, *named.class_names]
    for item, row in zip(named.items, named.votes.p.tolist(), strict=True):
        yield [item, *map(repr, row)]


ROWS = {"long": long_rows, "wide": wide_rows, "counts": count_rows, "probs": probability_rows}
