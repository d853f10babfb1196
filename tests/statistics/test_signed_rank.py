"""The exact null distribution against scipy, against all sign flips, and against the p-values of the paper."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics.signed_rank import ALTERNATIVES, exact_p, least_p, null_distribution, signed_ranks, subtract

coarse = st.lists(st.integers(-4, 4), min_size=1, max_size=8)  # few values: many ties, many zeros
rough = st.sampled_from(ALTERNATIVES), st.sampled_from(["wilcox", "pratt"])


def statistic(d, zeros):
    """W+ as Wilcoxon 1945 and Pratt 1959 define it, by scipy's mid-ranks."""
    d = np.asarray(d, dtype=float)
    kept = d[d != 0] if zeros == "wilcox" else d
    return stats.rankdata(np.abs(kept))[kept > 0].sum()


def enumerated(d, alternative, zeros):
    """p over all 2^n ways to flip the signs, each as likely as any other; an observed statistic that is tied counts."""
    flips = [statistic(np.multiply(signs, d), zeros) for signs in itertools.product([-1, 1], repeat=len(d))]
    observed = statistic(d, zeros)
    greater, less = np.mean([w >= observed for w in flips]), np.mean([w <= observed for w in flips])
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[alternative]


@given(coarse, *rough)
@settings(max_examples=60, deadline=None)
def test_with_ties_and_zeros_p_is_that_of_all_sign_flips(d, alternative, zeros):
    assert exact_p(d, alternative, zeros) == pytest.approx(enumerated(d, alternative, zeros), abs=1e-14)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 2, 5, 8, 10, 25, 45])
def test_without_ties_p_is_scipys_exact_one(n, alternative):
    for trial in range(10):
        d = stream(trial, "test signed rank", n).normal(0.3, 1, size=n)
        assert exact_p(d, alternative) == pytest.approx(
            stats.wilcoxon(d, alternative=alternative, method="exact").pvalue, rel=1e-12
        )


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_with_ties_and_zeros_p_is_that_of_scipys_permutations(alternative, zeros):
    d = np.array([0.0, 1.0, 1.0, -1.0, 2.0, 2.0, 0.0, 3.0])
    permutations = stats.PermutationMethod(n_resamples=np.inf)
    expected = stats.wilcoxon(d, alternative=alternative, zero_method=zeros, method=permutations)
    assert exact_p(d, alternative, zeros) == pytest.approx(expected.pvalue, abs=1e-12)


def test_scipys_exact_method_ignores_ties_and_ours_does_not():
    """Five coins, at least four heads: 6 of 32. Untied ranks 1 .. 5 would reach the same sum in 5 of 32 ways."""
    d = [-1.0, 1.0, 1.0, 1.0, 1.0]
    assert exact_p(d, "greater") == enumerated(d, "greater", "wilcox") == 6 / 32
    assert stats.wilcoxon(d, alternative="greater", method="exact").pvalue == pytest.approx(5 / 32)


