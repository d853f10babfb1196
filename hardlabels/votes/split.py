"""Which items train, which select the checkpoint, which evaluate: drawn by the seed, or given by the user."""

from dataclasses import dataclass

import numpy as np

from hardlabels.errors import InputError
from hardlabels.randomness import stream

PARTS = ("train", "select", "evaluate")
"""The three parts; a given split holds their places in this tuple."""

# protocol -> share of the items that only select the checkpoint. Evaluation takes the same 20 % under every protocol.
SPLITS = {"paper": 0.0, "three_way": 0.1}
EVALUATE_SHARE = 0.2
TINY = 1e-9  # of rounding, where a place is a share exactly


@dataclass(frozen=True)
class Split:
    """Item indices of the three parts, each sorted. Under protocol ``paper``, ``select`` and ``evaluate`` are the same items."""

    train: np.ndarray
    select: np.ndarray
    evaluate: np.ndarray


def split_items(
    labels: np.ndarray,
    *,
    seed: int,
    protocol: str = "paper",
    train_items: int | None = None,
    groups: np.ndarray | None = None,
    parts: np.ndarray | None = None,
) -> Split:
    """Split items 80/20 (``paper``) or 70/10/20 (``three_way``), each class by itself; or as the user has split them.

    Items of a class are shuffled; the first fifth (rounded up) evaluates, the next tenth selects (``three_way``), the rest
    trains. The two protocols of a seed therefore evaluate the same items. The paper has no third part: its checkpoint is
    selected on the evaluation items, and ``select`` is ``evaluate``.

    The items of a group (one user, one source, one premise) stay together: the groups are shuffled instead, and a group goes
    where the middle of it lies, so that the shares hold as well as the sizes of the groups allow.

    A given split is the same for every seed. Where it names no items to select on, ``three_way`` draws an eighth of the training
    items for it (as 10 of 80), and ``paper`` selects on the evaluation items.

    Args:
        labels: (N,) the class by which to stratify; of a group it is the class that most of its items have.
        seed: the run's seed; it also seeds the K-vote subsample (coupled, as in the paper).
        protocol: a key of ``SPLITS``.
        train_items: keep at most this many of the training items, the same choice for every method; ``None`` keeps all.
        groups: (N,) equal for items that must not be separated; ``None``: every item is a group of its own.
        parts: (N,) the part of each item as its place in ``PARTS``, where the user has split them; ``None``: by the seed.

    >>> labels = np.repeat([0, 1], 10)
    >>> split = split_items(labels, seed=0)
    >>> len(split.train), labels[split.evaluate].tolist()
    (16, [0, 0, 1, 1])
    >>> three = split_items(labels, seed=0, protocol="three_way")
    >>> len(three.train), len(three.select), bool((three.evaluate == split.evaluate).all())
    (14, 2, True)
    >>> split_items(labels, seed=0, groups=np.arange(20) // 2).evaluate.tolist()  # items 2g and 2g + 1 are one group
    [8, 9, 18, 19]
    """
    if protocol not in SPLITS:
        raise InputError(f"split must be one of {', '.join(SPLITS)}, got {protocol!r}")
    if train_items is not None and train_items < 1:
        raise InputError(f"train_items must be at least 1 item (or null for all), got {train_items}")
    labels = np.asarray(labels)
    if parts is None:
        what = f"split {protocol!r} of {len(labels)} items"
        split = _drawn(_places(labels, groups, seed), EVALUATE_SHARE, SPLITS[protocol])
    else:
        what = f"the given split of {len(labels)} items"
        split = _given(np.asarray(parts), labels, groups, seed, SPLITS[protocol])
    for part, index in (("train", split.train), ("select", split.select), ("evaluate", split.evaluate)):
        if not len(index):
            needed = "more items a class are needed" if groups is None else "more groups, or smaller ones, are needed"
            raise InputError(f"{what} leaves the {part} part empty: {needed}")
    if train_items is None:
        return split
    kept = np.sort(stream(seed, "train_items").permutation(split.train)[:train_items])
    return Split(kept, split.select, split.evaluate)


