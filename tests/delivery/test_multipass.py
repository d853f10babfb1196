"""Multipass: each cycle shows each vote once, every order is equally likely, and the control differs in the order only."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from hardlabels.delivery.multipass import Multipass, multipass, shuffle_votes
from hardlabels.randomness import stream
from hardlabels.votes import Votes

# Where an item counts as long: none, all with more than 2 votes, all with more than 6, every one.
LONG = pytest.mark.parametrize("long_item", [512, 6, 2, 0])


@pytest.fixture(scope="module")
def ragged():
    rng = np.random.default_rng(0)
    return Votes.from_counts([rng.multinomial(m, rng.dirichlet(np.ones(4))) for m in [1, 7, 2, 63, 5, 1, 47, 12, 3, 7, 600]])


def shown(delivery, item, start, stop):
    return [int(delivery(epoch)[item]) for epoch in range(start, stop)]


@LONG
def test_every_cycle_shows_every_vote_once(ragged, monkeypatch, long_item):
    monkeypatch.setattr("hardlabels.delivery.multipass.LONG_ITEM", long_item)
    delivery = Multipass(ragged, seed=4)
    epochs = np.stack([delivery(epoch) for epoch in range(700)])  # beyond the longest cycle of any item
    for i, m in enumerate(ragged.sizes[:-1]):
        votes = Counter(ragged.labels[ragged.offsets[i] : ragged.offsets[i + 1]].tolist())
        for start in range(len(epochs) - m):  # any m epochs in a row, not only whole cycles
            assert Counter(epochs[start : start + m, i].tolist()) == votes
        assert (epochs[m:, i] == epochs[:-m, i]).all()  # and the order stays
    assert np.bincount(shown(delivery, 10, 0, 600), minlength=4).tolist() == ragged.counts[10].tolist()


def test_a_cycle_counts_to_p_exactly(ragged):
    delivery = Multipass(ragged, seed=0)
    for i, m in enumerate(ragged.sizes[:5]):
        assert (np.bincount(shown(delivery, i, m, 2 * m), minlength=4) / m).tolist() == ragged.p[i].tolist()


@LONG
def test_all_orders_are_equally_likely(monkeypatch, long_item):
    """The 24 orders of four votes, with items of other sizes in between."""
    monkeypatch.setattr("hardlabels.delivery.multipass.LONG_ITEM", long_item)
    votes = Votes.from_counts([[1, 1, 1, 1], [2, 0, 5, 1], [0, 3, 0, 0], [1, 0, 0, 0]] * 4000)
    sequence = shuffle_votes(votes, stream(0, "test"))
    orders = Counter(tuple(sequence[start : start + 4].tolist()) for start in votes.offsets[:-1:4])
    assert stats.chisquare([orders[order] for order in permutations(range(4))]).pvalue > 1e-3
    assert sum(orders.values()) == 4000


@LONG
def test_all_orders_are_equally_likely_over_seeds_and_items_are_independent(monkeypatch, long_item):
    monkeypatch.setattr("hardlabels.delivery.multipass.LONG_ITEM", long_item)
    votes, all_orders, seeds = Votes.from_counts([[1, 1, 1], [1, 1, 1], [2, 1, 0]]), list(permutations(range(3))), 3000
    table, repeated = np.zeros((6, 6)), Counter()
    for seed in range(seeds):
        delivery = Multipass(votes, seed)
        epochs = np.stack([delivery(epoch) for epoch in range(3)]).T.tolist()
        table[all_orders.index(tuple(epochs[0])), all_orders.index(tuple(epochs[1]))] += 1
        repeated[tuple(epochs[2])] += 1
    assert stats.chisquare(table.sum(1)).pvalue > 1e-3
    assert stats.chisquare(table.sum(0)).pvalue > 1e-3
    assert stats.chi2_contingency(table).pvalue > 1e-3
    assert set(repeated) == {(0, 0, 1), (0, 1, 0), (1, 0, 0)}  # equal votes cannot be told apart: three orders
    assert stats.chisquare(list(repeated.values())).pvalue > 1e-3


def test_each_epoch_alone_follows_p():
    """At any fixed epoch the label of an item is a uniform one of its votes, over the seeds."""
    votes = Votes.from_counts([[6, 3, 1]] * 5000)
    for epoch in (0, 4, 9, 23):
        observed = np.bincount(multipass(votes, seed=2, epoch=epoch), minlength=3)
        assert stats.chisquare(observed, [3000, 1500, 500]).pvalue > 1e-3


def test_shuffling_leaves_the_table_alone(ragged):
    before = ragged.labels.copy()
    shuffled = shuffle_votes(ragged, stream(0, "test"))
    assert shuffled is not ragged.labels
    assert (ragged.labels == before).all()
    assert shuffled.dtype == ragged.labels.dtype


def test_the_control_differs_in_the_order_only(ragged):
    plain, control = Multipass(ragged, seed=3), Multipass(ragged, seed=3, seed_offset=1000)
    differing = 0
    for i, m in enumerate(ragged.sizes):
        one, other = shown(plain, i, 0, m), shown(control, i, 0, m)
        assert sorted(one) == sorted(other)
        differing += one != other
    assert differing >= 5


def test_the_control_is_multipass_with_another_seed(ragged):
    control, other_seed = Multipass(ragged, seed=3, seed_offset=1000), Multipass(ragged, seed=1003)
    for epoch in (0, 1, 5, 100):
        np.testing.assert_array_equal(control(epoch), other_seed(epoch))
        np.testing.assert_array_equal(control(epoch), multipass(ragged, seed=3, epoch=epoch, seed_offset=1000))


def test_labels_never_change_between_versions():
    votes = Votes.from_counts([[2, 1, 0], [1, 1, 4], [0, 3, 3], [5, 0, 5]])
    assert [multipass(votes, seed=1, epoch=t).tolist() for t in range(3)] == [[0, 2, 1, 2], [0, 1, 2, 2], [1, 2, 1, 0]]
