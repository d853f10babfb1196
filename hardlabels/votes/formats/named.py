"""Votes with the names that a file gave them: items, classes, annotators."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.class_order import order_classes, refuse_words_among_numbers, remarks
from hardlabels.votes.formats.cleaning import (
    CHOICES,
    SHORTER,
    Cleaned,
    first_of_duplicates,
    merge_variants,
    sentences,
    shorten_ids,
)
from hardlabels.votes.formats.codes import Column
from hardlabels.votes.formats.wording import Wording
from hardlabels.votes.names import LONGEST, check_numbers, check_spellings
from hardlabels.votes.ragged import label_dtype
from hardlabels.votes.votes_table import Votes

LONGEST_ID = 500
SHOWN = 5  # ids in a message
WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Options:
    """What a user may say about a file.

    Args:
        task: the column of the item's id, of a long table.
        worker: the column of the annotator's id.
        label: the column of the vote.
        classes: all classes, in their order; None for those that are in the file.
        ordered: whether the classes are a scale.
        clean: what is to be put right, of ``cleaning.CHOICES``.
        wording: how messages write these options.
    """

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    classes: tuple[str, ...] | None = None
    ordered: bool = False
    clean: frozenset[str] = frozenset()
    wording: Wording = field(default_factory=Wording)


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
        has_ids: whether the file names its items; otherwise ``items`` are the numbers of its rows, from 0.
        has_class_names: whether the file (or the user) names the classes; otherwise they are numbered from 0.
        ordered: whether the classes are a scale, in their order, as the user or a format that is known says.
        cleaned: what was put right, and how often: choices of ``cleaning.CHOICES``.
        several: whether an annotator may give an item several labels, as the format says; each is one vote.
        other_ids: where the ids are numbers that a tool gave, the fields of the file that may hold the user's own.
    """

    votes: Votes
    items: list[str]
    class_names: tuple[str, ...]
    annotator_names: tuple[str, ...] | None
    format: str
    notes: tuple[str, ...] = ()
    has_ids: bool = True
    has_class_names: bool = True
    ordered: bool = False
    several: bool = False
    cleaned: Cleaned = field(default_factory=dict)
    other_ids: tuple[str, ...] = ()

    def aligned(self, ids: Iterable[object]) -> "NamedVotes":
        """The votes on these items, in this order: those of somebody else's data set, so that row i of it is item i here.

        Items that are not asked for are left out, as a data set may be a part of all that was voted on.

        Args:
            ids: of the rows of that data set, each once. A number is compared as it is written, 7 as ``7``.

        Raises:
            InputError: an id that has no votes, or that comes twice: the first ones by name.

        >>> named = NamedVotes(Votes.from_counts([[3, 0], [1, 2]]), ["a", "7"], ("no", "yes"), None, "counts")
        >>> named.aligned([7, "a"]).votes.counts.tolist()
        [[1, 2], [3, 0]]
        >>> named.aligned(["a", "b"])
        Traceback (most recent call last):
        ...
        hardlabels.errors.InputError: expected ids of items that have votes, such as 'a'; 1 of 2 have none: 'b'
        """
        if not self.has_ids:
            raise InputError("expected votes whose file names its items; this one has rows only, which no id can be found in")
        wanted = [str(name).strip() for name in ids]
        place = {name: i for i, name in enumerate(self.items)}
        twice = [name for name, times in Counter(wanted).items() if times > 1]
        missing = [name for name in wanted if name not in place]
        for found, expected, what in (
            (missing, f"ids of items that have votes, such as {self.items[0]!r:.60}", f"of {len(wanted)} have none"),
            (twice, "every id once", "come several times"),
        ):
            if found:
                more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
                listed = ", ".join(f"{name!r:.60}" for name in found[:SHOWN])
                raise InputError(f"expected {expected}; {len(found)} {what}: {listed}{more}")
        return replace(self, votes=self.votes.take([place[name] for name in wanted]), items=wanted)


def check_ids(ids: Sequence[str], what: str, where: str) -> None:
    """Refuse ids that a terminal or a file name could not carry, and one number in two spellings.

    >>> check_ids(["img_1.png"], "item", "votes.csv")
    """
    for name in ids:
        if not name or len(name) > LONGEST_ID or not name.isprintable():
            shown = repr(name) if len(name) <= LONGEST else f"{name!r:.{LONGEST}}..."
            raise InputError(f"{where}: expected the id of an {what} as 1 to {LONGEST_ID} printable characters, got {shown}")
    check_numbers(ids, what, where)


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
    has_ids: bool = True,
    cleaned: Cleaned | None = None,
) -> NamedVotes:
    """The votes of a file from its columns, one entry per vote, in any order.

    Args:
        task: the items.
        label: the votes.
        worker: the annotators, where they are known.
        where: the file, for messages.
        format: what the file was taken for.
        options: what the user said about it.
        sort: put items whose ids are whole numbers in order of number; otherwise the order is that of the file.
        notes: what the reader had to decide.
        has_ids: whether the file names its items.
        cleaned: what the reader has put right already.
    """
    task, label, worker = task.stripped(), label.stripped(), worker.stripped() if worker else None
    check_ids(task.texts, "item", where)
    if worker:
        check_ids(worker.texts, "annotator", where)
    task, label, worker, cleaned = clean(task, label, worker, options, where, cleaned or {})
    names, of_label = order_classes(label.texts, where, options.classes)
    if options.classes is None:
        check_spellings(names, where, options.wording.option("classes"), options.wording.option("clean", "variants"))
        refuse_words_among_numbers(names, where, options.wording.option("classes"))
        notes = [*notes, *remarks(names, {names[place] for place in of_label.tolist()})]
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
    people = tuple(worker.texts) if worker else None
    said = (*notes, *sentences(cleaned))
    return NamedVotes(votes, items, names, people, format, said, has_ids, cleaned=cleaned)


def clean(
    task: Column, label: Column, worker: Column | None, options: Options, where: str, cleaned: Cleaned
) -> tuple[Column, Column, Column | None, Cleaned]:
    """The columns after what the user asked for; what was asked for is counted, also where nothing had to be done."""
    asked, cleaned = options.clean, dict(cleaned)
    for choice in SHORTER:
        if choice in asked:
            texts, cleaned[choice] = shorten_ids(task.texts, where, choice)
            task = Column(task.codes, texts)
    if "variants" in asked:
        label, cleaned["variants"] = merge_variants(label, options.classes)
    if "duplicates" in asked:
        if worker is None:
            said = options.wording.option("clean", "duplicates")
            raise InputError(f"{where}: {said} needs to know who voted: two votes for one class may be two people's")
        first = first_of_duplicates(task, label, worker)
        cleaned["duplicates"] = int((~first).sum())
        task, label, worker = task.kept(first), label.kept(first), worker.kept(first)
    done = {name: cleaned[name] for name in CHOICES if name in cleaned}
    return task, label, worker, done
