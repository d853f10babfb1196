"""The class shares as a prediction, against plain arithmetic and against every other constant."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from hardlabels.metrics import METRICS
from hardlabels.metrics.prior import class_shares, score_prior


def test_no_constant_prediction_has_a_lower_soft_nll_on_the_training_items():
    p = np.random.default_rng(0).dirichlet([0.5, 1.0, 2.0, 0.2], size=200)
    best = minimize(lambda logits: -(p @ np.log(softmax(logits))).mean(), np.zeros(4), tol=1e-12)
    np.testing.assert_allclose(class_shares(p), softmax(best.x), atol=1e-4)
    assert score_prior(class_shares(p), p)["soft_nll"] == pytest.approx(best.fun, abs=1e-8)


def test_every_metric_by_hand():
    shares, p = np.array([0.2, 0.5, 0.3]), np.array([[1.0, 0.0, 0.0], [0.25, 0.25, 0.5], [0.0, 1.0, 0.0]])
    scores = score_prior(shares, p)
    assert list(scores) == list(METRICS)
    assert scores["soft_nll"] == pytest.approx(np.mean([-(row * np.log(shares)).sum() for row in p]))
    assert scores["soft_brier"] == pytest.approx(np.mean([((row - shares) ** 2).sum() for row in p]))
    assert scores["hard_acc"] == pytest.approx(1 / 3)  # always class 1
    assert np.isnan(scores["ent_corr"])


def test_a_class_that_nobody_voted_for_in_training_costs_a_finite_amount():
    p = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    shares = class_shares(p)
    np.testing.assert_allclose(shares, (p.sum(0) + 1 / 3) / 3)
    assert np.isfinite(score_prior(shares, np.array([[0.0, 0.0, 1.0]]))["soft_nll"])


def test_a_slice_without_items_has_no_score():
    assert all(np.isnan(value) for value in score_prior(np.array([0.5, 0.5]), np.zeros((0, 2))).values())
