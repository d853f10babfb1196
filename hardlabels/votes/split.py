"""Which items train, which select the checkpoint, which evaluate: stratified by label, one draw per seed."""

from dataclasses import dataclass

import numpy as np

from hardlabels.errors import InputError
from hardlabels.randomness import stream


@dataclass(frozen=True)
class Split:
    """Item indices of the three parts, each sorted. Under protocol ``paper``, ``select`` and ``evaluate`` are the same items."""

    train: np.ndarray
    select: np.ndarray
    evaluate: np.ndarray


# protocol -> share of the items that only select the checkpoint. Evaluation takes the same 20 % under every protocol.
SPLITS = {"paper": 0.0, "three_way": 0.1}
EVALUATE_SHARE = 0.2


def split_items(labels: np.ndarray, *, seed: int, protocol: str = "paper", train_items: int | None = None) -> Split:
    """Split items 80/20 (``paper``) or 70/10/20 (``three_way``), each class by itself.

    Items of a class are shuffled; the first fifth (rounded up) evaluates, the next tenth selects (``three_way``), the rest
    trains. The two protocols of a seed therefore evaluate the same items. The paper has no third part: its checkpoint is
    selected on the evaluation items, and ``select`` is ``evaluate``.

    Args:
        labels: (N,) the class by which to stratify.
        seed: the run's seed; it also seeds the K-vote subsample (coupled, as in the paper).
        protocol: a key of ``SPLITS``.
        train_items: keep at most this many of the training items, the same choice for every method; ``None`` keeps all.

    >>> labels = np.repeat([0, 1], 10)
    >>> split = split_items(labels, seed=0)
    >>> len(split.train), labels[split.evaluate].tolist()
    (16, [0, 0, 1, 1])
    >>> three = split_items(labels, seed=0, protocol="three_way")
    >>> len(three.train), len(three.select), bool((three.evaluate == split.evaluate).all())
    (14, 2, True)
    """
    if protocol not in SPLITS:
        raise InputError(f"split must be one of {', '.join(SPLITS)}, got {protocol!r}")
    if train_items is not None and train_items < 1:
        raise InputError(f"train_items must be at least 1 item (or null for all), got {train_items}")
    labels = np.asarray(labels)
    n = len(labels)
    # Position of each item in a random order of its own class, as a number in [0, 1).
    order = np.lexsort((stream(seed, "split").random(n), labels))
    _, first, size = np.unique(labels[order], return_index=True, return_counts=True)
    place = np.empty(n)
    place[order] = (np.arange(n) - np.repeat(first, size)) / np.repeat(size, size)

    select_until = EVALUATE_SHARE + SPLITS[protocol]
    evaluate = np.flatnonzero(place < EVALUATE_SHARE - 1e-9)
    select = np.flatnonzero((place >= EVALUATE_SHARE - 1e-9) & (place < select_until - 1e-9)) if SPLITS[protocol] else evaluate
    train = np.flatnonzero(place >= select_until - 1e-9)
    if train_items is not None:
        train = np.sort(stream(seed, "train_items").permutation(train)[:train_items])
    for part, index in (("train", train), ("select", select), ("evaluate", evaluate)):
        if not len(index):
            raise InputError(f"split {protocol!r} of {n} items leaves the {part} part empty: more items a class are needed")
    return Split(train, select, evaluate)
