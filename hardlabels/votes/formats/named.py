"""Votes with the names that a file gave them: items, classes, annotators."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.names import LONGEST, check_class_names
from hardlabels.votes.ragged import label_dtype
from hardlabels.votes.table import Votes

MAX_CLASSES = 10_000  # more is no label but free text, or an id
LONGEST_ID = 500
SPAN = 100  # whole numbers this close together are a scale, of which some steps may not have been chosen
WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Options:
    """What a user may say about a file.

    Args:
        task: the column of the item's id, of a long table.
        worker: the column of the annotator's id.
        label: the column of the vote.
        classes: all classes, in their order; None for those that are in the file.
    """

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class NamedVotes:
    """A table of votes and the names in it.

    Args:
        votes: the table; ``votes.annotators`` holds places in ``annotator_names``.
        items: the id of each item, in order.
        class_names: the name of each class, in order.
        annotator_names: None where the file does not say who voted.
        format: what the file was taken for.
        notes: what a reader had to decide, for a person to check.
    """

    votes: Votes
    items: list[str]
    class_names: tuple[str, ...]
    annotator_names: tuple[str, ...] | None
    format: str
    notes: tuple[str, ...] = ()


class Codes(dict[str, int]):
    """Texts as whole numbers, in the order in which they first come.

    >>> codes = Codes()
    >>> [codes[text] for text in "abca"], list(codes)
    ([0, 1, 2, 0], ['a', 'b', 'c'])
    """

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code

    def take(self, texts: Sequence[str]) -> np.ndarray:
        """The codes of these texts, (n,) int32."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))


def check_ids(ids: Sequence[str], what: str, where: str) -> None:
    """Refuse ids that a terminal or a file name could not carry.

    >>> check_ids(["img_1.png"], "item", "votes.csv")
    """
    for name in ids:
        if not name or len(name) > LONGEST_ID or not name.isprintable():
            shown = repr(name) if len(name) <= LONGEST else f"{name!r:.{LONGEST}}..."
            raise InputError(f"{where}: expected the id of an {what} as 1 to {LONGEST_ID} printable characters, got {shown}")


def number_of(text: str) -> float | None:
    """The finite number that a text is; None for every other text (and for Python's own 1_0, and digits of other scripts).

    >>> number_of("1.0"), number_of("-3"), number_of("e"), number_of("nan"), number_of("1_0")
    (1.0, -3.0, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text and text.isascii() else None


def order_classes(labels: Sequence[str], where: str, classes: Sequence[str] | None = None) -> tuple[tuple[str, ...], np.ndarray]:
    """The classes in order, and the class of each label.

    Whole numbers are in order of number (``1.0`` is ``1``), with the steps between them that nobody chose, as long as the span
    is at most ``SPAN`` or twice the classes seen. Other numbers are in order of number, words in alphabetical order. ``classes``
    overrides: every label must then be one of them.

    >>> order_classes(["3.0", "1.0"], "votes.csv")
    (('1', '2', '3'), array([2, 0]))
    >>> order_classes(["dog", "cat"], "votes.csv")
    (('cat', 'dog'), array([1, 0]))
    """
    if len(labels) > MAX_CLASSES:
        limit = f"expected at most {MAX_CLASSES:,} different labels (is this column free text, or an id?)"
        raise InputError(f"{where}: {limit}; got {len(labels):,}, such as {labels[0]!r:.60}")
    numbers = [number_of(label) for label in labels]
    values = np.array([math.nan if number is None else number for number in numbers])
    names = list(labels)
    if whole := bool(np.all(np.abs(values) < 2**53) and np.all(values == np.floor(values))):  # NaN compares as false
        names = [str(int(value)) for value in values]
    if classes is not None:
        ordered = tuple(classes)
    elif whole:
        low, high, seen = int(values.min()), int(values.max()), len(set(names))
        filled = high - low + 1 <= max(SPAN, 2 * seen)
        ordered = tuple(map(str, range(low, high + 1) if filled else sorted(set(map(int, names)))))
    elif not np.isnan(values).any():
        ordered = tuple(name for name, _ in sorted(zip(names, values.tolist(), strict=True), key=lambda pair: pair[1]))
    else:
        ordered = tuple(sorted(set(names)))
    check_class_names(list(ordered), where)
    place = {name: i for i, name in enumerate(ordered)}
    for label, name in zip(labels, names, strict=True):
        if name not in place and label not in place:
            raise InputError(f"{where}: expected one of the classes {', '.join(ordered):.200}; found {label!r:.60}")
    return ordered, np.array([place[label] if label in place else place[name] for label, name in zip(labels, names, strict=True)])


def order_ids(ids: Sequence[str]) -> np.ndarray:
    """The rank of each id: whole numbers by number, others as they came.

    >>> order_ids(["10", "9"]).tolist(), order_ids(["b", "a"]).tolist()
    ([1, 0], [0, 1])
    """
    if not all(map(WHOLE.fullmatch, ids)):
        return np.arange(len(ids))
    rank = np.empty(len(ids), dtype=np.int64)
    rank[np.argsort(np.array(ids, dtype=np.int64), kind="stable")] = np.arange(len(ids))
    return rank


@dataclass
class Column:
    """One column of a file as codes (V,), and the text of each code."""

    codes: np.ndarray
    texts: list[str]

    def stripped(self) -> "Column":
        """The same without spaces around the texts."""
        texts = [text.strip() for text in self.texts]
        if texts == self.texts:
            return self
        merged = Codes()
        return Column(merged.take(texts)[self.codes], list(merged))


def assemble(
    task: Column,
    label: Column,
    worker: Column | None,
    *,
    where: str,
    format: str,
    options: Options,
    sort: bool,
    notes: Sequence[str],
) -> NamedVotes:
    """The votes of a file from its columns, one entry a vote, in any order.

    Args:
        task: the items.
        label: the votes.
        worker: the annotators, where they are known.
        where: the file, for messages.
        format: what the file was taken for.
        options: what the user said about it.
        sort: put items whose ids are whole numbers in order of number; otherwise the order is that of the file.
        notes: what the reader had to decide.
    """
    task, label, worker = task.stripped(), label.stripped(), worker.stripped() if worker else None
    check_ids(task.texts, "item", where)
    if worker:
        check_ids(worker.texts, "annotator", where)
    names, of_label = order_classes(label.texts, where, options.classes)
    rank = order_ids(task.texts) if sort else np.arange(len(task.texts))
    items = [""] * len(rank)
    for place, text in zip(rank.tolist(), task.texts, strict=True):
        items[place] = text

    c = len(names)
    small = np.int32 if len(items) * c < 2**31 else np.int64  # 10 million votes: 40 MB, or 80
    key = rank.astype(small)[task.codes] * small(c) + of_label.astype(small)[label.codes]
    order = np.argsort(key, kind="stable")
    labels = (key[order] % c).astype(label_dtype(c))
    del key
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rank[task.codes], minlength=len(items)))])
    who = worker.codes[order] if worker else None
    votes = Votes(labels, offsets, c, None, who)
    return NamedVotes(votes, items, names, tuple(worker.texts) if worker else None, format, tuple(notes))
