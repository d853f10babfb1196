"""Calibration of the top confidence: does a model that is 80 % sure agree with the majority label in 80 % of the items?

Or with 80 % of the votes? :func:`ece_votes` asks that. Where annotators disagree the two contradict each other: about an item
with 60 % of its votes for one class the annotators' own distribution is 60 % sure, and by the majority label it is always right.
"""

import math
from functools import cache, lru_cache, partial

import numpy as np
from scipy.fft import dct

from hardlabels.metrics.scores import is_correct

BINS = 15
STEPS = 1024
"""Widths of the smooth ECE that are told apart: ten bisections of [0, 1]."""
GUESSES = 5
"""Steps of its search that follow a guess; those after them halve what is left, so that there are 15 at most."""


def top_label(log_q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Confidence max_c q_ic and correctness (0 or 1) of each item, both (N,) float64.

    >>> top_label(np.log([[0.25, 0.75]]), np.array([[0.6, 0.4]]))
    (array([0.75]), array([0.]))
    """
    return np.exp(log_q.max(1)), is_correct(log_q, p).astype(np.float64)


def top_share(log_q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Confidence max_c q_ic and the share of votes for that class of each item, both (N,) float64.

    >>> top_share(np.log([[0.25, 0.75]]), np.array([[0.6, 0.4]]))
    (array([0.75]), array([0.4]))
    """
    return np.exp(log_q.max(1)), np.take_along_axis(p, log_q.argmax(1)[:, None], axis=1)[:, 0]


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
    begins = np.ones(forecast.shape, dtype=bool)
    np.not_equal(forecast[..., 1:], forecast[..., :-1], out=begins[..., 1:])
    tie = np.flatnonzero(begins)  # where a run of equal forecasts begins, rows laid end to end
    size = np.diff(np.append(tie, forecast.size))
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
    return binned_gap(*top_label(log_q, p))


def ece_votes(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Calibration against people: confidence against the share of votes for the predicted class, in [0, 1]; 0 is calibrated.

    .. math:: \sum_b \frac{n_b}{N} \, |\text{mean}_b \, q_{i \hat c_i} - \text{mean}_b \, p_{i \hat c_i}|,
              \qquad \hat c_i = \arg\max_c q_{ic}

    :func:`ece_eqmass` with the share of votes in place of 0 or 1: the outcome is a vote drawn for the item, averaged over the
    draw before the gap is taken. The annotators' own distribution, q = p, has 0; against the majority label it does not.
    Bins, ties and N < 15 are those of :func:`equal_mass_bins`; a tie in q goes to the lowest class.

    >>> p = np.array([[0.6, 0.4], [0.3, 0.7]])
    >>> ece_votes(np.log(p), p), round(ece_eqmass(np.log(p), p), 6)  # q = p; the majority label is right in both items
    (0.0, 0.35)
    """
    return binned_gap(*top_share(log_q, p))


def binned_gap(confidence: np.ndarray, outcome: np.ndarray) -> float:
    r"""The gap between mean confidence and mean outcome in bins of equal mass, :math:`\sum_b n_b |gap_b| / N`.

    >>> binned_gap(np.array([0.75, 0.5]), np.array([1.0, 0.0]))  # two items, two bins: (0.25 + 0.5) / 2
    0.375
    """
    return float(gap_in_bins(*equal_mass_bins(confidence, outcome)))


def gap_in_bins(confidence: np.ndarray, outcome: np.ndarray, start: np.ndarray) -> np.ndarray:
    """:func:`binned_gap` of what :func:`equal_mass_bins` returns: (...) values for (..., N) confidences, each row by itself."""
    # The bin's weight n_b cancels the n_b of its two means.
    return np.abs(np.add.reduceat(confidence - outcome, start, axis=-1)).sum(-1) / confidence.shape[-1]


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
    return smooth_gap(confidence, confidence - correct)


def smooth_gap(confidence: np.ndarray, residual: np.ndarray) -> float:
    """:func:`smooth_ece` of (N,) confidences and their residuals: at the width that is equal to the value.

    Ten bisections of [0, 1] end at the narrowest width k / 1024 that is not below its value. A wider kernel smooths more, so
    there is one such k. The value at the width before is a good guess of it: about three steps find it instead of ten, and with
    it the same number to the last bit (``test_the_search_ends_where_ten_bisections_end``).

    >>> round(smooth_gap(np.full(4, 0.8), np.full(4, -0.2)), 6)  # always right at 80 %
    0.2
    """
    on_grid = cache(partial(_on_grid, confidence, residual))  # most widths share a grid
    below, enough = 1, STEPS  # k = 1 is a width below 0.001, where relplot does not look
    found: dict[int, float] = {}
    guess = abs(float(residual.mean()))  # the value at an endless width
    while enough - below > 1:
        k = math.ceil(guess * STEPS) if len(found) < GUESSES else (below + enough) // 2
        k = min(max(k, below + 1), enough - 1)
        guess = found[k] = _smoothed(on_grid(_intervals(k / STEPS)), k / STEPS)
        if k / STEPS < guess:
            below = k
        else:
            enough = k
    return found[enough] if enough in found else _smoothed(on_grid(_intervals(1.0)), 1.0)


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
    return _smoothed(_on_grid(confidence, residual, _intervals(width)), width)


def _intervals(width: float) -> int:
    """Of the grid for a kernel of this width."""
    return max(2000, round(20 / width)) // 2


def _on_grid(confidence: np.ndarray, residual: np.ndarray, grid: int) -> np.ndarray:
    """(2, grid + 1) cosine transforms of the residuals and of the items, both put on the grid."""
    place = confidence * grid
    left = np.minimum(place.astype(np.int64), grid - 1)
    share = place - left
    on_grid = [
        np.bincount(left, (1 - share) * mass, grid + 1) + np.bincount(left + 1, share * mass, grid + 1)
        for mass in (residual, np.ones_like(residual))
    ]
    return dct(on_grid, type=1)


@lru_cache(maxsize=256)  # bisections meet at the same widths again and again, 1,023 at most; about 30 kB each
def _kernel(width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grid's points, the cosine transform of the kernel on them, and the mesh on which the result is read off."""
    grid = _intervals(width)
    distance = np.arange(grid + 1) / grid
    kernel = np.where(distance <= 0.5, np.exp(-np.square(distance / width) / 2), 0.0)
    return distance, dct(kernel, type=1), np.linspace(0, 1, max(round(10 / width), 200))


def _smoothed(on_grid: np.ndarray, width: float) -> float:
    """Smooth ECE at one width, from what :func:`_on_grid` gives for its grid."""
    distance, kernel, mesh = _kernel(width)
    smooth = dct(on_grid * kernel, type=1)
    gap, density = (np.interp(mesh, distance, values) for values in smooth)
    return float(np.abs(gap).sum() / density.sum())
