"""Files of votes, by other people's formats: one file a format.

``read("votes.csv")`` decides by ending and content (the rules are in ``detect``), or takes the format that it is told.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.votes.formats import (
    answers,
    arrow,
    chaosnli,
    cifar10s,
    json_lines,
    label_studio,
    lewidi,
    long,
    matrix,
    mturk,
    prodigy,
    wide,
)
from hardlabels.votes.formats.cleaning import SHORTER, sentences, shorten_ids
from hardlabels.votes.formats.detect import detect
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.wording import Wording


def _read_long(path: Path, options: Options) -> NamedVotes:
    if path.suffix == ".jsonl":
        return json_lines.read(path, options)
    return arrow.read(path, options) if path.suffix == ".parquet" or path.is_dir() else long.read(path, options)


FORMATS: dict[str, Callable[[Path, Options], NamedVotes]] = {
    "long": _read_long,
    "wide": wide.read,
    "counts": partial(matrix.read, kind="counts"),
    "probs": partial(matrix.read, kind="probs"),
    "matrix": matrix.read,
    "answers": answers.read,
    "lewidi": lewidi.read,
    "chaosnli": chaosnli.read,
    "cifar10s": cifar10s.read,
    "label_studio": label_studio.read,
    "prodigy": prodigy.read,
    "mturk": mturk.read,
    "datasets": arrow.read,
}
"""``matrix`` is counts or probabilities, whichever the numbers are."""
TABLES = {
    "long": (".csv", ".tsv", ".parquet", ".jsonl"),
    "wide": (".csv", ".tsv"),
    "mturk": (".csv",),
    "datasets": (".parquet", ""),
}
"""What a file of these formats must end in; a saved data set is a folder."""
WITHOUT_VOTES = ("counts", "probs", "matrix", "chaosnli", "cifar10s")
"""Formats that hold no single votes: of what can be cleaned, only their ids."""

__all__ = ["FORMATS", "NamedVotes", "Options", "Wording", "detect", "read"]


def read(path: str | Path, format: str | None = None, options: Options | None = None) -> NamedVotes:
    """The votes of a file, with the names of items, classes and annotators.

    Args:
        path: ``.csv``, ``.tsv``, ``.npy``, ``.parquet``, ``.json`` or ``.jsonl``; or the folder of a data set that ``datasets``
            saved.
        format: one of ``FORMATS``; None decides by ending and content.
        options: columns of a long table, the order of the classes, what is to be cleaned.

    Raises:
        InputError: with the first row that cannot be, what was expected and what was found; or when two formats are as likely.
    """
    path, options = Path(path), options or Options()
    chosen = format or detect(path, options)
    if chosen not in FORMATS:
        raise InputError(f"{path}: expected a format {', '.join(FORMATS)}; got {chosen!r:.60}")
    if path.suffix not in TABLES.get(chosen, (path.suffix,)):
        endings = " or ".join(ending or "a folder" for ending in TABLES[chosen])
        raise InputError(f"{path}: expected a {chosen} table as {endings}")
    named = FORMATS[chosen](path, options)
    if chosen in WITHOUT_VOTES:
        named = _clean_ids(named, path, options)
    return replace(named, ordered=True) if options.ordered else named


def _clean_ids(named: NamedVotes, path: Path, options: Options) -> NamedVotes:
    """What can be put right of votes that were counted by somebody else."""
    if other := sorted(options.clean - SHORTER.keys()):
        said = options.wording.option("clean", other[0])
        raise InputError(
            f"{path}: {said} needs single votes; {named.format} holds what somebody counted. "
            f"Only ids can be cleaned: {', '.join(SHORTER)}"
        )
    if not options.clean:
        return named
    items, cleaned = named.items, {}
    for choice in (choice for choice in SHORTER if choice in options.clean):
        items, cleaned[choice] = shorten_ids(items, str(path), choice)
    return replace(named, items=items, cleaned=cleaned, notes=(*named.notes, *sentences(cleaned)))
