"""Is the model unsure about the items that annotators disagreed on? And correlations of ranks, which answer it: one owner."""

import numpy as np

from hardlabels.votes.distances import entropy


def centred_ranks(x: np.ndarray) -> np.ndarray:
    """Ranks along the last axis, ties at their average rank, minus their mean.

    Ranks 1 .. n have the mean (n + 1) / 2 whatever the ties. It is a multiple of 1/2, so a constant row is exactly 0. The
    ranks are those of ``scipy.stats.rankdata``, which takes longer for a few hundred items; a row with a NaN is all NaN.

    >>> centred_ranks(np.array([[5.0, 7.0, 7.0], [1.0, 1.0, 1.0]])).tolist()
    [[-1.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    """
    order = np.argsort(x, axis=-1)
    ordered, n = np.take_along_axis(x, order, -1), x.shape[-1]
    begins = np.ones(x.shape, dtype=bool)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=begins[..., 1:])
    first = np.flatnonzero(begins)  # where a run of equal values begins, rows laid end to end
    size = np.diff(np.append(first, x.size))
    ranks = np.empty(x.shape)
    np.put_along_axis(ranks, order, np.repeat(first % n + (size - n) / 2, size).reshape(x.shape), -1)
    ranks[np.isnan(ordered[..., -1:]).any(-1)] = np.nan  # NaN is sorted last
    return ranks


def correlation_of_ranks(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pearson correlation of centred ranks: of one row with one or with many.

    Args:
        a: (n,) centred ranks.
        b: (n,) or (rows, n) centred ranks.

    Returns:
        () or (rows,) in [-1, 1]; NaN where either side is constant.
    """
    scale = np.sqrt(np.square(a).sum() * np.square(b).sum(-1))
    return np.divide(b @ a, scale, out=np.full(np.shape(scale), np.nan), where=scale > 0)


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman correlation: Pearson's of the ranks, ties at their average rank. NaN for fewer than two items or a constant side.

    >>> round(spearman(np.array([0.0, 0.0, 2.0]), np.array([1.0, 5.0, 9.0])), 4)  # sqrt(3) / 2
    0.866
    """
    return float(correlation_of_ranks(centred_ranks(x), centred_ranks(y)))


def ent_corr(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Spearman correlation of predictive entropy :math:`H(q_i)` and annotator entropy :math:`H(p_i)`, in [-1, 1].

    Ties get their average rank (unanimous items, 44 % of CIFAR-10H, are one large tie). NaN when there are fewer than two items
    or one side is constant: no order, no correlation.

    >>> q = np.array([[0.9, 0.1], [0.7, 0.3], [0.5, 0.5]])
    >>> p = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])  # two unanimous items: ranks 1.5, 1.5, 3
    >>> round(ent_corr(np.log(q), p), 4)  # sqrt(3) / 2
    0.866
    """
    return spearman(entropy(np.exp(log_q)), entropy(p))
