"""The Brier decomposition against an explicit loop, and its identities."""

import numpy as np
import pytest
from scipy.special import log_softmax

from hardlabels.metrics.brier import brier_decomposition, brier_reliability, brier_resolution, brier_uncertainty
from hardlabels.metrics.scores import soft_brier


def loop(q, p):
    """Parts, and the score of the bin means, class by class and bin by bin; q has no ties."""
    n, classes = p.shape
    reliability = resolution = uncertainty = variance = covariance = binned_score = 0.0
    for c in range(classes):
        overall = sum(p[:, c]) / n
        for members in np.array_split(np.argsort(q[:, c]), 15):
            if not len(members):
                continue
            q_bin, p_bin = sum(q[members, c]) / len(members), sum(p[members, c]) / len(members)
            reliability += len(members) / n * (q_bin - p_bin) ** 2
            resolution += len(members) / n * (p_bin - overall) ** 2
            for i in members:
                uncertainty += (p[i, c] - overall) ** 2 / n
                variance += (q[i, c] - q_bin) ** 2 / n
                covariance += (q[i, c] - q_bin) * (p[i, c] - p_bin) / n
                binned_score += (q_bin - p[i, c]) ** 2 / n
    return (reliability, resolution, uncertainty, variance - 2 * covariance), binned_score


@pytest.mark.parametrize("n", [1, 10, 15, 100, 333])
def test_parts_are_those_of_the_loop(predictions, n):
    logits, p = predictions(n, classes=4, sharpness=2.0)
    log_q = log_softmax(logits, axis=1)
    parts = brier_decomposition(log_q, p)
    expected, binned_score = loop(np.exp(log_q), p)
    assert parts == pytest.approx(expected, abs=1e-12)
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(binned_score, abs=1e-12)


@pytest.mark.parametrize("digits", [1, 2, 16])
def test_parts_add_up_to_the_soft_brier_score_with_ties_and_without(predictions, digits):
    logits, p = predictions(400, classes=5)
    log_q = log_softmax(logits, axis=1).round(digits)  # no longer normalised, which the identity does not need
    reliability, resolution, uncertainty, within_bin = brier_decomposition(log_q, p)
    assert reliability - resolution + uncertainty + within_bin == pytest.approx(soft_brier(log_q, p), abs=1e-12)


def test_nothing_is_left_within_bins_of_single_items(predictions):
    logits, p = predictions(15)
    assert brier_decomposition(log_softmax(logits, axis=1), p).within_bin == pytest.approx(0.0, abs=1e-15)


def test_a_constant_prediction_has_no_resolution(predictions):
    _, p = predictions(100)
    parts = brier_decomposition(np.log(np.tile(p.mean(0) + 1e-300, (100, 1))), p)
    assert parts == pytest.approx((0.0, 0.0, parts.uncertainty, 0.0), abs=1e-12)
    assert parts.uncertainty == pytest.approx(p.var(0).sum())


def test_against_single_votes_uncertainty_is_the_textbooks(predictions):
    logits, p = predictions(200, votes=1)
    assert brier_uncertainty(logits, p) == pytest.approx((p.mean(0) * (1 - p.mean(0))).sum(), abs=1e-12)


def test_metrics_are_the_parts(predictions):
    logits, p = predictions(50)
    log_q = log_softmax(logits, axis=1)
    metrics = [metric(log_q, p) for metric in (brier_reliability, brier_resolution, brier_uncertainty)]
    assert tuple(metrics) == brier_decomposition(log_q, p)[:3]
