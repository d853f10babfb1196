"""The corrected resampled t-test: by hand, against scipy and statsmodels, and its size when items are split anew."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics import equivalence, resampled_test

SIDES = ["less", "greater", "two-sided"]
numbers = st.lists(st.integers(-1000, 1000).map(lambda x: x / 100), min_size=2, max_size=12).filter(lambda d: len(set(d)) > 1)
ratios = st.floats(0, 3)


# ---- arithmetic ----


def test_a_small_example_by_hand():
    """Differences 1, 2, 3, 6: mean 3, s^2 = 14/3; 100 test items for 300 training items: t = 3 / sqrt((1/4 + 1/3) 14/3)."""
    test = resampled_test([1, 2, 3, 6], ratio=100 / 300)
    assert test.t == pytest.approx(3 / math.sqrt((7 / 12) * (14 / 3)))
    assert test.p == pytest.approx(2 * (1 - stats.t.cdf(test.t, 3)))
    assert (test.n, test.mean, test.sd) == pytest.approx((4, 3, math.sqrt(14 / 3)))


def test_differences_that_cancel_have_the_mean_zero():
    """Of accuracies of 2,000 items: their mean was 4e-20, which a table printed, and which counted as above 0."""
    steps = np.array([3, -1, -9, 2, 5, -7, 7]) / 2000
    assert steps.mean() != 0
    test = resampled_test(steps, ratio=2000 / 7000)
    assert (test.mean, test.t, test.p) == (0, 0, 1)


@given(numbers, st.sampled_from(SIDES))
@settings(deadline=None)
def test_without_shared_items_it_is_scipys_paired_t_test(d, side):
    ours, theirs = resampled_test(d, ratio=0, alternative=side), stats.ttest_rel(d, np.zeros(len(d)), alternative=side)
    assert (ours.t, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-6, abs=1e-12)


@given(numbers, ratios, st.sampled_from(SIDES))
@settings(deadline=None)
def test_with_shared_items_it_is_the_formula(d, ratio, side):
    n = len(d)
    t = np.mean(d) / np.sqrt((1 / n + ratio) * np.var(d, ddof=1))
    p = {"less": stats.t.cdf(t, n - 1), "greater": stats.t.sf(t, n - 1), "two-sided": 2 * stats.t.sf(abs(t), n - 1)}[side]
    test = resampled_test(d, ratio=ratio, alternative=side)
    assert (test.t, test.p) == pytest.approx((t, p), rel=1e-6, abs=1e-9)


@given(numbers, ratios, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
@settings(deadline=None)
def test_the_ends_of_the_interval_are_the_values_rejected_at_just_that_level(d, ratio, level):
    test = resampled_test(d, ratio=ratio)
    low, high = test.interval(level)
    assert (low + high) / 2 == pytest.approx(test.mean, abs=1e-9)
    assert [test.p_against(end) for end in (low, high)] == pytest.approx([1 - level] * 2, rel=1e-6)


@given(numbers, ratios)
@settings(deadline=None)
def test_sharing_items_never_makes_a_difference_clearer(d, ratio):
    plain, corrected = resampled_test(d, ratio=0), resampled_test(d, ratio=ratio)
    assert corrected.p >= plain.p - 1e-12
    (low, high), (inner_low, inner_high) = corrected.interval(), plain.interval()
    assert low <= inner_low <= inner_high <= high


@given(numbers, ratios, st.sampled_from(SIDES))
@settings(deadline=None)
def test_exchanging_the_methods_exchanges_the_sides(d, ratio, side):
    other = {"less": "greater", "greater": "less", "two-sided": "two-sided"}[side]
    mirrored = resampled_test(np.negative(d), ratio=ratio, alternative=other)
    assert resampled_test(d, ratio=ratio, alternative=side).p == pytest.approx(mirrored.p, abs=1e-12)


# ---- what has no spread ----


@pytest.mark.parametrize("side", SIDES)
def test_one_seed_says_nothing(side):
    test = resampled_test({4: 0.3}, ratio=0.25, alternative=side)
    assert (test.n, test.mean, test.p, test.interval()) == (1, 0.3, 1.0, (-np.inf, np.inf))
    assert all(math.isnan(value) for value in (test.sd, test.error, test.t))


def test_differences_that_are_all_equal_are_the_limit_of_a_vanishing_spread():
    tests = {side: resampled_test([0.1] * 3, ratio=0.25, alternative=side) for side in SIDES}
    assert {side: test.p for side, test in tests.items()} == {"less": 1.0, "greater": 0.0, "two-sided": 0.0}
    for side, test in tests.items():
        nearly = resampled_test([0.1, 0.1, 0.1 + 1e-9], ratio=0.25, alternative=side)
        assert test.p == pytest.approx(nearly.p, abs=1e-9)
    assert (tests["less"].t, tests["less"].mean, tests["less"].interval()) == (np.inf, 0.1, (0.1, 0.1))
    assert tests["less"].p_against(0.3 - 0.2) == 1.0  # the same number but for the last binary digit


@pytest.mark.parametrize("side", SIDES)
def test_no_difference_in_any_seed_is_no_evidence(side):
    test = resampled_test([0.0, 0.0], ratio=0.25, alternative=side)
    assert (test.p, test.interval()) == (1.0, (0.0, 0.0))
    assert math.isnan(test.t)


@pytest.mark.parametrize(
    ("d", "words", "message"),
    [
        ([], {"ratio": 0.1}, "one or more finite numbers"),
        ([1.0, float("nan")], {"ratio": 0.1}, "one or more finite numbers"),
        ([1.0], {"ratio": -0.1}, "at least 0, got -0.1"),
        ([1.0], {"ratio": float("nan")}, "at least 0, got nan"),
        ([1.0], {"ratio": float("inf")}, "at least 0, got inf"),
        ([1.0], {"ratio": 0.1, "alternative": "lower"}, "less, greater, two-sided, got 'lower'"),
    ],
)
def test_what_is_no_test_is_refused(d, words, message):
    with pytest.raises(InputError, match=message):
        resampled_test(d, **words)
    with pytest.raises(InputError, match="between 0 and 1, got 1"):
        resampled_test([1.0, 2.0], ratio=0.1).interval(1)


# ---- equivalence by the same interval ----


@given(numbers, ratios, st.floats(0.05, 5))
@settings(deadline=None)
def test_equivalent_means_that_its_90_percent_interval_lies_inside_the_margin(d, ratio, margin):
    found, (low, high) = equivalence(d, margin, method="t", ratio=ratio), resampled_test(d, ratio=ratio).interval(0.9)
    assert (found.low, found.high, found.ratio) == pytest.approx((low, high, ratio))
    if min(abs(margin - high), abs(margin + low)) > 1e-9:  # at the margin itself rounding decides
        assert found.equivalent == (-margin < low and high < margin)


def test_both_sides_of_equivalence_are_statsmodels_with_a_wider_error():
    """Theirs knows no correction. Spread about the mean by sqrt(n (1/n + ratio)), plain differences have the corrected error."""
    d, ratio, margin = stream(0, "test resampled tost").normal(0.1, 1, size=8), 2000 / 7000, 1.3
    spread = d.mean() + (d - d.mean()) * np.sqrt(8 * (1 / 8 + ratio))
    p, (_, p_low, _), (_, p_high, _) = ttost_paired(spread, np.zeros(8), -margin, margin)
    found = equivalence(d, margin, method="t", ratio=ratio)
    assert (found.p, found.p_low, found.p_high) == pytest.approx((p, p_low, p_high), rel=1e-9)


def test_a_ratio_for_the_signed_rank_test_is_refused():
    with pytest.raises(InputError, match=r"method must be 't' for ratio=0\.25, got 'signed_rank'"):
        equivalence([1.0], 1.0, ratio=0.25)


# ---- its size, when all seeds split the same items ----


def rejections(differences, ratio):
    """The share of rows (studies) whose two-sided p is at most 0.05."""
    return np.mean([resampled_test(d, ratio=ratio).p <= 0.05 for d in differences])


def splits(rng, studies, seeds, items, test):
    """(studies, seeds, items) whether an item is in the seed's test set."""
    return rng.random((studies, seeds, items)).argsort(-1) < test


