"""The one list of metrics: name, formula, direction, label. Every table, log key and torchmetrics class takes them from here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.metrics.agreement import ent_corr
from hardlabels.metrics.brier import brier_reliability, brier_resolution, brier_uncertainty
from hardlabels.metrics.calibration import ece_eqmass, ece_votes, smooth_ece
from hardlabels.metrics.scale import manhattan, wasserstein
from hardlabels.metrics.scores import hard_acc, kl_to_annotator, soft_brier, soft_nll
from hardlabels.metrics.together import Annotators, score_together


@dataclass(frozen=True)
class MetricSpec:
    """What is known about a metric.

    Attributes:
        function: (log_q, p), both (N, C) float64 with N >= 1, to a number.
        higher_is_better: the better direction; None for a property of the data.
        label: its name in tables and figures.
    """

    function: Callable[[np.ndarray, np.ndarray], float]
    higher_is_better: bool | None
    label: str


METRICS: dict[str, MetricSpec] = {
    "soft_nll": MetricSpec(soft_nll, False, "soft NLL"),
    "kl_to_annotator": MetricSpec(kl_to_annotator, False, "KL to annotators"),
    "soft_brier": MetricSpec(soft_brier, False, "soft Brier"),
    "hard_acc": MetricSpec(hard_acc, True, "accuracy"),
    "ece_eqmass": MetricSpec(ece_eqmass, False, "ECE (equal mass)"),
    "ece_votes": MetricSpec(ece_votes, False, "ECE against votes"),
    "smooth_ece": MetricSpec(smooth_ece, False, "smooth ECE"),
    "ent_corr": MetricSpec(ent_corr, True, "entropy correlation"),
    "brier_reliability": MetricSpec(brier_reliability, False, "Brier reliability"),
    "brier_resolution": MetricSpec(brier_resolution, True, "Brier resolution"),
    "brier_uncertainty": MetricSpec(brier_uncertainty, None, "Brier uncertainty"),
}

SCALE_METRICS: dict[str, MetricSpec] = {
    "manhattan": MetricSpec(manhattan, False, "Manhattan distance"),
    "wasserstein": MetricSpec(wasserstein, False, "Wasserstein distance"),
}
"""What a run has in addition where its source says that the classes are ordered: in ``result.json``, not in every epoch."""

EVERY_METRIC = METRICS | SCALE_METRICS


def metric_names(*, ordered: bool) -> list[str]:
    """The metrics of a data set whose classes are ordered (a scale of ratings), or are not.

    >>> [name for name in metric_names(ordered=True) if name not in metric_names(ordered=False)]
    ['manhattan', 'wasserstein']
    """
    return [*METRICS, *(SCALE_METRICS if ordered else ())]


def score(logits: npt.ArrayLike, p: npt.ArrayLike, names: Iterable[str] | None = None) -> dict[str, float]:
    """Every metric, or those named, of predictions against annotator distributions, whose inputs are checked here.

    Every value is NaN when there are no items (a slice may be empty) and when a prediction is no distribution (NaN or +inf among
    the logits): a diverged run must not show an accuracy. A logit of -inf is a probability of 0 and is allowed.

    Args:
        logits: (N, C) unnormalised log-probabilities; ``log(q)`` where only probabilities are known.
        p: (N, C) annotator probabilities, rows summing to 1 within 1e-4.
        names: keys of ``EVERY_METRIC``; None for all of ``METRICS``.

    Returns:
        name to value, in the order asked for.

    Raises:
        InputError: on an unknown name, on shapes that differ, or on rows of p that are no distribution.

    >>> score([[0.0, 0.0]], [[0.5, 0.5]], ["soft_brier", "hard_acc"])
    {'soft_brier': 0.0, 'hard_acc': 1.0}
    """
    names = list(METRICS if names is None else names)
    for name in names:
        if name not in EVERY_METRIC:
            raise InputError(f"metric must be one of {', '.join(EVERY_METRIC)}, got {name!r}")
    log_q, p = as_predictions(logits, p)
    if log_q is None:
        return dict.fromkeys(names, float("nan"))
    known = score_together(log_q, Annotators.of(p)) if set(METRICS) <= set(names) else {}
    return {name: known[name] if name in known else EVERY_METRIC[name].function(log_q, p) for name in names}


def as_predictions(logits: npt.ArrayLike, p: npt.ArrayLike) -> tuple[np.ndarray | None, np.ndarray]:
    """(N, C) log-probabilities and annotator probabilities in float64, checked as :func:`score` says.

    The first is None where there is nothing to score: no items, or a prediction that is no distribution.

    >>> as_predictions([[0.0, 0.0]], [[1, 0]])[0].round(4).tolist(), as_predictions([[np.nan, 0.0]], [[1, 0]])[0]
    ([[-0.6931, -0.6931]], None)
    """
    logits, p = np.asarray(logits, dtype=np.float64), np.asarray(p, dtype=np.float64)
    if logits.ndim != 2 or logits.shape != p.shape or not logits.shape[1]:
        raise InputError(f"logits and p must both be items x classes, got shapes {logits.shape} and {p.shape}")
    p, log_q = as_distributions(p), log_probabilities(logits)
    return (None if not len(log_q) or np.isnan(log_q).any() else log_q), p


def as_distributions(p: np.ndarray) -> np.ndarray:
    """The (N, C) annotator probabilities themselves, once every row was seen to be a distribution.

    Raises:
        InputError: names the first row that is none.
    """
    proper = (p >= 0).all(1) & (np.abs(p.sum(1) - 1) <= 1e-4)  # false for NaN too
    if not proper.all():
        row = int(proper.argmin())
        raise InputError(f"p must have rows of probabilities that sum to 1; row {row} is {p[row].tolist()}")
    return p


def log_probabilities(logits: np.ndarray) -> np.ndarray:
    """(N, C) float64 logits to log-probabilities, each row by itself; NaN in a row whose logits have NaN or +inf.

    >>> log_probabilities(np.zeros((1, 2))).round(4).tolist()
    [[-0.6931, -0.6931]]
    """
    with np.errstate(invalid="ignore"):  # inf - inf; the NaN it gives is the answer
        return log_softmax(logits, axis=1)
