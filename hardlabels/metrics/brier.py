"""Where the soft Brier score comes from: reliability, resolution, uncertainty."""

from typing import NamedTuple

import numpy as np

from hardlabels.metrics.calibration import equal_mass_bins


class BrierParts(NamedTuple):
    """The parts of :func:`brier_decomposition`; reliability - resolution + uncertainty + within_bin is the soft Brier score."""

    reliability: float
    resolution: float
    uncertainty: float
    within_bin: float


def brier_decomposition(log_q: np.ndarray, p: np.ndarray) -> BrierParts:
    r"""Murphy's decomposition of the soft Brier score: each class by itself, then summed over classes.

    For class c the items are sorted by q_c into 15 bins of equal mass by ``equal_mass_bins``, ties included. With bin means
    :math:`\bar q_{bc}, \bar p_{bc}`, bin weights :math:`w_b = n_b / N` and the overall mean :math:`\bar p_c`,

    - reliability :math:`\sum_c \sum_b w_b (\bar q_{bc} - \bar p_{bc})^2`, in [0, 2]: less is better, 0 is calibrated;
    - resolution :math:`\sum_c \sum_b w_b (\bar p_{bc} - \bar p_c)^2`, in [0, uncertainty]: more is better;
    - uncertainty :math:`\sum_c \frac1N \sum_i (p_{ic} - \bar p_c)^2`, in [0, 1): the data's, no model changes it.

    What is exact: reliability - resolution + uncertainty is the soft Brier score *of the bin means*, with :math:`\bar q_{bc}` in
    place of :math:`q_{ic}`. The score of q itself adds the variance of q inside bins, less twice its covariance with p
    (Stephenson et al. 2008): :math:`\text{within} = \sum_c \frac1N \sum_i \delta_{ic} (\delta_{ic} - 2 (p_{ic} - \bar p_{bc}))`,
    :math:`\delta_{ic} = q_{ic} - \bar q_{bc}`. It is 0 when q is constant inside each bin, so also when N <= 15.

    The outcome is the distribution p, not a single vote. Against a drawn vote, score and uncertainty would both rise by
    :math:`\frac1N \sum_i \sum_c p_{ic}(1 - p_{ic})`, and uncertainty would be the textbook
    :math:`\sum_c \bar p_c (1 - \bar p_c)`.

    Args:
        log_q: (N, C) log-probabilities.
        p: (N, C) annotator probabilities.

    >>> q, p = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> brier_decomposition(np.log(q), p)  # a class: reliability 1/16, resolution and uncertainty 1/4
    BrierParts(reliability=0.125, resolution=0.5, uncertainty=0.5, within_bin=0.0)
    """
    n, bins = len(p), bin_means(log_q, p)
    reliability, resolution = reliability_and_resolution(bins, p)
    delta = bins.q - np.repeat(bins.mean_q, bins.size, axis=1)
    return BrierParts(
        reliability=reliability,
        resolution=resolution,
        uncertainty=brier_uncertainty(log_q, p),
        within_bin=float((delta * (delta - 2 * (bins.outcome - np.repeat(bins.mean_p, bins.size, axis=1)))).sum() / n),
    )


class Bins(NamedTuple):
    """Each class's items in bins of equal mass by their q."""

    q: np.ndarray  # (C, N) sorted
    outcome: np.ndarray  # (C, N) their p, ties averaged
    size: np.ndarray  # (B,) items of each bin
    mean_q: np.ndarray  # (C, B)
    mean_p: np.ndarray  # (C, B)


def bin_means(log_q: np.ndarray, p: np.ndarray) -> Bins:
    """The bins of :func:`brier_decomposition`, a row for each class.

    >>> bin_means(np.log([[0.75, 0.25], [0.25, 0.75]]), np.array([[1.0, 0.0], [0.0, 1.0]])).mean_p.tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    return means_of_bins(*equal_mass_bins(np.exp(log_q).T, p.T))  # (C, N): a row is a class


def means_of_bins(q: np.ndarray, outcome: np.ndarray, start: np.ndarray) -> Bins:
    """The means of what :func:`~hardlabels.metrics.calibration.equal_mass_bins` returns for (C, N) forecasts."""
    size = np.diff(np.append(start, q.shape[1]))
    return Bins(q, outcome, size, np.add.reduceat(q, start, axis=1) / size, np.add.reduceat(outcome, start, axis=1) / size)


def reliability_and_resolution(bins: Bins, p: np.ndarray) -> tuple[float, float]:
    """The two parts of :func:`brier_decomposition` that follow from the means of the bins."""
    reliability = (np.square(bins.mean_q - bins.mean_p) @ bins.size).sum() / len(p)
    resolution = (np.square(bins.mean_p - p.mean(0)[:, None]) @ bins.size).sum() / len(p)
    return float(reliability), float(resolution)


def brier_reliability(log_q: np.ndarray, p: np.ndarray) -> float:
    """The reliability of :func:`brier_decomposition`."""
    return brier_decomposition(log_q, p).reliability


def brier_resolution(log_q: np.ndarray, p: np.ndarray) -> float:
    """The resolution of :func:`brier_decomposition`."""
    return brier_decomposition(log_q, p).resolution


def brier_uncertainty(log_q: np.ndarray, p: np.ndarray) -> float:
    """The uncertainty of :func:`brier_decomposition`: the variance of p, whatever was predicted."""
    return float(p.var(axis=0).sum())
