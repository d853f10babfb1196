"""CIFAR-10S: ``{id: [one distribution per annotator]}``. They are averaged: probabilities, without single votes."""

from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.document import need_dict, read_json
from hardlabels.votes.formats.named import NamedVotes, Options, check_ids
from hardlabels.votes.names import check_class_names
from hardlabels.votes.votes_table import Votes


def looks_like(document: Any) -> bool:
    """Whether the first item is a list.

    >>> looks_like({"0": [[0.5, 0.5], [1.0, 0.0]]})
    True
    """
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, list)


def distributions(entry: Any, where: str) -> np.ndarray:
    """(m, C) the distributions of an item's annotators.

    >>> distributions([[0.5, 0.5], [1, 0]], "item").tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    if isinstance(entry, list) and entry and isinstance(entry[0], dict):
        expected = "a list of probabilities for each annotator (of CIFAR-10S: cifar10s_t2clamp_redist10.json)"
        raise InputError(f"{where}: expected {expected}; found answers as elicited, {', '.join(entry[0]):.60}")
    proper = isinstance(entry, list) and entry and all(isinstance(row, list) and row for row in entry)
    if not proper or any(isinstance(x, bool) or not isinstance(x, int | float) for row in entry for x in row):
        raise InputError(f"{where}: expected a list of probabilities for each annotator; found {entry!r:.60}")
    if len({len(row) for row in entry}) > 1:
        raise InputError(
            f"{where}: expected as many probabilities of each annotator; found {sorted({len(row) for row in entry})}"
        )
    return np.array(entry, dtype=np.float64)


def read(path: Path, options: Options) -> NamedVotes:
    """The mean of each item's distributions, every annotator with the same weight; items in the order of the file."""
    document = need_dict(read_json(path), "an object {id: [probabilities of each annotator]}", str(path))
    means: list[np.ndarray] = []
    sizes: list[int] = []
    for key, entry in document.items():
        where = f"{path}, item {key!r:.60}"
        table = distributions(entry, where)
        if means and table.shape[1] != len(means[0]):
            raise InputError(f"{where}: expected {len(means[0])} classes, as before; found {table.shape[1]}")
        means.append(Votes.from_probabilities(table, where=where).p.mean(0))
        sizes.append(len(table))
    items = [key.strip() for key in document]
    check_ids(items, "item", str(path))
    if len(set(items)) < len(items):
        raise InputError(f"{path}: expected every item once, apart from spaces around its id")
    votes = Votes.from_probabilities(np.array(means), where=str(path))
    names = options.classes or tuple(str(c) for c in range(votes.num_classes))
    check_class_names(list(names), str(path))
    if len(names) != votes.num_classes:
        said = f"as {options.wording.option('classes')} says"
        raise InputError(f"{path}: expected {len(names)} classes, {said}; found {votes.num_classes}")
    note = f"the mean of {sum(sizes):,} distributions, {min(sizes)} to {max(sizes)} an item: probabilities without single votes"
    return NamedVotes(votes, items, names, None, "cifar10s", (note,), has_class_names=options.classes is not None)
