r"""Scale or information? Soft NLL after one temperature, which removes what is only the scale of the logits.

Divide all logits by one :math:`T > 0` (Guo et al. 2017, arXiv:1706.04599) and choose T where the soft NLL of *other* items is
least. With :math:`\beta = 1 / T` and logits :math:`z_i`,

.. math:: f(\beta) = \frac1N \sum_i \Big(\ln \sum_c e^{\beta z_{ic}} - \beta \sum_c p_{ic} z_{ic}\Big), \qquad
          f'(\beta) = \frac1N \sum_i \Big(\sum_c q_{ic}(\beta) z_{ic} - \sum_c p_{ic} z_{ic}\Big),

and f is convex, because f' is a mean of expectations that grow with :math:`\beta`: the minimum is where f' crosses 0, found by
Brent's method in float64. Multiplying all logits by a constant changes T by that constant and the score not at all. A difference
in soft NLL between two methods that is gone after each had its own temperature was a difference of scale, and one number fitted
afterwards buys it.

T is never fitted on the items that are scored. It comes from the selection items where a split has them
(:func:`soft_nll_after_temperature`). Where it has none, the evaluation items are halved and each half gets the temperature of the
other (:func:`cross_fitted`).
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import softmax

from hardlabels.errors import InputError
from hardlabels.metrics.collection import as_predictions, score
from hardlabels.randomness import stream

FLATTEST, SHARPEST = 1e-9, 1e3
"""Bounds of the search: between them lies the root mean square of the centred logits after division by T. A network has 1 to 10.