def test_its_size_holds_for_fixed_predictors_where_the_plain_t_tests_does_not():
    """Each study has 60 items with differences in loss of mean 0; each of its 10 seeds averages those of 15 items."""
    rng, studies = stream(0, "test resampled size"), 2000
    item = rng.standard_normal((studies, 1, 60))
    inside = splits(rng, studies, 10, 60, 15)
    d = (item * inside).sum(-1) / 15
    assert rejections(d, 0) > 0.2
    assert 0.03 < rejections(d, 15 / 45) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


def test_its_size_holds_for_predictors_trained_on_each_split_where_the_plain_t_tests_does_not():
    """y = x1 + x2 + noise; one method regresses y on x1, the other on x2: on new items they are equally good."""
    rng, studies, items, test = stream(0, "test resampled training"), 1000, 50, 10
    x1, x2, noise = rng.standard_normal((3, studies, 1, items))
    y, inside = x1 + x2 + noise, splits(rng, studies, 12, items, test)
    loss = []
    for x in (x1, x2):
        slope = (x * y * ~inside).sum(-1, keepdims=True) / (x * x * ~inside).sum(-1, keepdims=True)
        loss.append((np.square(y - slope * x) * inside).sum(-1) / test)
    d = loss[0] - loss[1]
    assert rejections(d, 0) > 0.2
    assert rejections(d, test / (items - test)) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


def test_more_seeds_on_the_same_items_make_the_plain_test_worse_and_this_one_not():
    rng, studies = stream(0, "test resampled seeds"), 500
    item = rng.standard_normal((studies, 1, 40))
    d = (item * splits(rng, studies, 40, 40, 10)).sum(-1) / 10
    assert rejections(d, 0) > rejections(d[:, :5], 0) + 0.1
    assert rejections(d, 10 / 30) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)
