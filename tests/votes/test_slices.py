"""Slices: one definition, one threshold for the whole data set, ties never split."""

import math
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from scipy import stats

from hardlabels.votes import SLICES, Votes, slice_masks


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    p = np.where(rng.random((997, 1)) < 0.4, np.eye(5)[rng.integers(5, size=997)], rng.dirichlet(np.ones(5), size=997))
    return Votes.from_counts([rng.multinomial(rng.integers(20, 60), row) for row in p])


def loop_quantile(values, share):
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def test_names_and_shapes(votes):
    masks = slice_masks(votes)
    assert tuple(masks) == SLICES == ("full", "non_unanimous", "high_disagreement")
    assert all(mask.shape == (997,) and mask.dtype == bool for mask in masks.values())
    assert masks["full"].all()


def test_masks_are_those_of_a_loop(votes):
    masks = slice_masks(votes)
    entropy = [stats.entropy(row) for row in votes.counts]
    threshold = loop_quantile(entropy, 0.9)
    assert masks["non_unanimous"].tolist() == [bool((row > 0).sum() > 1) for row in votes.counts]
    assert masks["high_disagreement"].tolist() == [h >= threshold - 1e-9 for h in entropy]
    assert masks["high_disagreement"].sum() == 100  # of 997 distinct entropies


def test_probabilities_have_the_same_slices(votes):
    ours, theirs = slice_masks(votes), slice_masks(Votes.from_probabilities(votes.p))
    assert all((ours[name] == theirs[name]).all() for name in SLICES)


def test_the_threshold_belongs_to_the_data_set(votes):
    """Item order, and which items are looked at, do not matter: a part of the data set has no threshold of its own."""
    order = np.random.default_rng(1).permutation(997)
    high = slice_masks(votes)["high_disagreement"]
    assert (slice_masks(votes.take(order))["high_disagreement"] == high[order]).all()
    disputed_half = np.argsort(votes.entropy)[-500:]
    assert high[disputed_half].sum() == 100  # and not a tenth of 500


def test_a_tie_at_the_threshold_is_in_as_a_whole():
    rows = [[5, 0]] * 5 + [[4, 1]] * 10 + [[3, 2]] * 3
    assert slice_masks(Votes.from_counts(rows))["high_disagreement"].tolist() == [False] * 15 + [True] * 3
    rows = [[5, 0]] * 5 + [[4, 1]] * 13 + [[3, 2]] * 1
    assert slice_masks(Votes.from_counts(rows))["high_disagreement"].tolist() == [False] * 5 + [True] * 14


def test_a_tie_is_not_split_by_the_order_of_the_classes():
    """The same shares on other classes are the same disagreement, though their sums may differ in the last bit."""
    for multiset in combinations_with_replacement(range(8), 5):
        if sum(multiset) == 17:
            rows = sorted(set(permutations(multiset)))
            assert slice_masks(Votes.from_counts(rows))["high_disagreement"].all(), multiset
            assert slice_masks(Votes.from_probabilities(np.array(rows) / 17))["high_disagreement"].all(), multiset


def test_a_unanimous_item_is_never_high():
    masks = slice_masks(Votes.from_counts([[9, 0]] * 95 + [[8, 1]] * 3 + [[5, 4]] * 2))
    assert masks["high_disagreement"].tolist() == [False] * 95 + [True] * 5
    assert not slice_masks(Votes.from_counts([[9, 0]] * 4))["high_disagreement"].any()
    assert not slice_masks(Votes.from_counts([[9, 0]]))["non_unanimous"].any()
