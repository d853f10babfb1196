"""Two one-sided tests against statsmodels, by hand, and by how often they are wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics import equivalence

METHODS = ["signed_rank", "t"]
distinct = st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=12, unique_by=abs)


# ---- t ----


@pytest.mark.parametrize("n", [2, 5, 10])
@pytest.mark.parametrize("margin", [0.1, 0.5, 2.0])
def test_the_t_version_is_statsmodels(n, margin):
    rng = stream(n, "test tost")
    a, b = rng.normal(0.1, 1, size=(2, n))
    found = equivalence(a - b, margin, method="t")
    p, (_, p_low, _), (_, p_high, _) = ttost_paired(a, b, -margin, margin)
    assert (found.p, found.p_low, found.p_high) == pytest.approx((p, p_low, p_high), rel=1e-9)


def test_the_t_interval_is_scipys():
    d = stream(0, "test t interval").normal(size=7)
    found, theirs = equivalence(d, 1.0, method="t"), stats.ttest_1samp(d, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert (found.estimate, found.level) == pytest.approx((d.mean(), 0.9))


def test_the_t_version_on_one_seed_or_without_spread():
    single = equivalence([0.0], 1.0, method="t")
    assert (single.p, single.least_p, single.low, single.high, single.verdict) == (1.0, 1.0, -np.inf, np.inf, "too few seeds")
    assert equivalence([0.5, 0.5], 1.0, method="t").p == 0
    assert equivalence([1.0, 1.0], 1.0, method="t").p == 1


# ---- signed rank ----


def test_a_small_example_by_hand():
    """Differences -1 .. 4 within a margin of 4.5: above -4.5 all five are, below it all five too: 1 / 32 twice."""
    found = equivalence([-1.0, 0.0, 1.0, 2.5, 4.0], 4.5)
    assert (found.p_low, found.p_high, found.p, found.verdict) == (1 / 32, 1 / 32, 1 / 32, "equivalent")
    # Margin 3.5: below it, -4.5, -3.5, -2.5, -1 and +0.5; only the least rank is positive: 2 of 32 sign patterns.
    found = equivalence([-1.0, 0.0, 1.0, 2.5, 4.0], 3.5)
    assert (found.p_low, found.p_high, found.verdict) == (1 / 32, 2 / 32, "undecided")


@given(distinct, st.integers(1, 20_000))
@settings(deadline=None)
def test_each_side_is_scipys_one_sided_test_against_the_margin(d, half):
    margin = half / 2 + 0.25  # never a difference, and no two distances from it alike
    found = equivalence(d, margin)
    for p, shifted, side in ((found.p_low, np.add(d, margin), "greater"), (found.p_high, np.subtract(d, margin), "less")):
        if len(set(np.abs(shifted))) == len(d):
            assert p == pytest.approx(stats.wilcoxon(shifted, alternative=side, method="exact").pvalue, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(d=st.lists(st.floats(-3, 3).map(lambda x: round(x, 4)), min_size=2, max_size=10, unique=True), margin=st.floats(0.1, 4))
@settings(deadline=None)
def test_equivalent_means_that_the_interval_is_inside_the_margin(method, d, margin):
    margin = round(margin, 4) + 0.000_03  # off the grid of Walsh averages: no ties at the margin
    found = equivalence(d, margin, method=method)
    inside = -margin < found.low and found.high < margin
    assert found.equivalent == (inside and found.n >= found.needed)


@given(st.lists(st.floats(-1e-3, 1e-3), min_size=1, max_size=4))
@settings(deadline=None)
def test_fewer_than_five_seeds_are_never_equivalent_however_close(d):
    found = equivalence(d, 1e6)
    assert (found.needed, found.verdict, found.equivalent) == (5, "too few seeds", False)
    assert found.p == found.least_p == 0.5 ** len(d)


@pytest.mark.parametrize("method", METHODS)
def test_the_four_verdicts(method):
    spread = np.array([-0.02, -0.01, 0.0, 0.01, 0.02, 0.015])
    verdicts = [equivalence(spread + shift, margin, method=method).verdict for shift, margin in ((0, 1), (5, 1), (-5, 1), (1, 1))]
    assert verdicts == ["equivalent", "different", "different", "undecided"]
    assert equivalence(spread[:1], 1, method=method).verdict == "too few seeds"


@pytest.mark.parametrize("method", METHODS)
def test_a_large_p_of_the_difference_is_no_evidence_for_equivalence(method):
    """Published as p = 0.6953 on ten seeds: with differences that spread like the table's SD, a margin of 0.01 is not met."""
    d = np.array([-0.05, 0.04, -0.03, 0.03, 0.02, -0.015, 0.045, -0.035, -0.01, 0.005])
    assert stats.wilcoxon(d).pvalue > 0.5
    assert equivalence(d, 0.01, method=method).verdict == "undecided"
    assert equivalence(d / 10, 0.01, method=method).verdict == "equivalent"


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_differ_by_the_margin_are_called_equivalent_in_at_most_five_percent(method):
    d = stream(0, "test tost error").normal(1.0, 0.3, size=(1000, 8))
    wrong = np.mean([equivalence(row, 1.0, method=method).equivalent for row in d])
    assert 0.02 < wrong < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.parametrize("method", METHODS)
@given(d=st.lists(st.integers(-5, 5), min_size=1, max_size=8), margin=st.sampled_from([1, 2, 5]))
@settings(deadline=None)
def test_exchanging_the_methods_exchanges_the_sides(method, d, margin):
    one, other = equivalence(d, margin, method=method), equivalence(np.negative(d), margin, method=method)
    assert (one.p_low, one.p_high, one.p) == pytest.approx((other.p_high, other.p_low, other.p), abs=1e-12)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_differences_by_seed_and_in_decimals_that_touch_the_margin():
    """0.3 - 0.1 and 0.2 are the same margin: distances of 0 are dropped, whatever the binary fractions say."""
    found = equivalence({0: 0.3 - 0.1, 1: 0.1, 2: 0.0, 3: -0.1, 4: 0.05, 5: 0.02}, margin=0.2)
    assert found.p_high == 1 / 32
    assert found.p_low == 1 / 64


def test_the_sentence_says_verdict_margin_interval_and_what_n_allows():
    text = str(equivalence([0.002, -0.001, 0.003, 0.001, -0.002], margin=0.01))
    numbers = "0.0005 [-0.002, 0.003] (93.75 %), p = 0.03125"
    assert text == f"equivalent: within ±0.01; {numbers}; n = 5, least attainable p 0.0312, possible from 5 seeds on"
    assert str(equivalence([0.1], margin=0.01)).startswith("too few seeds: not shown to be within ±0.01")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"margin": 0.0}, "above 0"),
        ({"margin": float("nan")}, "above 0"),
        ({"margin": 1.0, "alpha": 0.5}, "between 0 and 0.5"),
        ({"margin": 1.0, "method": "bayes"}, "signed_rank, t"),
    ],
)
def test_a_test_without_margin_or_level_is_refused(words, message):
    with pytest.raises(InputError, match=message):
        equivalence([1.0], **words)
