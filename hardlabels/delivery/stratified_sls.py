r"""Stratified SLS (ours): drawn labels whose counts follow p in every window of epochs. Multipass where only p is known.

SLS draws every epoch anew, so n epochs show class c of an item :math:`n p_c \pm \sqrt{n p_c (1 - p_c)}` times. Here an item draws
once, before training: a phase for each of its classes. After that its labels follow from the epoch by whole-number arithmetic.

Take the classes in the order of their shares, the largest first, and ask of each in turn: is it this one? Class k has a of the b
votes that are left when the classes before it are taken away. It was asked T times before; with a phase j, uniform on 0 .. b - 1,

    it has said yes floor((j + T a) / b) times, and says yes now if ((j + T a) mod b) + a >= b,

else the next class is asked, for the (T - yes)-th time. This is how Bresenham draws a line: yes comes as evenly as it can.
What follows (and is tested, in ``tests/delivery/test_stratified_sls.py``):

* In every epoch the label of an item is Categorical(p_i), independent of other items: each phase is uniform. The expectation, and
  so the mean gradient, is that of SLS.
* In every window of n epochs the mean squared error of a class's count is below that of SLS (n >= 2, 0 < p_c < 1), and below
  :math:`\tfrac14 (1 + \pi^2 / 6) < 0.67`, for any n, p and C. For the largest class (so, for two classes) it is the least that a
  whole number with mean n p can have.
* The count of the class of rank k (1: largest) is never off by :math:`1 + \sum_{j<k} 1/j` or more: by 1, 2, 2.5, 2.83, ...
* With votes, any m_i epochs in a row show each vote of item i exactly once.
"""

from collections.abc import Iterator

import numpy as np

from hardlabels.delivery.base import Delivery
from hardlabels.randomness import stream
from hardlabels.votes import Votes

PARTS = 1 << 31
"""Probabilities become whole numbers of this many parts: right to 5e-10, and an epoch below 2^32 times a part fits 64 bits."""
BLOCK_ITEMS = 1 << 16
"""Labels are worked out for so many items at once: memory stays small beside the votes."""


def stratified_sls(votes: Votes, *, seed: int, epoch: int) -> np.ndarray:
    """(N,) labels, one per item; see the module's text for their law.

    >>> votes = Votes.from_probabilities([[0.25, 0.75]])
    >>> [sum(int(stratified_sls(votes, seed=0, epoch=t)[0]) for t in range(first, first + 8)) for first in (0, 1, 10**6)]
    [6, 6, 6]
    """
    return StratifiedSLS(votes, seed)(epoch)


class StratifiedSLS(Delivery):
    """``method=stratified_sls``: labels as random as SLS in each epoch, as even as multipass over epochs; from p alone."""

    def __init__(self, votes: Votes, seed: int):
        super().__init__(votes, seed)
        self._first, self._class, self._share, self._phase = _ranked(votes, stream(seed, "stratified_sls"))

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The labels of this epoch: every item asks its classes in turn."""
        labels = np.empty(len(self.votes), dtype=np.int64)
        whole = None if self.votes.has_votes else PARTS
        for start in range(0, len(labels), BLOCK_ITEMS):
            items = np.arange(start, min(start + BLOCK_ITEMS, len(labels)))
            run = self._first[items]
            left = np.full(len(items), whole) if whole else np.diff(self.votes.offsets[start : start + len(items) + 1])
            asked = np.full(len(items), epoch)
            while len(items):
                share = self._share[run].astype(np.int64)
                yes, rest = np.divmod(self._phase[run] + asked * share, left)
                chosen = rest + share >= left
                labels[items[chosen]] = self._class[run[chosen]]
                other = ~chosen
                items, run = items[other], run[other] + 1
                left, asked = (left - share)[other], (asked - yes)[other]
        return labels


def _ranked(votes: Votes, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The classes of each item by share, largest first, ties by class: (N,) where an item's begin; class, a and j of each."""
    largest = int(votes.sizes.max()) if votes.has_votes else PARTS
    dtype = np.min_scalar_type(largest)  # with votes a byte, mostly: one number per class and item has to be kept
    columns: list[list[np.ndarray]] = [[], [], [], []]
    total = 0
    for first, label, share in _shares(votes):
        item = np.repeat(np.arange(len(first), dtype=np.int32), np.diff(first, append=len(share)))
        order = np.lexsort((-share, item))  # stable, and an item's classes come in order
        label, share = label[order], share[order]
        before = np.cumsum(share) - share  # of earlier classes; and of earlier items, which is taken away again
        left = (np.add.reduceat(share, first) + before[first])[item] - before
        # floor(random * b) is uniform on 0 .. b - 1 up to 2^-53 b: nothing beside the 2^-31 of the parts.
        phase = (rng.random(len(left)) * left).astype(dtype)
        for column, part in zip(columns, (first + total, label, share.astype(dtype), phase), strict=True):
            column.append(part)
        total += len(share)
    # One column after the other leaves the list, so that no more than one is there twice.
    return tuple(np.concatenate(columns.pop(0)) for _ in range(4))  # type: ignore[return-value]


def _shares(votes: Votes) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Blocks of items: where each item's classes begin; the classes that it can show, in order; their whole-number shares."""
    if votes.has_votes:
        yield from ((first, label, count) for _, first, label, count in votes.runs())
        return
    small = np.min_scalar_type(votes.num_classes - 1)
    for lo in range(0, len(votes), step := max(4 * BLOCK_ITEMS // votes.num_classes, 1)):
        cdf = np.cumsum(votes.p[lo : lo + step], axis=1)
        # Edges are rounded, not shares: they sum to PARTS, and a class of probability 0 has none.
        parts = np.diff(np.rint(cdf / cdf[:, -1:] * PARTS).astype(np.int64), axis=1, prepend=0)
        item, label = np.nonzero(parts)
        yield np.searchsorted(item, np.arange(len(parts))), label.astype(small), parts[item, label]
