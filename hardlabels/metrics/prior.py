"""The baseline that has seen no input: the class shares of the training votes, predicted for every item."""

from collections.abc import Iterable

import numpy as np

from hardlabels.metrics.collection import score

PRIOR = "prior"
"""Its name in ``result.json``, in records and in tables."""


def class_shares(p: np.ndarray) -> np.ndarray:
    r"""(C,) the prior :math:`q = \frac1N \sum_i p_i` of N training items: the constant prediction with the lowest soft NLL there.

    A class without any vote would have a share of 0, and an infinite soft NLL as soon as an evaluation item has such a vote. Only
    then one more item, with all classes equally likely, is counted in.

    Args:
        p: (N, C) the distributions that training sees, with N at least 1.

    >>> class_shares(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    >>> class_shares(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])).tolist()
    [0.875, 0.125]
    """
    shares = p.mean(0)
    if not shares.all():
        shares = (p.sum(0) + 1 / p.shape[1]) / (len(p) + 1)
    return shares


def score_prior(shares: np.ndarray, p: np.ndarray, names: Iterable[str] | None = None) -> dict[str, float]:
    """Every metric of the class shares as the prediction for all of these items. The entropy correlation of a constant is NaN.

    Args:
        shares: (C,) what :func:`class_shares` gives.
        p: (n, C) the annotators' distributions of the evaluation items.
        names: of metrics, as :func:`~hardlabels.metrics.collection.score` takes them.

    >>> round(score_prior(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.3, 0.7]]))["soft_nll"], 4)  # ln 2
    0.6931
    """
    return score(np.broadcast_to(np.log(shares), p.shape), p, names)