Two kinds of items have no least NLL inside and end at a bound: those predicted worse than by chance (f is least at uniform q, and
at the lower bound q is uniform to nine digits), and those that are unanimous and all predicted right (f falls for ever; at the
upper bound q is all on one class, unless two logits nearly tie). The bounds are in units of the logits themselves, so that
scaling them changes nothing there either.
"""


def fit_temperature(logits: npt.ArrayLike, p: npt.ArrayLike) -> float:
    """The T > 0 that minimises the soft NLL of ``logits / T``, between the bounds ``FLATTEST`` and ``SHARPEST``.

    On the items of the fit no T between the bounds is better, and T = 1 lies between them for all but absurdly saturated logits.

    An item with votes for a class of probability 0 (a logit of -inf) has an infinite NLL at every T and takes no part. T is 1
    where no T differs from another: every row of logits is constant, or no item takes part.

    Args:
        logits: (n, C) unnormalised log-probabilities.
        p: (n, C) annotator probabilities.

    Returns:
        NaN without items, and where a prediction is no distribution (NaN or +inf among the logits), as for every metric.

    Raises:
        InputError: as :func:`~hardlabels.metrics.collection.score`.

    >>> p = np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> round(fit_temperature(5 * np.log(p), p), 6)  # the annotators' own distributions, five times too sharp
    5.0
    """
    log_q, p = as_predictions(logits, p)
    if log_q is None:
        return float("nan")
    taking_part = np.isfinite(np.where(p > 0, log_q, 0.0)).all(1)
    z, p = log_q[taking_part], p[taking_part]
    possible = np.isfinite(z)  # a class of probability 0 stays one at every T
    z = np.where(possible, z, 0.0)
    z = np.where(possible, z - z.sum(1, keepdims=True) / possible.sum(1, keepdims=True), 0.0)
    largest = np.abs(z).max(initial=0.0)
    if not largest:
        return 1.0
    scale = largest * np.sqrt(np.square(z / largest).mean())  # squares of saturated logits would overflow
    z = z / scale
    at_votes = (p * z).sum(1)

    def slope(log_beta: float) -> float:
        q = softmax(np.where(possible, np.exp(log_beta) * z, -np.inf), axis=1)
        return float(((q * z).sum(1) - at_votes).mean())

    flattest, sharpest = np.log(FLATTEST), np.log(SHARPEST)
    if slope(flattest) >= 0:
        return float(scale / FLATTEST)
    if slope(sharpest) <= 0:
        return float(scale / SHARPEST)
    return float(scale / np.exp(brentq(slope, flattest, sharpest, xtol=1e-12)))


def soft_nll_after_temperature(logits: npt.ArrayLike, p: npt.ArrayLike, fit_logits: npt.ArrayLike, fit_p: npt.ArrayLike) -> float:
    """``soft_nll_t``: the soft NLL of ``logits / T``, with T fitted on other items.

    Args:
        logits: (N, C) of the items that are scored.
        p: (N, C) their annotator probabilities.
        fit_logits: (n, C) of the items that T is fitted on, by the same network.
        fit_p: (n, C) their annotator probabilities.

    Returns:
        NaN where either has no items, or a prediction that is no distribution.

    >>> p, fit_p = np.array([[0.6, 0.4]]), np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> round(soft_nll_after_temperature(5 * np.log(p), p, 5 * np.log(fit_p), fit_p), 6)  # T = 5 leaves H(0.6, 0.4)
    0.673012
    """
    return _soft_nll(np.asarray(logits, dtype=np.float64) / fit_temperature(fit_logits, fit_p), p)


def cross_fitted(logits: npt.ArrayLike, p: npt.ArrayLike, index: npt.ArrayLike) -> np.ndarray:
    """(N, C) logits over the temperature of the other half: for splits without selection items.

    A slice is scored by taking its rows of the result: its temperature is that of all items.

    Args:
        logits: (N, C) of the evaluation items.
        p: (N, C) their annotator probabilities.
        index: (N,) their positions in the data set, which decide the halves: see :func:`halves`.

    Returns:
        NaN throughout where N < 2, since there is no other half, and where a prediction is no distribution.

    >>> p = np.array([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5]])
    >>> np.exp(cross_fitted(5 * np.log(p), p, [7, 2, 3, 9])).round(6).tolist()
    [[0.8, 0.2], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5]]
    """
    logits, p = np.asarray(logits, dtype=np.float64), np.asarray(p, dtype=np.float64)
    first = halves(index)
    if logits.shape[:1] != first.shape:
        raise InputError(f"one position for each item is needed, got {len(first)} for logits of shape {logits.shape}")
    of_first, of_second = fit_temperature(logits[first], p[first]), fit_temperature(logits[~first], p[~first])
    return logits / np.where(first, of_second, of_first)[:, None]


def soft_nll_cross_fitted(logits: npt.ArrayLike, p: npt.ArrayLike, index: npt.ArrayLike) -> float:
    """``soft_nll_t`` without selection items: the soft NLL of :func:`cross_fitted` logits.

    >>> p = np.array([[0.8, 0.2], [0.3, 0.7]])
    >>> round(soft_nll_cross_fitted(0.1 * np.log(p), p, [0, 1]), 4)  # the mean entropy of p
    0.5556
    """
    return _soft_nll(cross_fitted(logits, p, index), p)


def halves(index: npt.ArrayLike) -> np.ndarray:
    """(N,) which items are in the first of two halves, whose sizes differ by one at most.

    A function of the set of positions: whatever the order of rows, the same for all methods and checkpoints on the same items.

    Raises:
        InputError: when a position comes twice, or they are not whole numbers in one row.

    >>> halves([4, 2, 9, 7]).tolist(), halves([7, 2, 9, 4]).tolist()
    ([False, False, True, True], [True, False, True, False])
    """
    index = np.asarray(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu") or len(np.unique(index)) < len(index):
        raise InputError(f"positions of items must be whole numbers, each once, got shape {index.shape}, type {index.dtype}")
    places = stream(0, "temperature halves", len(index)).permutation(len(index))
    return places[index.argsort().argsort()] < (len(index) + 1) // 2


def _soft_nll(logits: np.ndarray, p: npt.ArrayLike) -> float:
    return score(logits, p, ["soft_nll"])["soft_nll"]
