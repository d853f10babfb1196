"""Is the model unsure about the items that annotators disagreed on?"""

import numpy as np
from scipy.stats import rankdata

from hardlabels.votes.distances import entropy


def ent_corr(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Spearman correlation of predictive entropy :math:`H(q_i)` and annotator entropy :math:`H(p_i)`, in [-1, 1].

    Pearson correlation of ranks; ties get their average rank (unanimous items, 44 % of CIFAR-10H, are one large tie). NaN when
    there are fewer than two items or one side is constant: no order, no correlation.

    >>> q = np.array([[0.9, 0.1], [0.7, 0.3], [0.5, 0.5]])
    >>> p = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])  # two unanimous items: ranks 1.5, 1.5, 3
    >>> round(ent_corr(np.log(q), p), 4)  # sqrt(3) / 2
    0.866
    """
    model, annotators = rankdata(entropy(np.exp(log_q))), rankdata(entropy(p))
    # Ranks 1 .. N have this mean whatever the ties; it is a multiple of 1/2, so a constant side is exactly 0 after subtraction.
    centre = (len(p) + 1) / 2
    model, annotators = model - centre, annotators - centre
    scale = np.sqrt(np.square(model).sum() * np.square(annotators).sum())
    return float((model * annotators).sum() / scale) if scale else float("nan")
