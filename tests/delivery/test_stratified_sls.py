"""Stratified SLS: each epoch is a draw from p, and every window of epochs follows p closer than SLS does.

Where the phases are few enough they are all enumerated, so that means and variances are exact; else seeds and items are drawn.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from hardlabels.delivery.sls import SLS
from hardlabels.delivery.stratified_sls import PARTS, StratifiedSLS, stratified_sls
from hardlabels.errors import InputError
from hardlabels.votes import Votes

HARMONIC = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, 200))])  # sum of 1/j, j < k, for rank k = 1, 2, ...


def by_hand(counts, phases, epochs):
    """The labels of one item as a loop over epochs that counts what it has shown: no closed form, only a state."""
    order = sorted(range(len(counts)), key=lambda c: (-counts[c], c))
    order = [c for c in order if counts[c]]
    left = [sum(counts[c] for c in order[k:]) for k in range(len(order))]
    level = list(phases)  # the fill of each class's bucket: a vote's worth goes in when it is asked, b comes out when it says yes
    labels = []
    for _ in range(epochs):
        for k, c in enumerate(order):
            level[k] += counts[c]
            if level[k] >= left[k]:
                level[k] -= left[k]
                labels.append(c)
                break
    return labels


def all_phases(counts):
    """Every choice of phases of an item, all equally likely."""
    order = sorted((c for c in counts if c), reverse=True)
    return list(product(*(range(sum(order[k:])) for k in range(len(order)))))


def history(delivery, epochs):
    return np.stack([delivery(epoch) for epoch in range(epochs)])


def window_counts(labels, n, c):
    """(T - n + 1, N) how often class c is shown in each window of n epochs."""
    total = np.concatenate([np.zeros((1, labels.shape[1]), dtype=int), np.cumsum(labels == c, axis=0)])
    return total[n:] - total[:-n]


ITEMS = [[3, 2], [1, 1], [4, 1], [2, 2, 1], [3, 1, 1], [1, 1, 1], [2, 1, 1, 1], [5, 0, 2]]


@pytest.mark.parametrize("counts", ITEMS, ids=str)
def test_the_closed_form_is_a_loop_that_counts(counts):
    """And every phase there is, is drawn by some seed, as often as any other."""
    votes, epochs = Votes.from_counts([counts] * 600), 3 * sum(counts)
    possible = {tuple(by_hand(counts, phases, epochs)) for phases in all_phases(counts)}
    drawn = [tuple(column) for column in history(StratifiedSLS(votes, 0), epochs).T.tolist()]
    assert set(drawn) <= possible
    weights = {path: sum(tuple(by_hand(counts, ph, epochs)) == path for ph in all_phases(counts)) for path in possible}
    expected = np.array([weights[path] for path in sorted(possible)]) * 600 / len(all_phases(counts))
    observed = [drawn.count(path) for path in sorted(possible)]
    assert expected.min() < 5 or stats.chisquare(observed, expected).pvalue > 1e-4


@pytest.mark.parametrize("counts", ITEMS, ids=str)
def test_in_every_epoch_the_label_is_a_draw_from_p_exactly(counts):
    paths = np.array([by_hand(counts, phases, 25) for phases in all_phases(counts)])
    for c, count in enumerate(counts):
        for share in (paths == c).sum(0):
            assert Fraction(int(share), len(paths)) == Fraction(count, sum(counts))


@pytest.mark.parametrize("counts", ITEMS, ids=str)
def test_exact_mean_squared_error_is_below_that_of_sls_in_every_window(counts):
    paths = np.array([by_hand(counts, phases, 40) for phases in all_phases(counts)]).T
    for c, count in enumerate(counts):
        p = count / sum(counts)
        for n in range(2, 21):
            errors = (window_counts(paths, n, c) - n * p) ** 2
            assert (errors.mean(1) <= (1 + np.pi**2 / 6) / 4).all()
            assert p in (0, 1) or (errors.mean(1) < n * p * (1 - p) - 1e-9).all()
            if c == int(np.argmax(counts)):  # the least variance of a whole number with this mean
                np.testing.assert_allclose(errors.mean(1), (n * p % 1) * (1 - n * p % 1), atol=1e-9)


@pytest.fixture(scope="module", params=["votes", "probabilities", "few classes"])
def crowd(request):
    """Many items of all kinds, their labels in 160 epochs, and SLS's."""
    rng = np.random.default_rng(0)
    classes = 3 if request.param == "few classes" else 10
    p = rng.dirichlet(np.full(classes, 0.4), size=800)
    counts = [rng.multinomial(47, row) for row in p]
    votes = Votes.from_counts(counts) if request.param == "votes" else Votes.from_probabilities(p)
    return votes, history(StratifiedSLS(votes, 5), 160), history(SLS(votes, 5), 160)


def test_mean_squared_error_in_windows_of_2_to_100_at_any_offset(crowd):
    votes, *both = crowd
    # (T + 1, N, C) how far the count is from its expectation, from the first epoch on
    ahead = [np.cumsum(np.eye(votes.num_classes, dtype=np.float32)[[votes.majority, *labels]], axis=0) for labels in both]
    for total in ahead:
        total -= np.arange(len(total), dtype=np.float32)[:, None, None] * votes.p.astype(np.float32)
    for n in range(2, 101):
        ours, theirs = (((total[n:] - total[:-n]) ** 2).sum(2).mean(1) for total in ahead)  # by offset, over items
        assert (ours < theirs).all()
        assert ours.max() < votes.num_classes * 0.67
    law = 100 * (votes.p * (1 - votes.p)).sum(1).mean()
    assert theirs.mean() == pytest.approx(law, rel=0.25)  # 5 standard errors: SLS errs as it should
    assert ours.mean() < law / 25  # and ours does not grow with n