@pytest.mark.parametrize("n", [1, 5, 10, 60, 200])
def test_the_distribution_sums_to_one_is_symmetric_and_has_the_textbooks_moments(n):
    law, w = null_distribution(np.arange(1, n + 1)), np.arange(n * (n + 1) // 2 + 1)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(law, law[::-1], rtol=1e-12)
    mean = (law * w).sum()
    assert mean == pytest.approx(n * (n + 1) / 4)
    assert (law * (w - mean) ** 2).sum() == pytest.approx(n * (n + 1) * (2 * n + 1) / 24)


@given(coarse, *rough)
@settings(deadline=None)
def test_p_is_a_whole_number_of_sign_patterns_and_at_least_the_least(d, alternative, zeros):
    p, m = exact_p(d, alternative, zeros), sum(x != 0 for x in d)
    assert (p * 2**m).is_integer()
    assert least_p(m, alternative == "two-sided") <= p <= 1


@given(coarse, *rough)
@settings(deadline=None)
def test_turning_the_comparison_round_turns_the_alternative_round(d, alternative, zeros):
    other = {"less": "greater", "greater": "less", "two-sided": "two-sided"}[alternative]
    assert exact_p(np.negative(d), other, zeros) == exact_p(d, alternative, zeros)


@pytest.mark.parametrize("n", range(1, 13))
def test_the_least_p_is_attained_by_seeds_that_all_agree_with_ties_or_without(n):
    for d in (np.arange(1.0, n + 1), np.ones(n)):
        assert exact_p(d, "greater") == least_p(n) == 0.5**n
        assert exact_p(-d) == least_p(n, two_sided=True) == min(1, 2 * 0.5**n)


def test_where_nothing_differs_p_is_one():
    for alternative in ALTERNATIVES:
        assert exact_p([0.0, 0.0, 0.0], alternative) == exact_p([0.0], alternative, "pratt") == 1


def test_under_the_null_p_is_never_too_small_with_ties_and_zeros():
    """Symmetric, coarse differences: P(p <= a) <= a for every a."""
    rng = stream(0, "test signed rank null")
    p = np.array([exact_p(d, "greater") for d in rng.integers(-2, 3, size=(1500, 7))])
    for a in (0.01, 0.05, 0.1, 0.25, 0.5):
        assert (p <= a).mean() <= a + 3 * np.sqrt(a * (1 - a) / len(p))


# ---- what the paper reports ----


def attainable(n, two_sided):
    tails = np.cumsum(null_distribution(np.arange(1, n + 1)))
    return np.minimum(1, 2 * tails) if two_sided else tails


@pytest.mark.parametrize(
    ("published", "n", "two_sided", "digits"),
    [
        ([0.031, 0.063, 0.094], 5, False, 3),  # table 1
        ([0.6953, 0.6250, 0.9219, 0.3750], 10, True, 4),  # table 2
        ([0.4375, 0.625, 0.0625], 5, True, 4),  # table 3
        ([0.0186, 0.0801, 0.0654, 0.3125], 10, False, 4),  # table 8: ten seeds
    ],
)
def test_every_published_p_is_attainable(published, n, two_sided, digits):
    for p in published:
        assert np.abs(attainable(n, two_sided) - p).min() <= 0.5001 * 10.0**-digits


def test_table_8_is_one_sided_though_it_does_not_say_so():
    assert np.abs(attainable(10, two_sided=True) - 0.0801).min() > 0.001


# ---- ties up to rounding ----


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000)), min_size=1, max_size=12))
@settings(deadline=None)
def test_differences_of_accuracies_are_tied_and_zero_exactly_where_the_counts_are(counts):
    right, wrong = np.array(counts).T
    assert signed_ranks(subtract(right / 2000, wrong / 2000)).tolist() == signed_ranks(right - wrong).tolist()


@pytest.mark.parametrize("scale", [1e-310, 1e-30, 1e-6, 1.0, 1e4, 1e30])
def test_subtracting_keeps_twelve_digits_at_every_scale(scale):
    a, b = np.array([3.0, 2.5, 0.0]) * scale, np.array([1.0, 2.5, 1.0]) * scale
    np.testing.assert_allclose(subtract(a, b), np.array([2.0, 0.0, -1.0]) * scale, rtol=1e-11, atol=1e-300)
    assert subtract([0.0], [0.0]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("differences", "words", "message"),
    [
        ([], {}, "one or more finite"),
        ([1.0, np.nan], {}, "finite"),
        ([[1.0]], {}, "one a seed"),
        ([1.0], {"alternative": "more"}, "less, greater, two-sided"),
        ([1.0], {"zeros": "zsplit"}, "wilcox, pratt"),
    ],
)
def test_what_cannot_be_tested_is_refused(differences, words, message):
    with pytest.raises(InputError, match=message):
        exact_p(differences, **words)
