"""What a study could have seen: against statsmodels, both tests made one by one, and another way to the same number."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics import Criterion, effect_out_of_reach, exact_p, resampled_test, seeds_for_effect, smallest_effect
from hardlabels.statistics.equivalence import equivalence
from hardlabels.statistics.intervals import walsh_averages
from hardlabels.statistics.power import power, signed_rank_critical, smallest_margin, t_power

QUARTER = Criterion(ratio=2000 / 7000, family=4)  # the quarter study: two-sided, Holm over four
D = [-0.05, -0.03, -0.04, -0.06, -0.02, -0.04, -0.05, -0.03, -0.01, -0.07, -0.02, -0.06]


def studies(rng, many, n, ratio, noise="standard_normal"):
    """(many, n) differences of mean 0 in units of their SD inside a study, with what seeds share through their items."""
    return getattr(rng, noise)(size=(many, n)) + np.sqrt(ratio) * rng.standard_normal((many, 1))


# ---- each test by itself ----


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize(("n", "effect", "family"), [(2, 3.0, 1), (6, 1.0, 1), (12, 0.9, 4), (50, 0.3, 12), (200, 0.3, 4)])
def test_the_t_part_is_statsmodels_where_seeds_are_independent(n, effect, family, two_sided):
    criterion = Criterion(ratio=0.0, family=family, two_sided=two_sided)
    theirs = TTestPower().power(effect, n, alpha=criterion.tail, alternative="larger")
    assert t_power(effect, n, criterion) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize(("n", "effect"), [(6, 2.0), (12, 1.5), (30, 1.0)])
def test_the_t_part_is_simulations_share_where_seeds_share_items(n, effect):
    criterion = Criterion(ratio=2 / 7)
    d = studies(stream(n, "test power t"), 3000, n, criterion.ratio) + effect
    share = np.mean([resampled_test(row, ratio=criterion.ratio, alternative="greater").p <= criterion.tail for row in d])
    assert t_power(effect, n, criterion) == pytest.approx(share, abs=4 * np.sqrt(0.25 / 3000))


@pytest.mark.parametrize("tail", [0.1, 0.05, 0.025, 0.05 / 4, 0.025 / 4, 0.025 / 12])
@pytest.mark.parametrize("n", range(1, 11))
def test_the_critical_value_is_the_least_that_all_sign_patterns_allow(n, tail):
    sums = np.array([sum(itertools.compress(range(1, n + 1), signs)) for signs in itertools.product((0, 1), repeat=n)])
    able = [w for w in range(n * (n + 1) // 2 + 1) if (sums >= w).mean() <= tail]
    assert signed_rank_critical(n, tail) == (able[0] if able else None)


@pytest.mark.parametrize("n", [20, 60, 200])
def test_the_critical_value_of_many_seeds_is_scipys(n):
    w = signed_rank_critical(n, 0.025)
    positive = np.arange(1, n + 1)  # signs such that the ranks of the positive ones sum up to w, and then to w - 1
    for wanted, rejected in ((w, True), (w - 1, False)):
        signs, left = -np.ones(n), wanted
        for rank in positive[::-1]:
            if rank <= left:
                signs[rank - 1], left = 1, left - rank
        found = stats.wilcoxon(signs * positive, alternative="greater", method="exact")
        assert found.statistic == wanted
        assert (found.pvalue <= 0.025) == rejected


# ---- both together ----


@pytest.mark.parametrize(
    ("n", "effect", "criterion"),
    [
        (6, 1.5, Criterion(ratio=0.0)),
        (8, 1.0, Criterion(ratio=0.0, two_sided=False)),
        (12, 2.0, QUARTER),
        (10, 1.2, Criterion(ratio=0.25, family=3, alpha=0.1)),
    ],
)
def test_power_is_the_share_of_studies_in_which_both_tests_made_one_by_one_reject(n, effect, criterion):
    level = criterion.alpha / criterion.family
    side = "two-sided" if criterion.two_sided else "greater"
    shown = []
    for d in studies(stream(n, "test power both"), 2000, n, criterion.ratio) + effect:
        corrected = resampled_test(d, ratio=criterion.ratio, alternative=side)
        shown.append(d.mean() > 0 and exact_p(d, side) <= level + 1e-12 and corrected.p <= level)
    assert power(effect, n, criterion) == pytest.approx(np.mean(shown), abs=4 * np.sqrt(0.25 / 2000))
    assert 0.2 < np.mean(shown) < 0.98  # or the comparison would say little


@pytest.mark.parametrize(
    ("n", "criterion"), [(8, Criterion(ratio=0.0)), (12, QUARTER), (12, Criterion(0.0, family=12)), (25, QUARTER)]
)
def test_the_smallest_effect_is_a_quantile_of_the_shifts_at_which_each_study_becomes_significant(n, criterion):
    """Another way to it, without search.

    t rejects from a shift of t* x error - mean on. W+ is the number of Walsh averages above 0, so it reaches w once the w-th
    largest of them is. The 80 % quantile of the larger shift is the smallest effect.
    """
    w, t = signed_rank_critical(n, criterion.tail), stats.t.isf(criterion.tail, n - 1)
    shifts = []
    for d in studies(stream(n, "test power shifts"), 4000, n, criterion.ratio):
        error = d.std(ddof=1) * np.sqrt(1 / n + criterion.ratio)
        shifts.append(max(t * error - d.mean(), -walsh_averages(d)[-w]))
    differences = np.array(D * 3)[:n]
    found = smallest_effect(differences, criterion) / np.std(differences, ddof=1)
    assert found == pytest.approx(np.quantile(shifts, 0.8), rel=0.04)


@pytest.mark.parametrize("effect", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("criterion", [Criterion(ratio=0.0), Criterion(ratio=0.05, family=4)])
def test_the_number_of_seeds_is_the_first_whose_power_suffices(effect, criterion):
    found = seeds_for_effect([-1.0, 0.0, 1.0], effect, criterion, limit=60)  # SD 1
    first = next((n for n in range(1, 61) if power(effect, n, criterion) >= 0.8), None)
    assert found == first


def test_few_seeds_are_enough_for_what_is_far_above_the_noise_and_the_exact_test_still_asks_for_its_own():
    assert seeds_for_effect(D, 10.0, Criterion(ratio=0.0)) == 6
    assert seeds_for_effect(D, 10.0, Criterion(ratio=0.0, two_sided=False)) == 5
    assert seeds_for_effect(D, 10.0, QUARTER) == 8
    assert seeds_for_effect(D, 10.0, QUARTER, limit=7) is None


def test_a_study_that_repeats_itself_sees_its_smallest_effect_in_80_percent_and_less_below():
    unit = smallest_effect(D, QUARTER) / np.std(D, ddof=1)
    assert 0.8 <= power(unit, 12, QUARTER) < 0.81
    assert power(0.7 * unit, 12, QUARTER) < 0.6
    assert seeds_for_effect(D, smallest_effect(D, QUARTER), QUARTER) == 12


# ---- laws ----


@given(st.lists(st.integers(-100, 100), min_size=6, max_size=8), st.sampled_from([0.01, 1.0, 1000.0]), st.integers(-5, 5))
@settings(deadline=None, max_examples=25)
def test_only_the_spread_counts_and_its_unit_is_the_effects(d, unit, shift):
    criterion = Criterion(ratio=0.25)
    one, other = smallest_effect(d, criterion), smallest_effect(unit * np.negative(d) + shift, criterion)
    assert other == pytest.approx(unit * one, rel=1e-6, abs=1e-9)


def test_more_tests_and_more_shared_items_and_fewer_seeds_ask_for_larger_effects():
    def smallest(n=10, **words):
        return smallest_effect(D[:n], Criterion(**words)) / np.std(D[:n], ddof=1)

    assert smallest(ratio=0.0) < smallest(ratio=0.1) < smallest(ratio=0.5)
    assert smallest(ratio=0.1) < smallest(ratio=0.1, family=4)
    assert smallest(ratio=0.1, two_sided=False) < smallest(ratio=0.1)
    assert smallest(12, ratio=0.1) < smallest(10, ratio=0.1) < smallest(7, ratio=0.1)


def test_another_process_gives_the_same_answer_to_the_last_digit():
    code = f"from hardlabels.statistics import *; print(smallest_effect({D}, Criterion(ratio=2000 / 7000, family=4)))"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert float(printed) == smallest_effect(D, QUARTER)


@pytest.mark.parametrize("noise", ["uniform", "laplace", "gumbel"])
def test_other_shapes_of_noise_with_the_same_spread_change_the_power_little(noise):
    unit, n = smallest_effect(D, QUARTER) / np.std(D, ddof=1), len(D)
    d = getattr(stream(0, "test power shape"), noise)(size=(20_000, n))
    d = (d - d.mean()) / d.std()
    d = d + np.sqrt(QUARTER.ratio) * stream(1, "test power shape").standard_normal((len(d), 1)) + unit
    t = d.mean(1) / (d.std(1, ddof=1) * np.sqrt(1 / n + QUARTER.ratio)) >= stats.t.isf(QUARTER.tail, n - 1)
    ranks = np.abs(d).argsort(1).argsort(1) + 1
    shown = t & ((ranks * (d > 0)).sum(1) >= signed_rank_critical(n, QUARTER.tail))
    assert shown.mean() == pytest.approx(0.8, abs=0.06)


# ---- what cannot be seen ----


def test_too_few_seeds_see_nothing_however_large():
    assert smallest_effect(D[:7], QUARTER) == np.inf
    assert np.isfinite(smallest_effect(D[:8], QUARTER))
    assert smallest_effect([0.1], Criterion(ratio=0.0, alpha=0.9)) == np.inf


def test_differences_without_spread_see_everything_that_the_tests_allow():
    assert smallest_effect([0.1] * 8, QUARTER) == 0
    assert smallest_effect([0.1] * 7, QUARTER) == np.inf
    assert seeds_for_effect([0.1] * 3, 0.001, QUARTER) == 8


def test_no_effect_takes_no_number_of_seeds():
    assert seeds_for_effect(D, 0.0, QUARTER) is None


def test_below_a_limit_more_seeds_on_the_same_items_do_not_help():
    limit = effect_out_of_reach(D, QUARTER)
    assert seeds_for_effect(D, 0.99 * limit, QUARTER, limit=2000) is None
    assert seeds_for_effect(D, 1.05 * limit, QUARTER) is not None
    assert t_power(limit / np.std(D, ddof=1), 10**6, QUARTER) == pytest.approx(0.8, abs=1e-4)
    assert effect_out_of_reach(D, Criterion(ratio=0.0)) == 0
    assert np.isnan(effect_out_of_reach([1.0], QUARTER))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Criterion(ratio=-1.0), "at least 0, got -1"),
        (lambda: Criterion(ratio=0.0, family=0), "1 or more tests"),
        (lambda: Criterion(ratio=0.0, alpha=1.0), "alpha between 0 and 1"),
        (lambda: smallest_effect(D, QUARTER, target=1.0), "below 1, got 1"),
        (lambda: smallest_effect(D, QUARTER, target=0.4), "at least 0.5"),
        (lambda: seeds_for_effect([0.1], 0.1, QUARTER), "2 or more differences and a finite effect, got 1 and 0.1"),
        (lambda: seeds_for_effect(D, float("nan"), QUARTER), "got 12 and nan"),
        (lambda: smallest_effect([], QUARTER), "one or more finite numbers"),
    ],
)
def test_what_has_no_answer_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


# ---- equality ----


@pytest.mark.parametrize("ratio", [0.0, 2000 / 7000])
def test_within_the_smallest_margin_equality_is_shown_as_often_as_was_asked(ratio):
    """Studies without a difference, each tested by the two equivalence tests of this package, which scipy checks elsewhere."""
    criterion, n = Criterion(ratio, two_sided=False), 8
    d = np.array(D[:n])
    margin = smallest_margin(d, criterion, target=0.8) / d.std(ddof=1)
    shown = 0
    for one in studies(np.random.default_rng(3), 1500, n, ratio):
        tests = equivalence(one, margin), equivalence(one, margin, method="t", ratio=ratio)
        shown += all(test.p <= 0.05 for test in tests)
    assert shown / 1500 == pytest.approx(0.8, abs=0.035)  # three standard errors
    assert margin > smallest_effect(d, criterion) / d.std(ddof=1)  # both ends must be excluded, not one


def test_the_smallest_margin_at_its_limits():
    assert smallest_margin(D[:4], Criterion(0.0, two_sided=False)) == np.inf  # five seeds are needed
    assert smallest_margin([0.25] * 8, Criterion(0.0, two_sided=False)) == 0.0
    assert smallest_margin(D, QUARTER) == pytest.approx(smallest_margin([d + 1 for d in D], QUARTER))
