"""Entropy correlation against scipy, with the tie blocks that votes have."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax, softmax
from scipy.stats import entropy, spearmanr

from hardlabels.metrics.agreement import centred_ranks, correlation_of_ranks, ent_corr, spearman


@pytest.mark.parametrize("votes", [1, 3, 50])
def test_ent_corr_is_scipys_spearman(predictions, votes):
    logits, p = predictions(1000, votes=votes)
    p[:440] = np.eye(10)[p[:440].argmax(1)]  # 44 % unanimous
    p[-1] = 0.1  # so that votes=1 is not constant
    # Rounded, because scipy's entropy of permuted votes differs in the last digit, which would break the tie.
    expected = spearmanr(entropy(softmax(logits, axis=1), axis=1), entropy(p, axis=1).round(12)).statistic
    assert ent_corr(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=1e-12)


def test_permuted_votes_tie():
    rng = np.random.default_rng(0)
    votes = np.array([7, 3, 2, 1, 1, 0, 0]) / 14
    p = np.array([rng.permutation(votes) for _ in range(50)])
    assert math.isnan(ent_corr(log_softmax(rng.normal(size=p.shape), axis=1), p))


def test_without_an_order_there_is_no_correlation(predictions):
    logits, p = predictions(20)
    log_q = log_softmax(logits, axis=1)
    assert math.isnan(ent_corr(log_q, np.eye(10)[p.argmax(1)]))  # all unanimous
    assert math.isnan(ent_corr(np.repeat(log_q[:1], 20, axis=0), p))  # all predictions equal
    assert math.isnan(ent_corr(log_q[:1], p[:1]))  # one item


def test_the_same_order_is_one_and_the_opposite_minus_one():
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]])
    assert ent_corr(np.log(p), p) == pytest.approx(1.0)
    assert ent_corr(np.log(p[::-1]), p) == pytest.approx(-1.0)


def test_spearman_is_scipys_with_average_ranks():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 200), rng.normal(size=200)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert math.isnan(spearman(np.ones(5), y[:5]))
    assert math.isnan(spearman(x[:1], y[:1]))


def test_one_row_with_many_is_each_with_each():
    rng = np.random.default_rng(1)
    x, rows = rng.integers(0, 9, 100), np.vstack([rng.integers(0, 4, (5, 100)), np.ones((1, 100))])
    found = correlation_of_ranks(centred_ranks(x), centred_ranks(rows))
    assert found[:5].tolist() == [spearman(x, row) for row in rows[:5]]
    assert math.isnan(found[5])


@pytest.mark.parametrize("shape", [(1,), (7,), (50,), (4, 50)])
def test_ranks_are_scipys_less_their_mean(shape):
    x = np.random.default_rng(0).integers(0, 9, size=shape) / 8  # many ties
    np.testing.assert_array_equal(centred_ranks(x), stats.rankdata(x, axis=-1) - (shape[-1] + 1) / 2)


def test_a_row_with_a_value_that_is_no_number_has_no_ranks():
    x = np.array([[0.3, np.nan, 0.1], [0.3, 0.2, 0.1]])
    np.testing.assert_array_equal(centred_ranks(x), stats.rankdata(x, axis=-1) - 2)
    assert centred_ranks(np.empty(0)).shape == (0,)
