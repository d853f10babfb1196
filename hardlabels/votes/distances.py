"""How undecided a label distribution is, and how far two are from each other, item by item."""

import numpy as np
from scipy.special import rel_entr, xlogy


def entropy(p: np.ndarray) -> np.ndarray:
    r"""Entropy :math:`H(p_i) = -\sum_c p_{ic} \ln p_{ic}` of each item, in nats.

    Args:
        p: (N, C) probabilities.

    Returns:
        (N,) values in [0, ln C]; exactly 0 where one class has everything.

    >>> entropy(np.array([[0.5, 0.5], [0.0, 1.0]])).round(4).tolist()
    [0.6931, 0.0]
    """
    # Summed in order of size: equal votes for other classes must give the same last digit, or a rank correlation loses the tie.
    p = np.sort(p, axis=1)
    return np.maximum(-xlogy(p, p).sum(1), 0.0)


def js_distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    r"""Jensen-Shannon distance :math:`\sqrt{\tfrac12 KL(p\|m) + \tfrac12 KL(q\|m)}`, :math:`m = (p+q)/2`, in nats.

    Args:
        p: (..., C) probabilities.
        q: (..., C) probabilities.

    Returns:
        (...) distances in [0, sqrt(ln 2)]. The square is the divergence; the root is a metric, and scipy's convention.

    >>> js_distance(np.array([1.0, 0.0]), np.array([0.0, 1.0])).round(4)  # sqrt(ln 2)
    np.float64(0.8326)
    """
    m = (p + q) / 2
    divergence = (rel_entr(p, m) + rel_entr(q, m)).sum(-1) / 2
    return np.sqrt(np.maximum(divergence, 0.0))


def l1_distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    r"""L1 error :math:`\sum_c |p_c - q_c|`, in [0, 2]; half of it is the total variation.

    >>> l1_distance(np.array([0.5, 0.5]), np.array([0.8, 0.2])).round(6)
    np.float64(0.6)
    """
    return np.abs(p - q).sum(-1)


def wasserstein_distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    r"""Wasserstein (earth mover's) distance on an ordered scale: :math:`\sum_{k < C} |\sum_{c \le k} (p_c - q_c)|`.

    Neighbouring classes are one step apart, so the value is the mean number of steps that votes have to be moved to make one
    distribution the other. That is what the shared task LeWiDi 2025 ranks by. It has a meaning for ordered classes only.

    Args:
        p: (..., C) probabilities, the classes in the order of their scale.
        q: (..., C) probabilities.

    Returns:
        (...) distances in [0, C - 1].

    >>> wasserstein_distance(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.5, 0.5]))  # half moves one step, half two
    np.float64(1.5)
    """
    return np.abs(np.cumsum(p - q, axis=-1)[..., :-1]).sum(-1)
