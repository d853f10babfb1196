"""Every metric of one set of predictions at once: what several of them need is computed once.

A metric by itself is a function of (log_q, p) in one of the sibling files. A run scores thousands of sets of a few hundred items,
every epoch on every slice, and the annotators' side of a set is the same in all epochs. The building blocks are those of the
functions, so the values are too, bit for bit (``tests/metrics/test_together.py``).
"""

from typing import NamedTuple

import numpy as np

from hardlabels.metrics.agreement import centred_ranks, correlation_of_ranks
from hardlabels.metrics.brier import brier_uncertainty, means_of_bins, reliability_and_resolution
from hardlabels.metrics.calibration import equal_mass_bins, gap_in_bins, smooth_gap
from hardlabels.metrics.scores import soft_brier, soft_nll
from hardlabels.votes.distances import entropy


class Annotators(NamedTuple):
    """What people said about N items, as the metrics need it, whatever is predicted."""

    p: np.ndarray  # (N, C) float64
    majority: np.ndarray  # (N,) the top class of each item
    mean_entropy: float
    uncertainty: float  # the variance of p
    ranks: np.ndarray  # (N,) of their entropies, centred

    @classmethod
    def of(cls, p: np.ndarray) -> "Annotators":
        """From (N, C) probabilities, N >= 1.

        >>> Annotators.of(np.array([[0.0, 1.0], [0.5, 0.5]])).ranks.tolist()
        [-0.5, 0.5]
        """
        undecided = entropy(p)
        return cls(p, p.argmax(1), float(undecided.mean()), brier_uncertainty(p, p), centred_ranks(undecided))


def score_together(log_q: np.ndarray, annotators: Annotators) -> dict[str, float]:
    """Every metric of ``METRICS``, by name, in that order.

    Args:
        log_q: (N, C) log-probabilities in float64, N >= 1.
        annotators: of the same items.

    >>> values = score_together(np.log([[0.25, 0.75]]), Annotators.of(np.array([[0.5, 0.5]])))
    >>> values["soft_brier"], values["hard_acc"], values["ece_votes"]
    (0.125, 0.0, 0.25)
    """
    p = annotators.p
    top, confidence, q = log_q.argmax(1), np.exp(log_q.max(1)), np.exp(log_q)
    right = top == annotators.majority
    correct, share = right.astype(np.float64), p[np.arange(len(p)), top]
    nll = soft_nll(log_q, p)
    # All that is binned, a row each: the confidence with what came and with the votes, then the forecasts of every class.
    forecast, outcome, start = equal_mass_bins(np.vstack([confidence, confidence, q.T]), np.vstack([correct, share, p.T]))
    gap, gap_to_votes = gap_in_bins(forecast[:2], outcome[:2], start).tolist()
    reliability, resolution = reliability_and_resolution(means_of_bins(forecast[2:], outcome[2:], start), p)
    return {
        "soft_nll": nll,
        "kl_to_annotator": nll - annotators.mean_entropy,
        "soft_brier": soft_brier(log_q, p),
        "hard_acc": float(right.mean()),
        "ece_eqmass": gap,
        "ece_votes": gap_to_votes,
        "smooth_ece": smooth_gap(confidence, confidence - correct),
        "ent_corr": float(correlation_of_ranks(centred_ranks(entropy(q)), annotators.ranks)),
        "brier_reliability": reliability,
        "brier_resolution": resolution,
        "brier_uncertainty": annotators.uncertainty,
    }
