r"""What a perfect prediction would score: the entropy of the annotators, estimated from few votes per item.

The entropy of the shares :math:`n_c / m` of m votes is too low on average, by about :math:`(C - 1) / 2m` where m is large. Where
it is small the loss is large too: an item with three equal votes looks decided. A prediction of the true distributions therefore
scores worse, on the votes at hand, than the entropy of these votes. The jackknife that leaves out one vote at a time (Zahl 1977)
estimates what it would score; with three to six votes it is still too low, but by far less. ``hardlabels score`` shows another
number: what one more resampling of the votes moves each score by. That works for any score, but is too small where votes are few,
so nothing there is corrected by it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from hardlabels.votes import Votes

FEWEST = 2
"""Votes of an item from which on they can disagree."""


class Limit(NamedTuple):
    """The least soft NLL that a prediction can have.

    Attributes:
        floor: the mean entropy of the votes at hand: nobody can go below it, and where votes are few nobody can come near.
        reachable: the mean entropy of the annotators, estimated without the bias of few votes; the floor itself where
            probabilities are known; None where nothing tells it.
        votes: the mean number of votes per item that this rests on; None where no votes are at hand.
    """

    floor: float
    reachable: float | None = None
    votes: float | None = None


def jackknife_entropy(counts: np.ndarray) -> np.ndarray:
    r"""The entropy of each item's annotators by the jackknife: :math:`m H - (m - 1) \bar H_{-1}`, in nats.

    :math:`\bar H_{-1}` is the entropy without one vote, averaged over which one. With :math:`g(n) = n \ln n - (n - 1) \ln(n - 1)`
    that is :math:`g(m) - \sum_c \frac{n_c}{m} g(n_c)`. Meant for means over items: a single item may lie above ln C.

    Args:
        counts: (N, C) votes of each class, at least one per item.

    Returns:
        (N,) estimates; 0 where all votes agree.

    >>> jackknife_entropy(np.array([[2, 1], [5, 0]])).round(4).tolist()  # 3 H(1/3) - 2 * (2/3) ln 2
    [0.9853, 0.0]
    """
    sizes = counts.sum(1)
    return _added(sizes) - (counts * _added(counts)).sum(1) / sizes


def limit_of(votes: Votes, items: Sequence[np.ndarray]) -> Limit:
    """The least soft NLL on these items, on average over the sets of items.

    Items with a single vote cannot disagree with themselves, so the estimate is made of the others.

    Args:
        votes: of a data set.
        items: positions of the items, one array for each evaluation split.

    >>> votes = Votes.from_counts([[2, 1], [5, 0], [0, 1]])
    >>> [round(number, 4) for number in limit_of(votes, [np.array([0, 2]), np.array([1])])]
    [0.1591, 0.4927, 4.0]
    """
    floor = float(np.mean([votes.entropy[index].mean() for index in items]))
    if not votes.has_votes:
        return Limit(floor, floor)
    estimates, sizes = jackknife_entropy(votes.counts), votes.sizes
    kept = [found for index in items if len(found := index[sizes[index] >= FEWEST])]
    if not kept:
        return Limit(floor, None, 1.0)
    means = [(estimates[index].mean(), sizes[index].mean()) for index in kept]
    reachable, per_item = np.mean(means, axis=0).tolist()
    return Limit(floor, reachable, per_item)


def _added(n: np.ndarray) -> np.ndarray:
    """g(n) of :func:`jackknife_entropy`; 0 for 0 and 1."""
    before = np.maximum(n - 1, 0)
    return xlogy(n, n) - xlogy(before, before)
