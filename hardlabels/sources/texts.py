"""What the sources of texts share: official files that are found or fetched, and texts with votes as one object."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.sources.download import Download, provide
from hardlabels.sources.source import Source
from hardlabels.votes import Votes
from hardlabels.votes.formats.text_tables import check_file

SHOWN = 10  # of the problems of a file


def find(root: Path, files: Mapping[str, str], *, url: str = "", get: str, timeout: float = 30.0) -> list[Path]:
    """The paths of these files under ``root``, in this order; those that are not there are downloaded.

    A download is held to its md5. A file that is there is read by its format, whatever its content, and that it is not the
    release's is said: unlike CIFAR's pickles, reading it runs nothing, ChaosNLI and LeWiDi publish no checksum, and a run is
    identified by the content of its data.

    Args:
        root: the folder of the data.
        files: path under the root -> md5 of the release.
        url: of the folder that serves them by their names; empty where there is no address that lasts.
        get: where a person gets them, for the message.
        timeout: seconds without an answer after which the address has failed.

    Raises:
        InputError: once, for all files that were neither found nor downloaded.
    """
    try:
        absent = [path for path in files if not (root / path).exists()]
    except OSError as error:
        raise InputError(f"cannot read {root}: {error.strerror}") from error
    urls = {path: (f"{url.rstrip('/')}/{PurePosixPath(path).name}",) if url else () for path in absent}
    try:
        provide(root, [Download({path: files[path]}, urls[path]) for path in absent], timeout=timeout)
    except InputError as error:
        raise InputError(f"{error}\nwhere to get them: {get}") from error
    for path in files.keys() - set(absent):
        if (found := _md5(root / path)) != files[path]:
            say(f"{root / path} is not the release's file (md5 {found} instead of {files[path]}): read as it is")
    return [root / path for path in files]


def _md5(path: Path) -> str:
    check_file(path)
    try:
        return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def choose(subset: str, subsets: Sequence[str]) -> str:
    """The subset of a name, however it writes capitals and hyphens.

    >>> choose("HS-Brexit", ["armis", "hs_brexit"])
    'hs_brexit'
    """
    chosen = subset.lower().replace("-", "_")
    if chosen not in subsets:
        raise InputError(f"data.subset must be one of {', '.join(subsets)}, got {subset!r}")
    return chosen


def is_text(value: object) -> bool:
    """Whether a value is a text that is not blank.

    >>> is_text("yes"), is_text(" "), is_text(None)
    (True, False, False)
    """
    return isinstance(value, str) and bool(value.strip())


def refuse(path: Path, expected: str, problems: Sequence[str]) -> None:
    """One error for all problems of a file, the first of them in full.

    >>> refuse(Path("votes.csv"), "a text", [])
    >>> refuse(Path("votes.csv"), "a text", ["line 2 has none", "line 5 has none"])
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: votes.csv: expected a text; line 2 has none, line 5 has none
    """
    if problems:
        more = f" and {len(problems) - SHOWN:,} more" if len(problems) > SHOWN else ""
        raise InputError(f"{path}: expected {expected}; {', '.join(problems[:SHOWN])}{more}")


def text_source(
    name: str,
    texts: Sequence[tuple[str, ...]],
    votes: Votes,
    class_names: Sequence[str],
    *,
    ids: Sequence[str] = (),
    groups: np.ndarray | None = None,
    parts: np.ndarray | None = None,
    ordered: bool = False,
) -> Source:
    """Texts, each of 1 or 2 parts, and their votes; the split is stratified by the majority, or given by the data (``parts``).

    ``ids``, ``groups``, ``parts`` and ``ordered`` are those of :class:`~hardlabels.sources.source.Source`.

    >>> text_source("toy", [("a cat",), ("a dog",)], Votes.from_counts([[2, 1], [0, 3]]), ["cat", "dog"]).inputs.shape
    (2, 1)
    """
    return Source(
        name=name,
        inputs=np.array(texts, dtype=object),
        votes=votes,
        labels=votes.majority,
        class_names=tuple(class_names),
        mean=(),
        std=(),
        ids=tuple(ids),
        groups=groups,
        parts=parts,
        ordered=ordered,
    )
