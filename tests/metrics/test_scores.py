"""Scores against scipy, scikit-learn and plain loops."""

import math

import numpy as np
import pytest
from scipy.special import log_softmax, rel_entr, softmax
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error

from hardlabels.metrics.scores import hard_acc, is_correct, kl_to_annotator, soft_brier, soft_nll
from hardlabels.votes import entropy


def test_soft_nll_is_the_double_loop(predictions):
    logits, p = predictions(40)
    total = 0.0
    for z, row in zip(logits, p, strict=True):
        normaliser = math.log(math.fsum(math.exp(value) for value in z))
        total += math.fsum(-share * (value - normaliser) for value, share in zip(z, row, strict=True))
    assert soft_nll(log_softmax(logits, axis=1), p) == pytest.approx(total / 40, abs=1e-12)


def test_soft_nll_of_unanimous_votes_is_sklearns_log_loss(predictions):
    logits, p = predictions(200, votes=1)
    expected = log_loss(p.argmax(1), softmax(logits, axis=1), labels=range(10))
    assert soft_nll(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=1e-12)


def test_kl_is_scipys_relative_entropy(predictions):
    logits, p = predictions(200)
    expected = rel_entr(p, softmax(logits, axis=1)).sum(1).mean()
    assert kl_to_annotator(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=1e-12)


def test_soft_brier_is_sklearns_squared_error_summed_over_classes(predictions):
    logits, p = predictions(200)
    q = softmax(logits, axis=1)
    assert soft_brier(np.log(q), p) == pytest.approx(10 * mean_squared_error(p, q), abs=1e-12)


def test_hard_acc_is_sklearns_accuracy(predictions):
    logits, p = predictions(200, votes=7)
    assert hard_acc(log_softmax(logits, axis=1), p) == accuracy_score(p.argmax(1), logits.argmax(1))


def test_ties_go_to_the_lowest_class_on_both_sides():
    p = np.array([[0.0, 0.5, 0.5], [0.4, 0.2, 0.4]])
    assert is_correct(np.log(np.full((2, 3), 1 / 3)), p).tolist() == [False, True]


def test_entropy_is_scipys_and_exactly_zero_for_unanimous_items(predictions):
    _, p = predictions(300)
    np.testing.assert_allclose(entropy(p), scipy_entropy(p, axis=1), atol=1e-12)
    assert (entropy(np.eye(10)) == 0).all()


def test_entropy_does_not_depend_on_which_class_got_the_votes():
    p = np.array([7, 3, 2, 1, 1, 0, 0]) / 14
    rng = np.random.default_rng(0)
    assert len({float(entropy(rng.permutation(p)[None])[0]) for _ in range(200)}) == 1


def test_a_voted_class_with_vanishing_probability_costs_a_finite_amount():
    logits, p = np.array([[0.0, 2000.0]]), np.array([[1.0, 0.0]])
    assert softmax(logits, axis=1)[0, 0] == 0  # in probabilities the information is gone
    assert soft_nll(log_softmax(logits, axis=1), p) == 2000.0


def test_probability_zero_costs_nothing_without_votes_and_everything_with_them():
    log_q = np.array([[0.0, -np.inf]])
    assert soft_nll(log_q, np.array([[1.0, 0.0]])) == 0.0
    assert soft_nll(log_q, np.array([[0.5, 0.5]])) == np.inf