def _places(labels: np.ndarray, groups: np.ndarray | None, seed: int) -> np.ndarray:
    """(N,) the place of each item in a random order of its own class, as a number in [0, 1); that of its group's middle.

    A group is in the order where its first item is, and counts to the class that most of its items have (the first of them, when
    tied). For groups of one item that is the place of each item by itself.
    """
    n = len(labels)
    keys = stream(seed, "split").random(n)
    if groups is None:
        groups = np.arange(n)
    _, lead, group = np.unique(groups, return_index=True, return_inverse=True)  # group: 0, 1, ...; its first item
    classes, label = np.unique(labels, return_inverse=True)
    size = np.bincount(group, minlength=len(lead))
    stratum = _commonest(group, label, len(classes))
    order = np.lexsort((keys[lead], stratum))
    before = np.cumsum(size[order]) - size[order]  # items in front of the group, over all strata
    total = np.bincount(stratum, size, minlength=len(classes))
    middle = before - (np.cumsum(total) - total)[stratum[order]] + (size[order] - 1) / 2
    place = np.empty(len(lead))
    place[order] = middle / total[stratum[order]]
    return place[group]


def _commonest(group: np.ndarray, label: np.ndarray, num_classes: int) -> np.ndarray:
    """(groups,) the label that most items of each group have; the lowest, when tied.

    >>> _commonest(np.array([0, 1, 1, 1, 2]), np.array([4, 0, 3, 3, 1]), 5).tolist()
    [4, 3, 1]
    """
    pairs, times = np.unique(group * num_classes + label, return_counts=True)
    whose, which = np.divmod(pairs, max(num_classes, 1))
    order = np.lexsort((which, -times, whose))
    return which[order][np.unique(whose[order], return_index=True)[1]]


def _drawn(place: np.ndarray, evaluate_share: float, select_share: float) -> Split:
    """The parts by place; items below the first share evaluate, those of the next select, where it is not 0."""
    until = evaluate_share + select_share
    evaluate = np.flatnonzero(place < evaluate_share - TINY)
    select = np.flatnonzero((place >= evaluate_share - TINY) & (place < until - TINY)) if select_share else evaluate
    return Split(np.flatnonzero(place >= until - TINY), select, evaluate)


def _given(parts: np.ndarray, labels: np.ndarray, groups: np.ndarray | None, seed: int, select_share: float) -> Split:
    """The parts that the user gave; where none selects, a share of the training items, or the evaluation items."""
    if parts.shape != labels.shape or not np.isin(parts, range(len(PARTS))).all():
        raise InputError(
            f"a given split must have a part 0 .. {len(PARTS) - 1} for each of {len(labels)} items, got {parts!r:.100}"
        )
    if groups is not None:
        refuse_divided(parts, groups)
    train, select, evaluate = (np.flatnonzero(parts == place) for place in range(len(PARTS)))
    if len(select) or not select_share:
        return Split(train, select if len(select) else evaluate, evaluate)
    drawn = _drawn(
        _places(labels[train], None if groups is None else groups[train], seed), select_share / (1 - EVALUATE_SHARE), 0
    )
    return Split(train[drawn.train], train[drawn.evaluate], evaluate)


def refuse_divided(parts: np.ndarray, groups: np.ndarray) -> None:
    """Refuse a given split that has items of one group on two sides.

    >>> refuse_divided(np.array([0, 0, 2]), np.array([5, 7, 7]))
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: the given split divides 1 of 2 groups; first: items 1 (train) and 2 (evaluate) are one group
    """
    _, lead, group = np.unique(groups, return_index=True, return_inverse=True)
    apart = np.flatnonzero(parts != parts[lead][group])
    if len(apart):
        item, other = apart[0], lead[group[apart[0]]]
        sides = f"items {other} ({PARTS[parts[other]]}) and {item} ({PARTS[parts[item]]})"
        divided = len(np.unique(group[apart]))
        raise InputError(f"the given split divides {divided} of {len(lead)} groups; first: {sides} are one group")
