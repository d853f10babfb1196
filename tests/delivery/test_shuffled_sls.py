"""Shuffled SLS: all distributions are kept, their match with the items is gone, and the rest is SLS."""

import numpy as np
import pytest
from scipy import stats

from hardlabels.delivery.shuffled_sls import ShuffledSLS, shuffle_items, shuffled_sls
from hardlabels.delivery.sls import SLS, sls
from hardlabels.votes import Votes

N = 400
TABLES = {"votes": Votes.from_counts([[i, N - i] for i in range(N)])}  # every item has a distribution of its own
TABLES["probabilities"] = Votes.from_probabilities(TABLES["votes"].p)


@pytest.mark.parametrize("kind", TABLES)
def test_the_distributions_are_kept_and_their_places_are_not(kind):
    votes = TABLES[kind]
    shuffled = shuffle_items(votes, seed=0)
    assert sorted(shuffled.p.tolist()) == sorted(votes.p.tolist())
    assert (shuffled.p == votes.p).all(1).sum() <= 5
    assert abs(np.corrcoef(shuffled.p[:, 0], votes.p[:, 0])[0, 1]) < 4.5 / np.sqrt(N)


def test_the_permutation_is_uniform():
    """One fixed point on average, whatever N; and all six orders of three items equally often."""
    seeds = 300
    fixed = [(shuffle_items(TABLES["votes"], seed=seed).p == TABLES["votes"].p).all(1).sum() for seed in range(seeds)]
    assert abs(np.mean(fixed) - 1) < 4.5 / np.sqrt(seeds)
    three = Votes.from_counts([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    orders = np.unique([shuffle_items(three, seed=seed).majority for seed in range(3000)], axis=0, return_counts=True)[1]
    assert len(orders) == 6
    assert stats.chisquare(orders).pvalue > 1e-3


@pytest.mark.parametrize("kind", TABLES)
def test_then_it_is_sls(kind):
    votes, seed = TABLES[kind], 5
    delivery, plain = ShuffledSLS(votes, seed, hold=3), SLS(shuffle_items(votes, seed=seed), seed, hold=3)
    for epoch in (0, 1, 2, 3, 50):  # one permutation for all epochs
        np.testing.assert_array_equal(delivery(epoch), plain(epoch))
        np.testing.assert_array_equal(delivery(epoch), shuffled_sls(votes, seed=seed, epoch=epoch, hold=3))


def test_labels_follow_the_borrowed_distribution_and_not_their_own():
    delivery = ShuffledSLS(TABLES["votes"], 0)
    share = np.mean([delivery(epoch) == 0 for epoch in range(1500)], axis=0)
    borrowed = shuffle_items(TABLES["votes"], seed=0).p[:, 0]
    z = (share - borrowed)[borrowed > 0] / np.sqrt(borrowed * (1 - borrowed) / 1500)[borrowed > 0]
    assert 1e-3 < stats.chi2.sf((z**2).sum(), df=len(z)) < 1 - 1e-3
    assert np.abs(share - TABLES["votes"].p[:, 0]).mean() > 0.25


def test_the_marginal_over_items_is_that_of_sls():
    votes = TABLES["votes"]
    ours, theirs = (np.mean([method(votes, seed=0, epoch=t) for t in range(500)]) for method in (shuffled_sls, sls))
    spread = np.sqrt((votes.p[:, 0] * votes.p[:, 1]).sum()) / N / np.sqrt(500)
    assert abs(ours - votes.p[:, 1].mean()) < 4.5 * spread
    assert abs(theirs - votes.p[:, 1].mean()) < 4.5 * spread
