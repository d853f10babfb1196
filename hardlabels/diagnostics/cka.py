r"""Linear centred kernel alignment (CKA): do two networks arrange the same images alike?

The products are those of features, d x d, never of items, n x n, and in float64. The plain estimator grows with d / n whatever
the networks do (two runs of different seeds share some 400 images, against 512 features); the debiased one does not.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hardlabels.diagnostics.items import item_slices, penultimate, shared_items
from hardlabels.runs.finished import FinishedRun


def linear_cka(x: np.ndarray, y: np.ndarray) -> float:
    r"""CKA :math:`\|Y^\top X\|_F^2 / (\|X^\top X\|_F \|Y^\top Y\|_F)` of centred features (Kornblith et al. 2019), in [0, 1].

    Unchanged by rotations and by one scale for all features; not by other linear maps. NaN where one side is constant.

    Args:
        x: (n, d) features.
        y: (n, e) features of the same items.

    >>> x = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
    >>> round(linear_cka(x, 5 * x[:, ::-1] + 1), 6)
    1.0
    """
    x, y = _centred(x), _centred(y)
    scale = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    return float(np.square(y.T @ x).sum() / scale) if scale else float("nan")


def debiased_cka(x: np.ndarray, y: np.ndarray) -> float:
    r"""CKA with the unbiased :math:`HSIC_1` (Song et al. 2012) in all three places; 0 on average for unrelated features.

    May fall below 0. NaN for fewer than four items, or where the features of a side vary too little to tell.

    >>> x = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0], [4.0, 1.0], [1.0, 1.0]])
    >>> round(debiased_cka(x, -2 * x), 6)
    1.0
    """
    if len(x) < 4:
        return float("nan")
    scale = hsic_1(x, x) * hsic_1(y, y)
    return float(hsic_1(x, y) / np.sqrt(scale)) if scale > 0 else float("nan")


def hsic_1(x: np.ndarray, y: np.ndarray) -> float:
    r"""Unbiased dependence of two linear kernels, from features alone. n >= 4.

    .. math:: HSIC_1 = \frac{1}{n(n-3)} \Bigl[ tr(\tilde K \tilde L)
        + \frac{1^\top \tilde K 1 \cdot 1^\top \tilde L 1}{(n-1)(n-2)} - \frac{2}{n-2} 1^\top \tilde K \tilde L 1 \Bigr]

    with :math:`\tilde K = XX^\top` and :math:`\tilde L = YY^\top` without their diagonals, :math:`k` and :math:`l`. Then
    :math:`tr(\tilde K \tilde L) = \|X^\top Y\|_F^2 - k \cdot l` and :math:`\tilde K 1 = X(X^\top 1) - k`: no n x n matrix.
    Centring the features leaves the value as it is (a term of i plus a term of j cancels) and saves digits.

    >>> x = np.array([[1.0], [0.0], [0.0], [0.0]])
    >>> round(hsic_1(x, x), 6)
    0.0
    """
    n, x, y = len(x), _centred(x), _centred(y)
    k, l = np.square(x).sum(1), np.square(y).sum(1)  # noqa: E741 - the diagonals of K and L
    k_sum, l_sum = x @ x.sum(0) - k, y @ y.sum(0) - l
    trace = np.square(x.T @ y).sum() - k @ l
    return float((trace + k_sum.sum() * l_sum.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (k_sum @ l_sum)) / (n * (n - 3)))


def cka(a: FinishedRun, b: FinishedRun, *, checkpoint: str, chunk: int, device: str) -> Iterator[tuple[str, Any]]:
    """CKA of the penultimate features of two networks, on the images that neither trained on.

    Args:
        a: a finished run.
        b: another one on the same data; the widths may differ.
        checkpoint: ``best`` or ``last``, of both.
        chunk: images at a time.
        device: where the features are computed; CKA itself is float64 on the CPU.

    Yields:
        ``<slice>/items``, ``<slice>/cka`` and ``<slice>/cka_debiased``; and ``features``, d of both networks.
    """
    items = shared_items(a, b)
    x, y = (penultimate(run, run.network(checkpoint, device), items, chunk=chunk) for run in (a, b))
    yield "features", [x.shape[1], y.shape[1]]
    for name, inside in item_slices(a, items).items():
        enough = int(inside.sum()) > 1
        yield f"{name}/items", int(inside.sum())
        yield f"{name}/cka", linear_cka(x[inside], y[inside]) if enough else None
        yield f"{name}/cka_debiased", debiased_cka(x[inside], y[inside])


def _centred(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, dtype=np.float64)
    return x - x.mean(0)
