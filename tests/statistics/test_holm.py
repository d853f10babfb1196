"""Holm against statsmodels and its own definition, and the seeds it needs against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics import Family, adjusted_p, claim_p, exact_p, first_step, holm, paired_test, reach_of_holm, seeds_needed

family = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.03125, 0.0625, 1.0])), min_size=1, max_size=12)


@given(family)
@settings(deadline=None, max_examples=20)  # theirs takes 50 ms
def test_adjusted_p_is_statsmodels(p):
    adjusted = holm({str(place): value for place, value in enumerate(p)})
    assert list(adjusted) == [str(place) for place in range(len(p))]
    assert list(adjusted.values()) == pytest.approx(multipletests(p, method="holm")[1].tolist(), abs=1e-15)


@given(family, st.floats(0.001, 0.5))
@settings(deadline=None)
def test_rejections_are_those_of_holms_steps(p, alpha):
    """Step down through the sorted p while p_(i) x (m - i + 1) <= alpha."""
    adjusted = holm({str(place): value for place, value in enumerate(p)})
    rejected = set()
    for left, place in zip(range(len(p), 0, -1), sorted(range(len(p)), key=p.__getitem__), strict=True):
        if left * p[place] > alpha:
            break
        rejected.add(str(place))
    assert {name for name, value in adjusted.items() if value <= alpha} == rejected


@given(family)
def test_adjusting_never_lowers_p_and_keeps_the_order(p):
    adjusted = list(holm({str(place): value for place, value in enumerate(p)}).values())
    assert all(raw <= new <= 1 for raw, new in zip(p, adjusted, strict=True))
    for i, j in itertools.combinations(range(len(p)), 2):
        assert (p[i] - p[j]) * (adjusted[i] - adjusted[j]) >= 0


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_p_that_is_none_is_refused_by_name(p):
    with pytest.raises(InputError, match=r"'K=5' must lie in 0 \.\. 1"):
        holm({"K=5": p})


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("size", [1, 2, 4, 12, 48])
def test_seeds_needed_is_the_first_n_at_which_one_perfect_cell_of_the_family_is_rejected(size, alpha, two_sided):
    """Brute force: one cell in which all seeds agree, the rest hopeless. And then all cells agree: nothing is gained or lost."""

    def rejects(n, others):
        p = exact_p(range(1, n + 1), "two-sided" if two_sided else "greater")
        return min(holm({"perfect": p, **{str(i): p if others else 1.0 for i in range(size - 1)}}).values()) <= alpha

    for others in (False, True):
        assert next(n for n in range(1, 20) if rejects(n, others)) == seeds_needed(size, alpha, two_sided)


def test_the_papers_twelve_cells_need_eight_seeds():
    assert seeds_needed(12) == 8
    assert seeds_needed(12, two_sided=True) == 9
    assert seeds_needed(1) == 5
    assert reach_of_holm(12, 5).endswith("8 paired seeds on; here n = 5 (least adjusted p 0.375), so it cannot.")
    assert reach_of_holm(12, 8).endswith("so it can.")


@pytest.mark.parametrize(("size", "alpha"), [(0, 0.05), (3, 0.0), (3, 1.0), (3, float("nan"))])
def test_a_family_without_tests_or_level_is_refused(size, alpha):
    with pytest.raises(InputError, match="alpha"):
        seeds_needed(size, alpha)


def sweep(n, unanimous, cells=12):
    """A sparse sweep like table 1: in some cells all seeds agree, in the others the seed with the least difference does not."""
    soft = dict.fromkeys(range(n), 0.6)
    tests = {}
    for cell in range(cells):
        first = -1 if cell < unanimous else 1
        hard = {seed: 0.6 + 0.01 * (seed + 1) * (first if seed == 0 else -1) for seed in range(n)}
        tests[f"cell {cell}"] = paired_test(hard, soft, alternative="less")
    return Family("sparse sweep, soft NLL", tests)


def test_table_1_has_nine_unanimous_cells_and_none_that_survives_holm():
    found = sweep(n=5, unanimous=9)
    assert len(found.unanimous) == 9
    assert sorted({test.p for test in found.tests.values()}) == [0.03125, 0.0625]
    assert found.rejected == []
    assert min(found.adjusted.values()) == 12 / 32
    assert found.reach.endswith("so it cannot.")


def test_the_same_sweep_with_eight_seeds_survives():
    found = sweep(n=8, unanimous=9)
    assert found.adjusted["cell 0"] == 12 / 256
    assert found.adjusted["cell 11"] == 12 / 256  # by itself 3 x 2 / 256, but never below those before it
    assert found.rejected == list(found.tests)
    assert found.reach.endswith("so it can.")


def test_a_seed_without_difference_counts_against_the_reach():
    tied = {seed: float(seed > 0) for seed in range(5)}
    found = Family("one", {"tied": paired_test(tied, dict.fromkeys(range(5), 0.0), alternative="greater")})
    assert "here n = 4 (least adjusted p 0.0625), so it cannot" in found.reach
    assert found.unanimous == []


def test_a_family_is_one_sided_or_two_sided_and_not_empty():
    a, b = {0: 1.0}, {0: 2.0}
    tests = {side: paired_test(a, b, alternative=side) for side in ("less", "greater", "two-sided")}
    assert Family("both ways", {"less": tests["less"], "greater": tests["greater"]}).adjusted == {"less": 1.0, "greater": 1.0}
    with pytest.raises(InputError, match="got both"):
        Family("mixed", tests)
    with pytest.raises(InputError, match="at least one test"):
        Family("empty", {})


# ---- a claim of every test, a claim of any ----


@given(family, st.floats(0.001, 0.5))
@settings(deadline=None)
def test_a_claim_of_every_test_asks_each_at_alpha_and_a_claim_of_any_asks_holm(p, alpha):
    named = {str(place): value for place, value in enumerate(p)}
    assert adjusted_p(named, "every") == named
    assert adjusted_p(named, "any") == holm(named)
    assert (claim_p(named, "every") <= alpha) == all(value <= alpha for value in p)
    assert (claim_p(named, "any") <= alpha) == any(value <= alpha for value in holm(named).values())


@given(family)
def test_a_family_of_one_is_the_same_either_way(p):
    one = {"only": p[0]}
    assert adjusted_p(one, "every") == adjusted_p(one, "any") == one
    assert claim_p(one, "every") == claim_p(one, "any") == p[0]


def shares(p, needs):
    """In which share of the rows (studies) the claim is made at 0.05."""
    return np.mean([claim_p({str(i): value for i, value in enumerate(row)}, needs) <= 0.05 for row in p])


def test_both_rules_hold_their_level_where_the_claim_is_hardest_to_keep_apart_from_truth():
    """One-sided z tests of five cells, correlated as cells of one study are, 4,000 studies."""
    rng = stream(0, "test intersection-union")
    z = 0.6 * rng.standard_normal((4000, 1)) + 0.8 * rng.standard_normal((4000, 5))
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    # Every: false by one cell only; the other four are there beyond doubt. It cannot be more wrong than that one cell.
    nearly = norm.sf(z + np.array([0, 9, 9, 9, 9]))
    assert 0.04 < shares(nearly, "every") < limit
    # Any: false in all cells. Uncorrected, some cell is called a finding far too often; Holm holds.
    nothing = norm.sf(z)
    assert (nothing.min(1) <= 0.05).mean() > 2 * limit
    assert shares(nothing, "any") < limit
    # Holm on a claim of every test would keep its level too, but miss what is there.
    there = norm.sf(z + 2.5)
    all_by_holm = np.mean([max(holm({str(i): value for i, value in enumerate(row)}).values()) <= 0.05 for row in there])
    assert shares(there, "every") > all_by_holm


def test_a_sweep_that_needs_every_cell_is_judged_by_its_worst():
    found = sweep(n=5, unanimous=12)
    every = Family(found.name, found.tests, needs="every")
    assert (found.p, found.rejected) == (12 / 32, [])
    assert (every.p, every.rejected) == (1 / 32, list(found.tests))
    assert every.reach.endswith("can reject from 5 paired seeds on; here n = 5 (least p 0.0312), so they can.")
    spoilt = Family(found.name, sweep(n=5, unanimous=11).tests, needs="every")
    assert spoilt.p == 2 / 32


def test_the_reach_of_a_claim_of_every_test_is_that_of_the_poorest():
    tied, zero = {seed: float(seed > 0) for seed in range(5)}, dict.fromkeys(range(5), 0.0)
    whole = {seed: 1.0 + seed for seed in range(5)}
    tests = {name: paired_test(values, zero, alternative="greater") for name, values in (("tied", tied), ("whole", whole))}
    assert "here n = 4 (least p 0.0625), so they cannot" in Family("both", tests, needs="every").reach
    assert "here n = 5 (least adjusted p 0.0625), so it cannot" in Family("either", tests).reach


def test_needs_are_one_of_two_words_and_a_claim_has_a_test():
    with pytest.raises(InputError, match="any or every of its tests, got 'most'"):
        first_step(3, "most")
    with pytest.raises(InputError, match="got 'all'"):
        Family("wrong", {"less": paired_test({0: 1.0}, {0: 2.0}, alternative="less")}, needs="all")
    with pytest.raises(InputError, match="at least one test"):
        claim_p({}, "every")
    with pytest.raises(InputError, match="'K=5' must lie in"):
        adjusted_p({"K=5": float("nan")}, "every")
