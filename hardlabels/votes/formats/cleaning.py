"""Dirty votes, by choice: what can be put right while a file is read. Nothing of it happens unasked, and all of it is counted."""

import re
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.codes import Codes, Column
from hardlabels.votes.formats.text_tables import MISSING
from hardlabels.votes.names import spelling

CHOICES = {
    "empty": "votes without a label are skipped",
    "rejected": "answers that the requester rejected are left out",
    "duplicates": "a vote that the same annotator gave to the same item before is dropped",
    "variants": "labels that are one class in two spellings are merged: upper case, spaces, - and _ do not matter",
    "urls": "ids that are URLs or paths become their last part",
    "uploads": "ids that are uploads to Label Studio become the name that the file had before",
}
"""What a user may ask for, and what is then done."""

Cleaned = dict[str, int]
"""Choice to how many votes (of ``urls`` and ``uploads``: items) it changed."""

UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # what Label Studio puts before the name of a file


def check_choices(names: Iterable[str], option: str) -> frozenset[str]:
    """The choices, all of them known; ``option`` is how a message writes them.

    >>> sorted(check_choices(["urls", "empty"], "--clean"))
    ['empty', 'urls']
    """
    chosen = frozenset(name.strip() for name in names)
    if unknown := sorted(chosen - CHOICES.keys()):
        raise InputError(f"{option}: expected some of {', '.join(CHOICES)}; got {', '.join(unknown)!r:.100}")
    return chosen


def sentences(cleaned: Cleaned) -> list[str]:
    """What was done, for a person.

    >>> sentences({"empty": 1200})
    ['cleaned of empty: 1,200 (votes without a label are skipped)']
    """
    return [f"cleaned of {name}: {number:,} ({CHOICES[name]})" for name, number in cleaned.items()]


def is_empty(text: str) -> bool:
    """Whether a cell holds no label.

    >>> [is_empty(text) for text in ("", " ", "NaN", "nan?")]
    [True, True, True, False]
    """
    return text.strip() in MISSING


def last_part(text: str) -> str:
    r"""The file name of a URL or a path; every other text as it is. Label Studio's local files have it in the query.

    >>> last_part("https://host/a/cat%201.png?x=1#y"), last_part("images/dog.png"), last_part("item 7")
    ('cat 1.png', 'dog.png', 'item 7')
    >>> last_part("/data/local-files/?d=photos/fox.png"), last_part("C:\\photos\\fox.png")
    ('fox.png', 'fox.png')
    """
    path = text
    if "://" in text or text.startswith("/data/"):
        try:
            parts = urlsplit(text)
        except ValueError:  # no URL after all
            return text
        inner = parse_qs(parts.query).get("d", [])
        path = inner[0] if inner and parts.path.endswith("/local-files/") else unquote(parts.path)
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or text


def uploaded_name(text: str) -> str:
    """The name of a file before Label Studio took it over and put eight letters before it; every other text as it is.

    >>> uploaded_name("/data/upload/3/ab12cd34-cat.png"), uploaded_name("https://host/ab12cd34-cat.png")
    ('cat.png', 'https://host/ab12cd34-cat.png')
    """
    return UPLOADED.sub("", last_part(text), count=1) if "/data/upload/" in text else text


SHORTER: dict[str, Callable[[str], str]] = {"uploads": uploaded_name, "urls": last_part}
"""The choices that make ids shorter, in the order in which they are applied."""


def shorten_id(text: str, asked: Iterable[str]) -> str:
    """One id after all that was asked for.

    >>> shorten_id("/data/upload/3/ab12cd34-cat.png", {"urls", "empty"})
    'ab12cd34-cat.png'
    """
    for choice in (choice for choice in SHORTER if choice in asked):
        text = SHORTER[choice](text)
    return text


def shorten_ids(ids: Sequence[str], where: str, choice: str) -> tuple[list[str], int]:
    """The ids as a choice of ``SHORTER`` makes them, and how many that changed; two that become the same are refused."""
    short = [SHORTER[choice](name) for name in ids]
    first: dict[str, str] = {}
    for name, part in zip(ids, short, strict=True):
        if first.setdefault(part, name) != name:
            both = f"{first[part]!r:.100} and {name!r:.100}"
            raise InputError(f"{where}: expected ids that differ in their last part, to clean them of {choice}; {both} do not")
    return short, sum(one != other for one, other in zip(ids, short, strict=True))


def merge_variants(label: Column, classes: Sequence[str] | None) -> tuple[Column, int]:
    """One label for each spelling, and how many votes that changed.

    It is the class that the user names so, otherwise the spelling with the most votes; of several, the first in order of text.
    """
    votes = np.bincount(label.codes, minlength=len(label.texts)).tolist()
    chosen: dict[str, str] = {}
    for text, _ in sorted(zip(label.texts, votes, strict=True), key=lambda pair: (-pair[1], pair[0])):
        chosen.setdefault(spelling(text), text)
    chosen |= {spelling(name): name for name in classes or ()}
    texts = [chosen[spelling(text)] for text in label.texts]
    changed = sum(number for text, new, number in zip(label.texts, texts, votes, strict=True) if text != new)
    merged = Codes()
    return Column(merged.take(texts)[label.codes], list(merged)), changed


def first_of_duplicates(task: Column, label: Column, worker: Column) -> np.ndarray:
    """(V,) whether a vote is the first of its annotator, item and label."""
    key = (task.codes.astype(np.int64) * len(worker.texts) + worker.codes) * len(label.texts) + label.codes
    first = np.zeros(len(key), dtype=bool)
    first[np.unique(key, return_index=True)[1]] = True
    return first
