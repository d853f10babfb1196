"""Multipass: every item shows its observed votes one after the other, one per epoch, round and round."""

import numpy as np

from hardlabels.delivery.base import Delivery, require
from hardlabels.randomness import stream
from hardlabels.votes import Votes
from hardlabels.votes.votes_table import blocks

LONG_ITEM = 512  # above this many votes an item is shuffled by itself, so that one huge item cannot cost a pass over all


def shuffle_votes(votes: Votes, rng: np.random.Generator) -> np.ndarray:
    """(V,) the votes with every item's own multiset in random order: Fisher-Yates on all items at once.

    Step j swaps place j of each item that has one with a uniform place 0 .. j. One step per place, not per item: linear in the
    number of votes, with no key per vote; and block by block, so that it needs little more than the copy of the votes.
    """
    sequence = votes.labels.copy()
    for lo, hi in blocks(votes.offsets):
        start, size = votes.offsets[lo:hi], np.diff(votes.offsets[lo : hi + 1])
        for item in np.flatnonzero(size > LONG_ITEM):
            rng.shuffle(sequence[start[item] : start[item] + size[item]])
        short = np.flatnonzero(size <= LONG_ITEM)
        by_size = short[np.argsort(size[short], kind="stable")]
        first, sizes = start[by_size], size[by_size]
        for j in range(int(sizes[-1]) - 1 if len(sizes) else 0, 0, -1):
            longer = first[np.searchsorted(sizes, j, side="right") :]  # items with a place j
            here, there = longer + j, longer + (rng.random(len(longer)) * (j + 1)).astype(np.int64)
            sequence[here], sequence[there] = sequence[there], sequence[here]
    return sequence


def multipass(votes: Votes, *, seed: int, epoch: int, seed_offset: int = 0) -> np.ndarray:
    r"""(N,) labels :math:`seq_i[t \bmod m_i]`, where seq_i is the multiset of item i's votes, shuffled once.

    A cycle of m_i epochs shows each vote exactly once; an epoch has N examples, always. Counting the votes over a cycle gives
    back p_i without any sampling error.

    >>> votes = Votes.from_counts([[2, 1]])
    >>> sorted(int(multipass(votes, seed=0, epoch=t)[0]) for t in range(3))
    [0, 0, 1]
    """
    return Multipass(votes, seed, seed_offset)(epoch)


class Multipass(Delivery):
    """``method=multipass``; ``method=deterministic_control`` is the same class with ``seed_offset=1000``: another vote order."""

    needs_votes = True

    def __init__(self, votes: Votes, seed: int, seed_offset: int = 0):
        super().__init__(votes, seed)
        require(isinstance(seed_offset, int) and seed_offset >= 0, "method.seed_offset", "an integer, at least 0", seed_offset)
        self._sequence = shuffle_votes(votes, stream(seed + seed_offset, "multipass"))

    def in_epoch(self, epoch: int) -> np.ndarray:
        """Place t mod m_i of each item's own sequence."""
        return self._sequence[self.votes.offsets[:-1] + epoch % self.votes.sizes].astype(np.int64)
