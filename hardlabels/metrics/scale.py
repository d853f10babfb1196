"""Distances between predicted and annotated distributions, as the shared task LeWiDi 2025 ranks by.

Conventions for ``log_q`` and ``p`` as in ``scores``.
"""

import numpy as np

from hardlabels.votes.distances import l1_distance, wasserstein_distance


def manhattan(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Mean Manhattan distance :math:`\frac1N \sum_i \sum_c |q_{ic} - p_{ic}|`, in [0, 2]; 0 for q = p.

    >>> manhattan(np.log([[0.25, 0.75]]), np.array([[0.5, 0.5]]))
    0.5
    """
    return float(l1_distance(np.exp(log_q), p).mean())


def wasserstein(log_q: np.ndarray, p: np.ndarray) -> float:
    """Mean :func:`~hardlabels.votes.distances.wasserstein_distance` of q_i and p_i, in steps of the scale, in [0, C - 1].

    >>> wasserstein(np.log([[0.25, 0.25, 0.5]]), np.array([[1.0, 0.0, 0.0]]))  # a quarter moves one step, a half two
    1.25
    """
    return float(wasserstein_distance(np.exp(log_q), p).mean())
