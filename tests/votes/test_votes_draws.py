"""Draws and K-vote subsamples, by their laws: chi-square against the exact distribution, with fixed seeds."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from hardlabels.randomness import stream
from hardlabels.votes import Votes

ROWS = [[3, 0, 1, 0], [0, 0, 0, 7], [1, 1, 1, 1], [0, 50, 1, 0], [2, 3, 0, 4]]
TABLES = {"votes": Votes.from_counts(ROWS), "probabilities": Votes.from_probabilities(Votes.from_counts(ROWS).p)}
MANY = 20_000
JUST_BELOW_1 = np.nextafter(1.0, 0.0)


class Fixed:
    """Stands in for a generator that draws these numbers."""

    def __init__(self, u):
        self.u = np.asarray(u)

    def random(self, n):
        return np.broadcast_to(self.u, n).copy()


def chi_square(observed, expected):
    """P-value over the possible outcomes; an impossible outcome must not have occurred at all."""
    observed, expected = np.asarray(observed), np.asarray(expected)
    assert not observed[expected == 0].any()
    possible = expected > 0
    return stats.chisquare(observed[possible], expected[possible]).pvalue if possible.sum() > 1 else 1.0


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("item", range(len(ROWS)))
def test_draw_frequencies_are_p(kind, item):
    votes = TABLES[kind].take(np.full(MANY, item))
    labels = votes.draw(np.random.default_rng(item))
    assert labels.dtype == np.int64
    assert labels.shape == (MANY,)
    assert chi_square(np.bincount(labels, minlength=4), MANY * np.array(ROWS[item]) / sum(ROWS[item])) > 1e-3


@pytest.mark.parametrize("kind", TABLES)
def test_draw_is_the_inverse_distribution_function(kind):
    """Both tables turn the same uniform number into the same label: that of a loop."""
    u = np.random.default_rng(0).random(len(ROWS) * 200)
    labels = TABLES[kind].take(np.tile(np.arange(len(ROWS)), 200)).draw(Fixed(u))
    for number, label, row in zip(u, labels, ROWS * 200, strict=True):
        votes = [k for k, count in enumerate(row) for _ in range(count)]
        assert label == votes[int(number * len(votes))]


@pytest.mark.parametrize("kind", TABLES)
def test_neighbouring_items_are_drawn_independently(kind):
    labels = TABLES[kind].take(np.full(MANY, 4)).draw(np.random.default_rng(5))
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (labels[::2], labels[1::2]), 1)
    assert stats.chi2_contingency(pairs[np.ix_([0, 1, 3], [0, 1, 3])]).pvalue > 1e-3


@pytest.mark.parametrize("u", [0.0, 5e-324, 2.0**-53, 0.5, 1 - 2.0**-52, JUST_BELOW_1])
def test_extreme_numbers_never_pick_an_impossible_class(u):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(12, 0.3), size=3000) * (rng.random((3000, 12)) < 0.5)
    p = p[p.sum(1) > 0]
    p = np.concatenate(
        [p / p.sum(1, keepdims=True), [[0.1] * 10 + [0, 0]], [[0, 0] + [0.1] * 10], [[0, 1 / 3, 1 / 3, 1 / 3] + [0] * 8]]
    )
    labels = Votes.from_probabilities(p).draw(Fixed(u))
    assert (p[np.arange(len(p)), labels] > 0).all()


def test_extreme_numbers_pick_the_first_and_the_last_vote():
    rows = [[m // 2 + 1, 0, m] for m in range(1, 3000)]
    votes = Votes.from_counts(rows)
    assert set(votes.draw(Fixed(0.0))) == {0}
    assert set(votes.draw(Fixed(JUST_BELOW_1))) == {2}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("k", [1, 2, 5, 60])
def test_subsample_has_k_votes_an_item(kind, k):
    thin = TABLES[kind].take(np.tile(np.arange(len(ROWS)), 100)).subsample(k, seed=3)
    assert thin.has_votes
    assert thin.num_classes == 4
    assert (thin.sizes == k).all()
    assert (thin.counts.sum(1) == k).all()
    assert not thin.counts[np.tile(np.array(ROWS) == 0, (100, 1))].any()  # classes nobody chose
    for i in range(len(thin)):
        own = thin.labels[thin.offsets[i] : thin.offsets[i + 1]]
        assert own.tolist() == sorted(own)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(("item", "k"), [(4, 3), (2, 2), (0, 5)])
def test_subsample_is_multinomial(kind, item, k):
    counts = TABLES[kind].take(np.full(MANY, item)).subsample(k, seed=item).counts
    outcomes = [row for row in product(range(k + 1), repeat=4) if sum(row) == k]
    observed = [(counts == row).all(1).sum() for row in outcomes]
    pmf = stats.multinomial.pmf(outcomes, k, np.array(ROWS[item]) / sum(ROWS[item]))
    assert sum(observed) == MANY
    assert chi_square(observed, MANY * pmf) > 1e-3


@pytest.mark.parametrize("kind", TABLES)
def test_subsamples_of_different_k_and_seed_are_independent(kind):
    votes = TABLES[kind].take(np.full(MANY, 2))
    five, ten, other = (votes.subsample(k, seed=seed).counts[:, 0] for k, seed in ((5, 0), (10, 0), (5, 1)))
    assert (five > ten).any()  # not nested
    for a, b in ((five, ten), (five, other), (five[1:], five[:-1])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / np.sqrt(len(a))


@pytest.mark.parametrize("kind", TABLES)
def test_subsample_is_a_function_of_the_seed(kind):
    votes = TABLES[kind].take(np.full(50, 2))
    assert votes.subsample(5, seed=0).counts.tolist() == votes.subsample(5, seed=0).counts.tolist()
    assert votes.subsample(5, seed=0).counts.tolist() != votes.subsample(5, seed=1).counts.tolist()
    # Neither the labels of an epoch nor anything else drawn in between has a say.
    votes.draw(stream(0, "sls", 0))
    assert votes.subsample(5, seed=0).counts.tolist() == TABLES[kind].take(np.full(50, 2)).subsample(5, seed=0).counts.tolist()


def test_subsample_never_changes_between_versions():
    votes = Votes.from_counts([[2, 1, 0], [1, 1, 4], [0, 3, 3], [5, 0, 5]])
    assert votes.subsample(5, seed=0).counts.tolist() == [[1, 4, 0], [0, 1, 4], [0, 3, 2], [1, 0, 4]]


@pytest.mark.parametrize("c", [256, 300])
def test_subsample_of_many_classes(c):
    thin = Votes.from_probabilities(np.eye(c)[[0, c - 1]]).subsample(7, seed=0)
    assert thin.counts[[0, 1], [0, c - 1]].tolist() == [7, 7]
