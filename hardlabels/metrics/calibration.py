"""Calibration of the top confidence: does a model that is 80 % sure agree with the majority label in 80 % of the items?"""

import numpy as np
from scipy.fft import dct

from hardlabels.metrics.scores import is_correct

BINS = 15


def top_label(log_q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Confidence max_c q_ic and correctness (0 or 1) of each item, both (N,) float64.

    >>> top_label(np.log([[0.25, 0.75]]), np.array([[0.6, 0.4]]))
    (array([0.75]), array([0.]))
    """
    return np.exp(log_q.max(1)), is_correct(log_q, p).astype(np.float64)


# ---- equal-mass bins ----


def equal_mass_bins(forecast: np.ndarray, outcome: np.ndarray, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items sorted by forecast, and where each of the bins of equal size begins.

    As ``np.array_split`` does, the first N mod bins bins take one item more. With N < bins every item is its own bin.

    Items of equal forecast may fall on both sides of an edge. They then share their mean outcome, that is, each is spread over
    the bins its ties occupy: the result does not depend on the order of rows (and so not on how processes divided them).

    Args:
        forecast: (..., N) what to sort by, N >= 1; each row by itself.
        outcome: (..., N) what came.
        bins: how many, at least 1.

    Returns:
        sorted forecasts (..., N), their outcomes (..., N) with ties averaged, the index (min(bins, N),) at which each bin begins.

    >>> equal_mass_bins(np.array([0.9, 0.5, 0.5]), np.array([1.0, 0.0, 1.0]), bins=2)
    (array([0.5, 0.5, 0.9]), array([0.5, 0.5, 1. ]), array([0, 2]))
    """
    order = np.argsort(forecast)
    forecast, outcome = np.take_along_axis(forecast, order, -1), np.take_along_axis(outcome, order, -1)
    tie = np.flatnonzero(np.diff(forecast, prepend=-np.inf))  # where a run of equal forecasts begins, rows laid end to end
    size = np.diff(tie, append=forecast.size)
    outcome = np.repeat(np.add.reduceat(outcome.ravel(), tie) / size, size).reshape(outcome.shape)
    n = forecast.shape[-1]
    bins = min(bins, n)
    index = np.arange(bins)
    return forecast, outcome, index * (n // bins) + np.minimum(index, n % bins)


def ece_eqmass(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Expected calibration error of the top confidence over 15 bins of equal mass, in [0, 1]; 0 is calibrated.

    .. math:: \sum_b \frac{n_b}{N} \, |\text{mean confidence}_b - \text{accuracy}_b|

    Bins, ties and N < 15 are those of :func:`equal_mass_bins`.

    >>> q, p = np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> ece_eqmass(np.log(q), p)  # two items, two bins: (|0.75 - 1| + |0.5 - 0|) / 2
    0.375
    """
    confidence, correct, start = equal_mass_bins(*top_label(log_q, p))
    # The bin's weight n_b cancels the n_b of its two means.
    return float(np.abs(np.add.reduceat(confidence - correct, start)).sum() / len(confidence))


# ---- smooth ECE ----


def smooth_ece(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Smooth ECE of the top confidence, as ``relplot.smECE`` computes it by default; in [0, 1], 0 is calibrated.

    With confidence :math:`f_i`, residual :math:`r_i = f_i - \text{correct}_i` and a Gaussian kernel :math:`K_\sigma` reflected at
    0 and 1,

    .. math:: smECE_\sigma = \int_0^1 \Big|\frac1N \sum_i r_i K_\sigma(t, f_i)\Big| \, dt,

    taken at the width where :math:`smECE_\sigma = \sigma` (Blasiok and Nakkiran 2023, arXiv:2309.12236): bins without edges, and
    without a number of bins to choose. See :func:`smooth_ece_at` for the discretisation.

    relplot's defaults, kept: no logit scaling; the width by 10 bisections of [0, 1], so known to 1/1024 and not below 0.001; the
    value is taken at the upper end of the last interval.

    >>> log_q, p = np.log([[0.8, 0.2]] * 5), np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]])
    >>> round(smooth_ece(log_q, p), 6), round(smooth_ece(log_q[:4], p[:4]), 6)  # 80 % sure; right in 4 of 5, then in 4 of 4
    (0.0, 0.2)
    """
    confidence, correct = top_label(log_q, p)
    residual = confidence - correct
    lower, upper = 0.0, 1.0
    for _ in range(10):
        width = (lower + upper) / 2
        if width < 0.001 or width < smooth_ece_at(confidence, residual, width):
            lower = width
        else:
            upper = width
    return smooth_ece_at(confidence, residual, upper)


def smooth_ece_at(confidence: np.ndarray, residual: np.ndarray, width: float) -> float:
    """Smooth ECE at one kernel width: relplot's discretisation, with its convolution done by cosine transforms.

    Residuals are put on a grid (each divided between its two neighbours), smoothed, read off on a mesh, and divided by the items'
    own density on that mesh. Grid: 1000 intervals, or 10 / width where that is finer; mesh: 200 points, or 10 / width; the kernel
    ends at a distance of 0.5. Reflection at 0 and 1 is what a cosine transform does, in O(G log G); relplot convolves in O(G^2).

    A bias of relplot, kept so that values compare with those others report: its reflection does not repeat the end points of the
    grid, so an item loses weight inside the last interval, down to a half at confidence 1. Where many confidences are above 0.999
    the other items weigh more, and an overconfident model reads higher than the formula says: 0.29 for 0.25 in
    ``test_saturated_predictions_read_high``. :func:`ece_eqmass` has no such bias.

    Args:
        confidence: (N,) in [0, 1].
        residual: (N,) confidence minus correctness.
        width: the kernel's standard deviation, above 0.

    >>> round(smooth_ece_at(np.array([0.6, 0.6]), np.array([0.6, -0.4]), 0.1), 6)  # residuals at one place add up before | |
    0.1
    """
    grid = max(2000, round(20 / width)) // 2
    place = confidence * grid
    left = np.minimum(place.astype(np.int64), grid - 1)
    share = place - left
    on_grid = [
        np.bincount(left, (1 - share) * mass, grid + 1) + np.bincount(left + 1, share * mass, grid + 1)
        for mass in (residual, np.ones_like(residual))
    ]
    distance = np.arange(grid + 1) / grid
    kernel = np.where(distance <= 0.5, np.exp(-np.square(distance / width) / 2), 0.0)
    smooth = dct(dct(on_grid, type=1) * dct(kernel, type=1), type=1)
    mesh = np.linspace(0, 1, max(round(10 / width), 200))
    gap, density = (np.interp(mesh, distance, values) for values in smooth)
    return float(np.abs(gap).sum() / density.sum())
