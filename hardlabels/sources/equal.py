"""Items that are the same: one of them in training and the other in evaluation would be a leak."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hardlabels.errors import InputError
from hardlabels.sources.digests import digests_of_rows

CHOICES = ("error", "group", "ignore")
SHOWN = 5


def equal_items(inputs: np.ndarray) -> np.ndarray:
    """(N,) int64 for each item the first one that is equal to it: byte by byte for images and vectors, as text for texts.

    Texts are equal when they differ in capitals and spaces only.

    >>> equal_items(np.array([["A cat"], ["dogs"], ["a  cat "]], dtype=object)).tolist()
    [0, 1, 0]
    >>> equal_items(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    first: dict[object, int] = {}
    keys = digests_of_rows(inputs) if inputs.dtype != object else map(_words, inputs)
    return np.array([first.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.int64)


def keep_apart(
    inputs: np.ndarray,
    names: Sequence[str],
    *,
    equal: str,
    groups: np.ndarray | None,
    parts: np.ndarray | None,
    where: str,
) -> np.ndarray | None:
    """The groups of a split without leaks: those given, joined where items of two of them are equal.

    Args:
        inputs: (N, ...) the items.
        names: their ids, for messages.
        equal: ``error`` refuses equal items, unless they are in one group, or in one part of a given split; ``group`` makes them
            one group; ``ignore`` leaves them.
        groups: (N,) given by the user, or None.
        parts: (N,) a split given by the user, or None: it is not changed, so equal items in two parts of it are refused.
        where: the file, for messages.

    >>> keep_apart(np.array([[1], [2], [1]]), "abc", equal="group", groups=None, parts=None, where="x.npy").tolist()
    [0, 1, 0]
    >>> keep_apart(np.array([[1], [2], [1]]), "abc", equal="error", groups=None, parts=None, where="x.npy")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: x.npy: 1 item is equal to another one, which would be a leak between training and \
evaluation: c and a; data.equal=group keeps equal items on one side, data.equal=ignore does not look
    """
    if equal not in CHOICES:
        raise InputError(f"data.equal must be one of {', '.join(CHOICES)}, got {equal!r}")
    if equal == "ignore":
        return groups
    first = equal_items(inputs)
    sides = parts if parts is not None else groups if groups is not None else np.arange(len(first))
    apart = np.flatnonzero(sides != sides[first])
    if not len(apart):
        return groups
    if parts is not None or equal == "error":
        pairs = ", ".join(f"{names[i]:.60} and {names[first[i]]:.60}" for i in apart[:SHOWN])
        more = " ..." if len(apart) > SHOWN else ""
        count = "1 item is equal to another one" if len(apart) == 1 else f"{len(apart):,} items are equal to another one"
        group = "" if parts is not None else "data.equal=group keeps equal items on one side, "
        what = (
            "in another part of the given split" if parts is not None else "which would be a leak between training and evaluation"
        )
        raise InputError(f"{where}: {count}, {what}: {pairs}{more}; {group}data.equal=ignore does not look")
    return joined(sides, first)


def joined(groups: np.ndarray, first: np.ndarray) -> np.ndarray:
    """(N,) groups, joined over items that are equal: two groups that share one are one.

    Args:
        groups: (N,).
        first: (N,) what :func:`equal_items` gives.

    >>> joined(np.array([7, 7, 8, 9, 9]), np.array([0, 1, 1, 3, 2])).tolist()
    [0, 0, 0, 0, 0]
    """
    n = len(groups)
    _, lead, group = np.unique(groups, return_index=True, return_inverse=True)
    ends = np.concatenate([lead[group], first])
    graph = coo_array((np.ones(2 * n), (np.tile(np.arange(n), 2), ends)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _words(item: np.ndarray) -> tuple[str, ...]:
    return tuple(" ".join(str(text).lower().split()) for text in item)
