"""Estimates against loops, against scipy's bootstrap, and by how often their intervals hold the truth."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics import exact_p, hodges_lehmann, mean_difference
from hardlabels.statistics.intervals import bca_ends, resampled_means, walsh_averages

finite = st.lists(st.floats(-100, 100).map(lambda x: round(x, 6)), min_size=1, max_size=12)


# ---- Hodges-Lehmann ----


@given(finite)
@settings(deadline=None)
def test_the_shift_is_the_median_of_all_pairwise_means(d):
    loop = sorted((d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d)))
    assert walsh_averages(d).tolist() == pytest.approx(loop, abs=1e-12)
    assert hodges_lehmann(d).value == pytest.approx(np.median(loop), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [5, 6, 7, 10, 15])
def test_the_interval_holds_the_shifts_that_the_test_does_not_reject(n, level):
    """Between two neighbouring Walsh averages the test's p is constant: try one shift in every gap."""
    for trial in range(5):
        d = stream(trial, "test hodges lehmann", n).normal(0.5, 1, size=n)
        found, walsh = hodges_lehmann(d, level), walsh_averages(d)
        gaps = [walsh[0] - 1, *(walsh[1:] + walsh[:-1]) / 2, walsh[-1] + 1]
        kept = [shift for shift in gaps if exact_p(d - shift) > 1 - found.level]
        assert [shift for shift in gaps if found.low < shift < found.high] == kept
        if found.level >= level:
            looser = [shift for shift in gaps if exact_p(d - shift) > 1 - level + 1e-9]
            assert looser == kept  # the level asked for would not make it shorter


@pytest.mark.parametrize(
    ("n", "level", "attained", "k"),
    [(10, 0.95, 1 - 2 * 25 / 1024, 9), (6, 0.95, 1 - 2 / 64, 1), (8, 0.95, 1 - 2 * 5 / 256, 4), (5, 0.90, 1 - 2 / 32, 1)],
)
def test_attained_levels_are_those_of_the_tables(n, level, attained, k):
    """Critical values of the signed-rank statistic at 2.5 %: 8 for n = 10, 3 for n = 8, 0 for n = 6."""
    d = np.arange(n) ** 1.5
    found = hodges_lehmann(d, level)
    assert found.level == pytest.approx(attained)
    assert (found.low, found.high) == (walsh_averages(d)[k - 1], walsh_averages(d)[-k])


@pytest.mark.parametrize(("n", "level"), [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)])
def test_with_few_seeds_the_interval_is_the_range_and_says_what_it_is_worth(n, level):
    d = stream(n, "test few seeds").normal(size=n)
    found = hodges_lehmann(dict(enumerate(d)))
    assert (found.low, found.high, found.level, found.n) == (d.min(), d.max(), level, n)
    assert "95 % is out of reach" in str(found)


@pytest.mark.parametrize("n", [5, 8])
def test_the_interval_covers_as_often_as_it_says(n):
    """Also when differences are heavy-tailed: only symmetry is needed."""
    rng, trials = stream(0, "test coverage", n), 1000
    for d in (rng.normal(size=(trials, n)), rng.standard_cauchy(size=(trials, n))):
        found = [hodges_lehmann(row) for row in d]
        level = found[0].level
        covered = np.mean([one.low <= 0 <= one.high for one in found])
        assert abs(covered - level) < 4 * np.sqrt(level * (1 - level) / trials)


def test_with_ties_the_interval_covers_at_least_as_often():
    found = [hodges_lehmann(row) for row in stream(0, "test coverage ties").integers(-2, 3, size=(1000, 6))]
    assert np.mean([one.low <= 0 <= one.high for one in found]) >= found[0].level - 0.02


# ---- the mean ----


@pytest.mark.parametrize("n", [2, 5, 10, 30])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_bca_interval_is_scipys_on_the_same_resamples(n, level):
    d = stream(n, "test bca").exponential(size=n)
    means = resampled_means(d, seed=0)
    means[np.isclose(means, d.mean(), rtol=1e-13, atol=0)] = d.mean()  # scipy counts by the last bit what is the mean itself
    same = SimpleNamespace(bootstrap_distribution=means)
    theirs = stats.bootstrap((d,), np.mean, n_resamples=0, bootstrap_result=same, confidence_level=level, method="BCa")
    assert bca_ends(d, means, level) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)
    found = mean_difference(d, seed=0, level=level)
    assert (found.value, found.low, found.high) == pytest.approx((d.mean(), *theirs.confidence_interval), rel=1e-9)


def test_resampled_means_have_the_law_of_all_resamples():
    """Four differences have 4^4 resamples, equally likely."""
    d = np.array([0.0, 1.0, 3.0, 10.0])
    every = np.array([np.mean(draw) for draw in itertools.product(d, repeat=4)])
    ours = resampled_means(d, seed=1, resamples=40_000)
    assert ours.mean() == pytest.approx(every.mean(), abs=4 * every.std() / 200)
    for point in (0.5, 1.0, 3.0, 5.0, 7.0):
        share = (every <= point).mean()
        assert (ours <= point).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 40_000))


@pytest.mark.parametrize("unit", [0.1, 0.01, 1 / 3])
@pytest.mark.parametrize("d", [[1, 2, 3], [0, 1, 3, 10], [-2, 1, 4, 5, 9]], ids=str)
def test_the_bootstrap_does_not_depend_on_the_unit(d, unit):
    """A resample of all differences has their mean. As binary fractions many were below it, and the interval moved."""
    steps = mean_difference(d, seed=0)
    scaled = mean_difference(np.array(d) * unit, seed=0)
    assert (scaled.low, scaled.high) == pytest.approx((steps.low * unit, steps.high * unit))


def test_the_bootstrap_is_a_function_of_its_seed():
    d = [0.1, 0.4, 0.2, 0.9]
    assert mean_difference(d, seed=3) == mean_difference(dict(enumerate(d)), seed=3)
    assert (resampled_means(d, seed=3) != resampled_means(d, seed=4)).any()


def test_equal_differences_leave_one_point_and_one_difference_no_interval():
    same = mean_difference([0.25] * 4, seed=0)
    assert (same.value, same.low, same.high) == (0.25, 0.25, 0.25)
    single = mean_difference([0.25], seed=0)
    assert single.value == 0.25
    assert np.isnan([single.low, single.high]).all()


@pytest.mark.parametrize(("n", "expected"), [(5, 0.84), (10, 0.90)])
def test_the_bootstrap_covers_too_seldom_as_its_docstring_says(n, expected):
    rng, covered = stream(0, "test bca coverage", n), []
    for trial, d in enumerate(rng.normal(size=(2000, n))):
        low, high = bca_ends(d, resampled_means(d, seed=trial, resamples=500), 0.95)
        covered.append(low <= 0 <= high)
    assert np.mean(covered) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, float("nan")])
def test_a_level_is_a_probability(level):
    with pytest.raises(InputError, match="between 0 and 1"):
        hodges_lehmann([1.0], level)
    with pytest.raises(InputError, match="between 0 and 1"):
        mean_difference([1.0], seed=0, level=level)
