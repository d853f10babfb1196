"""Differences by pass: by plain loops; and the law of the labels that makes pass 1 the one to look at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from hardlabels.delivery.multipass import multipass
from hardlabels.delivery.sls import sls
from hardlabels.errors import InputError
from hardlabels.statistics import differences_by_pass, paired_test
from hardlabels.votes import Votes


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 4), st.integers(1, 3), st.integers(0, 2**32))
@settings(deadline=None)
def test_it_is_the_loop_over_the_epochs_of_each_pass(k, passes, rest, n, seed):
    rest = min(rest, k - 1)
    epochs = passes * k + rest
    a, b = ({s: row.tolist() for s, row in enumerate(t)} for t in np.random.default_rng(seed).normal(size=(2, n, epochs)))
    found = differences_by_pass(a, b, k)
    assert (found.seeds, found.left_over, found.differences.shape) == (tuple(range(n)), rest, (n, passes))
    for s in range(n):
        for j in range(1, passes + 1):
            span = range((j - 1) * k, j * k)
            expected = sum(a[s][epoch] - b[s][epoch] for epoch in span) / k
            assert found.in_pass(j)[s] == pytest.approx(expected, abs=1e-12)


def test_exchanging_the_cells_changes_the_sign_and_equal_curves_have_no_difference():
    a, b = {3: [1.0, 2.0, 4.0], 1: [0.0, 1.0, 1.0]}, {1: [1.0, 1.0, 1.0], 3: [0.0, 0.0, 0.0]}
    np.testing.assert_array_equal(differences_by_pass(a, b, 1).differences, -differences_by_pass(b, a, 1).differences)
    assert not differences_by_pass(a, a, 2).differences.any()
    assert differences_by_pass(a, b, 3).in_pass(1) == pytest.approx({1: -1 / 3, 3: 7 / 3})


def test_a_pass_is_tested_as_any_paired_difference():
    a = {seed: [0.5, 0.5, 0.4 - 0.01 * seed, 0.4] for seed in range(5)}
    found = differences_by_pass(a, {seed: [0.5] * 4 for seed in range(5)}, K=2)
    zero = dict.fromkeys(range(5), 0.0)
    assert paired_test(found.in_pass(1), zero, alternative="less").p == 1.0
    assert paired_test(found.in_pass(2), zero, alternative="less").p == 1 / 32


def test_in_pass_1_multipass_on_k_votes_has_the_law_of_sls_on_all_votes_and_in_pass_2_it_repeats_itself():
    """Shares 0.6, 0.3, 0.1 and K = 2: the nine pairs of labels of epochs 0 and 1 come as often as independent draws from p."""
    p, items, seeds = np.array([0.6, 0.3, 0.1]), 100, 60
    every = Votes.from_counts(np.tile([[6, 3, 1]], (items, 1)))
    shown, drawn = [], []
    for seed in range(seeds):
        kept = every.subsample(2, seed)
        shown.append([multipass(kept, seed=seed, epoch=epoch) for epoch in range(4)])
        drawn.append([sls(every, seed=seed, epoch=epoch) for epoch in range(2)])
    for labels in (np.array(shown), np.array(drawn)):
        pairs = np.bincount((3 * labels[:, 0] + labels[:, 1]).ravel(), minlength=9)
        assert chisquare(pairs, items * seeds * np.outer(p, p).ravel()).pvalue > 0.001
    np.testing.assert_array_equal(np.array(shown)[:, :2], np.array(shown)[:, 2:])


@pytest.mark.parametrize("k", [0, 4, -1, 2.0, None])
def test_a_k_that_is_no_pass_is_refused(k):
    with pytest.raises(InputError, match=r"K must be a whole number of epochs, 1 \.\. 3 for curves of 3, got"):
        differences_by_pass({0: [1.0] * 3}, {0: [1.0] * 3}, k)


@pytest.mark.parametrize("number", [0, 3])
def test_a_pass_that_was_not_trained_is_refused(number):
    with pytest.raises(InputError, match=rf"pass must lie in 1 \.\. 2, got {number}"):
        differences_by_pass({0: [1.0] * 5}, {0: [1.0] * 5}, K=2).in_pass(number)


def test_curves_of_other_seeds_are_no_pairs():
    with pytest.raises(InputError, match="a and b must have curves of the same seeds"):
        differences_by_pass({0: [1.0]}, {1: [1.0]}, K=1)
