"""Shuffled SLS: the control that keeps all distributions and breaks the match between an item and its own."""

import numpy as np

from hardlabels.delivery.sls import SLS, sls
from hardlabels.randomness import stream
from hardlabels.votes import Votes


def shuffle_items(votes: Votes, *, seed: int) -> Votes:
    """One permutation of the p_i over the items, made before training: the marginal stays, the mapping goes.

    >>> votes = Votes.from_counts([[5, 0], [0, 4], [2, 1]])
    >>> sorted(shuffle_items(votes, seed=0).counts.tolist()) == sorted(votes.counts.tolist())
    True
    """
    return votes.take(stream(seed, "shuffled_sls").permutation(len(votes)))


def shuffled_sls(votes: Votes, *, seed: int, epoch: int, hold: int = 1) -> np.ndarray:
    """(N,) SLS labels of the permuted distributions."""
    return sls(shuffle_items(votes, seed=seed), seed=seed, epoch=epoch, hold=hold)


class ShuffledSLS(SLS):
    """``method=shuffled_sls``: permutes once, then is SLS."""

    def __init__(self, votes: Votes, seed: int, hold: int = 1):
        super().__init__(shuffle_items(votes, seed=seed), seed, hold)
