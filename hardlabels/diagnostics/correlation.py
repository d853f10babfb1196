"""Correlations that probes report: of maps pixel by pixel, and of ranks given a third quantity."""

import numpy as np

from hardlabels.metrics.agreement import spearman

CONSTANT = 1e-6
"""A map whose values differ by less than this share of their largest is constant up to float32 rounding."""


def pearson(x: np.ndarray, y: np.ndarray, constant: float = 0.0) -> np.ndarray:
    r"""Pearson correlation of each row, :math:`r_i = \hat x_i \cdot \hat y_i` with rows centred and scaled to length 1.

    Args:
        x: (n, m).
        y: (n, m).
        constant: a row whose range is at most this share of its largest absolute value has no correlation.

    Returns:
        (n,) float64 in [-1, 1]; NaN where either row is constant.

    >>> pearson(np.array([[1, 2, 3], [1, 2, 3], [1, 1, 1]]), np.array([[2, 4, 6], [0, -1, -2], [1, 2, 3]])).round(6).tolist()
    [1.0, -1.0, nan]
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    usable = np.ones(len(x), dtype=bool)
    for rows in (x, y):
        usable &= np.ptp(rows, axis=1) > constant * np.abs(rows).max(1)
    r = np.full(len(x), np.nan)
    x, y = (rows[usable] - rows[usable].mean(1, keepdims=True) for rows in (x, y))
    r[usable] = (x * y).sum(1) / (np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1))
    return r


def partial_spearman(x: np.ndarray, y: np.ndarray, given: np.ndarray) -> float:
    r"""Rank correlation of x and y that ``given`` does not explain, in [-1, 1].

    :math:`(\rho_{xy} - \rho_{xz}\rho_{yz}) / \sqrt{(1 - \rho_{xz}^2)(1 - \rho_{yz}^2)}`: Pearson's partial correlation of ranks.
    The plain correlation where ``given`` is constant; NaN where it orders x or y completely.

    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> round(partial_spearman(x, x[::-1], np.array([1.0, 4.0, 2.0, 3.0])), 4)
    -1.0
    """
    xy, xz, yz = spearman(x, y), spearman(x, given), spearman(y, given)
    if len(x) > 1 and np.ptp(given) == 0:
        return xy
    rest = (1 - xz**2) * (1 - yz**2)
    return (xy - xz * yz) / rest**0.5 if rest > 1e-12 else float("nan")