def test_no_count_is_ever_off_by_the_stated_bound(crowd):
    votes, labels, _ = crowd
    rank = np.argsort(np.argsort(-votes.p, axis=1, kind="stable"), axis=1)  # 0: the largest class
    for n in (1, 2, 3, 5, 8, 20, 50, 100, 150):
        for c in range(votes.num_classes):
            off = np.abs(window_counts(labels, n, c) - n * votes.p[:, c]).max(0)
            assert (off < 1 + HARMONIC[rank[:, c]] + 1e-6).all()


def test_with_votes_any_m_epochs_in_a_row_show_each_vote_once():
    rng = np.random.default_rng(1)
    votes = Votes.from_counts([rng.multinomial(m, rng.dirichlet(np.ones(4))) for m in range(1, 13)])
    labels = history(StratifiedSLS(votes, 0), 60)
    for i, m in enumerate(votes.sizes):
        for first in range(60 - m):
            np.testing.assert_array_equal(np.bincount(labels[first : first + m, i], minlength=4), votes.counts[i])


@pytest.mark.parametrize("epoch", [0, 1, 7, 199, 10**6, 2**32 - 1])
def test_over_seeds_an_epoch_has_the_expectation_of_sls(epoch):
    rows = [[6, 3, 1], [0, 5, 5], [1, 1, 1]]
    for votes in (Votes.from_counts(rows), Votes.from_probabilities(Votes.from_counts(rows).p)):
        drawn = np.stack([stratified_sls(votes, seed=seed, epoch=epoch) for seed in range(1500)])
        for i, row in enumerate(rows):
            possible = np.array(row) > 0
            observed = np.bincount(drawn[:, i], minlength=3)
            assert observed[possible].sum() == 1500
            assert stats.chisquare(observed[possible], 1500 * votes.p[i][possible]).pvalue > 1e-4


def test_items_are_independent_and_seeds_differ():
    """Equal items have phases of their own: no two of them walk together more often than chance has it."""
    votes = Votes.from_probabilities([[0.45, 0.35, 0.2]] * 4000)
    for epoch in (0, 5, 10**6):
        labels = StratifiedSLS(votes, 0)(epoch)
        table = np.zeros((3, 3))
        np.add.at(table, (labels[::2], labels[1::2]), 1)
        assert stats.chi2_contingency(table).pvalue > 1e-4
        other = StratifiedSLS(votes, 1)(epoch)
        assert abs((labels == other).mean() - (votes.p[0] ** 2).sum()) < 4.5 * 0.5 / np.sqrt(4000)


def test_a_late_epoch_is_as_exact_as_an_early_one():
    """Counting from epoch 10^6 on: whole numbers do not drift. With probabilities they are right to a part in 2^31."""
    p = np.array([[1 / 3, 2 / 3], [0.1, 0.9], [np.pi / 4, 1 - np.pi / 4]])
    delivery = StratifiedSLS(Votes.from_probabilities(p), 0)
    for first in (0, 10**6, 2**32 - 1000):
        shown = np.stack([delivery(epoch) for epoch in range(first, first + 999)])
        assert (np.abs((shown == 0).sum(0) - 999 * p[:, 0]) < 1 + 1e-5).all()
    with pytest.raises(InputError, match=r"epoch must be a whole number 0 \.\. 4294967295, got 4294967296"):
        delivery(2**32)


def test_probabilities_become_parts_without_bias_or_impossible_classes():
    p = np.random.default_rng(0).dirichlet(np.full(50, 0.05), size=200)
    p[:, 7] = 0
    p /= p.sum(1, keepdims=True)
    delivery, epochs = StratifiedSLS(Votes.from_probabilities(p), 0), 400
    shown = np.zeros((200, 50))
    for epoch in range(epochs):
        shown[np.arange(200), delivery(epoch)] += 1
    assert (shown[:, 7] == 0).all()
    rank = np.argsort(np.argsort(-p, axis=1, kind="stable"), axis=1)  # 0 for the largest class of an item
    bound = 1 + np.concatenate([[0.0], np.cumsum(1 / np.arange(1, 50))])
    assert (np.abs(shown - epochs * p) < bound[rank] + epochs / PARTS).all()


def test_blocks_do_not_show(monkeypatch):
    votes = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.5, 0.3, 0.2], size=100))
    for table in (votes, Votes.from_probabilities(votes.p)):
        whole = StratifiedSLS(table, 0)(11)
        for module, name, small in (("votes.votes_table", "BLOCK_VOTES", 50), ("delivery.stratified_sls", "BLOCK_ITEMS", 7)):
            monkeypatch.setattr(f"hardlabels.{module}.{name}", small)
        np.testing.assert_array_equal(StratifiedSLS(table, 0)(11), whole)
        monkeypatch.undo()


def test_labels_never_change_between_versions():
    votes = Votes.from_counts([[2, 1, 0], [1, 1, 4], [0, 3, 3], [5, 0, 5]])
    assert history(StratifiedSLS(votes, 0), 3).tolist() == [[0, 2, 1, 0], [1, 2, 2, 2], [0, 1, 1, 0]]
