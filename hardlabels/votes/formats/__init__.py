"""Files of votes, by other people's formats: one file a format.

``read("votes.csv")`` decides by ending and content (the rules are in ``detect``), or takes the format that it is told.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.votes.formats import answers, chaosnli, cifar10s, lewidi, long, matrix, wide
from hardlabels.votes.formats.detect import detect
from hardlabels.votes.formats.named import NamedVotes, Options

FORMATS: dict[str, Callable[[Path, Options], NamedVotes]] = {
    "long": long.read,
    "wide": wide.read,
    "counts": partial(matrix.read, kind="counts"),
    "probs": partial(matrix.read, kind="probs"),
    "matrix": matrix.read,
    "answers": answers.read,
    "lewidi": lewidi.read,
    "chaosnli": chaosnli.read,
    "cifar10s": cifar10s.read,
}
"""``matrix`` is counts or probabilities, whichever the numbers are."""

__all__ = ["FORMATS", "NamedVotes", "Options", "detect", "read"]


def read(path: str | Path, format: str | None = None, options: Options | None = None) -> NamedVotes:
    """The votes of a file, with the names of items, classes and annotators.

    Args:
        path: ``.csv``, ``.npy``, ``.parquet``, ``.json`` or ``.jsonl``.
        format: one of ``FORMATS``; None decides by ending and content.
        options: columns of a long table, the order of the classes.

    Raises:
        InputError: with the first row that cannot be, what was expected and what was found; or when two formats are as likely.
    """
    path, options = Path(path), options or Options()
    chosen = format or detect(path, options)
    if chosen not in FORMATS:
        raise InputError(f"{path}: expected a format {', '.join(FORMATS)}; got {chosen!r:.60}")
    if chosen in ("long", "wide") and path.suffix not in (".csv", ".parquet")[: 2 if chosen == "long" else 1]:
        raise InputError(f"{path}: expected a {chosen} table as .csv{' or .parquet' if chosen == 'long' else ''}")
    return FORMATS[chosen](path, options)
