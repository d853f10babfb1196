"""What makes a pair, and what the test of one comparison says."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.statistics import exact_p, pair, paired_test, summarise

values = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))


@given(st.dictionaries(st.integers(0, 50), st.tuples(values, values), min_size=1, max_size=10), st.randoms())
@settings(deadline=None)
def test_pairs_are_made_by_seed_whatever_the_order(both, random):
    a, b = ([(seed, pair_of[side]) for seed, pair_of in both.items()] for side in (0, 1))
    random.shuffle(a)
    random.shuffle(b)
    seeds, differences = pair(a, dict(b))
    assert list(seeds) == sorted(both)
    np.testing.assert_allclose(differences, [both[seed][0] - both[seed][1] for seed in seeds], atol=1e-9)


def test_a_pandas_series_by_seed_is_a_table_of_pairs():
    a, b = pd.Series([0.5, 0.6], index=[3, 1]), pd.Series([0.4, 0.4], index=[1, 3])
    seeds, differences = pair(a, b)
    assert (seeds, differences.tolist()) == ((1, 3), [0.2, 0.1])
    with pytest.raises(InputError, match="sls: one value a seed is needed, but seed 3 comes twice"):
        pair(pd.concat([a, a.loc[[3]]]), b, names=("sls", "soft"))


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({0: 1.0, 1: 1.0, 2: 1.0}, {0: 1.0}, "sls and soft must have the same seeds: only sls has seeds 1, 2$"),
        ({0: 1.0}, {0: 1.0, 7: 1.0}, "only soft has seed 7$"),
        ({0: 1.0, 2: 1.0}, {0: 1.0, 1: 1.0}, "only sls has seed 2; only soft has seed 1$"),
        ([(0, 1.0), (0, 2.0)], {0: 1.0}, "sls: one value a seed is needed, but seed 0 comes twice"),
        ({0: 1.0}, {0: float("nan")}, "soft: seed 0 must have a finite value, got nan"),
        ({0: float("inf")}, {0: 1.0}, "sls: seed 0 must have a finite value, got inf"),
        ({0.5: 1.0}, {0.5: 1.0}, "whole number"),
        ({}, {}, "at least one seed"),
    ],
)
def test_what_is_not_paired_is_refused_by_name(a, b, message):
    with pytest.raises(InputError, match=message):
        pair(a, b, names=("sls", "soft"))


def test_five_seeds_that_agree_give_the_papers_p():
    """Section 4: p = 0.03125 one-sided and 0.0625 two-sided are the least that 5 pairs attain."""
    soft, sls = dict(enumerate([0.59, 0.58, 0.60, 0.57, 0.59])), dict(enumerate([0.56, 0.54, 0.55, 0.55, 0.58]))
    one, two = (paired_test(sls, soft, alternative=alternative) for alternative in ("less", "two-sided"))
    assert (one.n, one.agreeing, one.zeros, one.p, one.least_p) == (5, 5, 0, 0.03125, 0.03125)
    assert (two.agreeing, two.p, two.least_p) == (5, 0.0625, 0.0625)
    assert one.differences == {0: -0.03, 1: -0.04, 2: -0.05, 3: -0.02, 4: -0.01}
    assert one.mean == pytest.approx(-0.03)
    wrong_way = paired_test(sls, soft, alternative="greater")
    assert (wrong_way.agreeing, wrong_way.p) == (0, 1.0)


def test_ten_seeds_that_agree_reach_one_in_1024():
    a, b = {s: 1.0 + s for s in range(10)}, dict.fromkeys(range(10), 0.5)
    assert paired_test(a, b, alternative="greater").p == 1 / 1024
    assert paired_test(a, b, alternative="two-sided").p == 2 / 1024


def test_zeros_agree_with_nobody_and_cost_a_seed():
    test = paired_test(dict(enumerate([1.0, 2.0, 3.0, 4.0])), dict(enumerate([1.0, 1.0, 1.0, 1.0])), alternative="greater")
    assert (test.n, test.agreeing, test.zeros, test.p, test.least_p) == (4, 3, 1, 1 / 8, 1 / 8)
    nothing = paired_test({0: 1.0}, {0: 1.0}, alternative="two-sided")
    assert (nothing.agreeing, nothing.zeros, nothing.p, nothing.least_p) == (0, 1, 1.0, 1.0)


def test_the_zero_rule_reaches_the_test():
    a, b = dict(enumerate([0.0, 0.0, 1.0, 2.0, -3.0])), dict.fromkeys(range(5), 0.0)
    for zeros in ("wilcox", "pratt"):
        assert paired_test(a, b, alternative="greater", zeros=zeros).p == exact_p(list(a.values()), "greater", zeros)
    assert exact_p(list(a.values()), "greater", "wilcox") != exact_p(list(a.values()), "greater", "pratt")


def test_two_sided_agreement_is_that_of_the_larger_side():
    test = paired_test(dict(enumerate([1.0, -2.0, -3.0])), dict.fromkeys(range(3), 0.0), alternative="two-sided")
    assert test.agreeing == 2


def test_the_sentence_has_what_a_reader_needs():
    test = paired_test(dict(enumerate([-1.0, 2.0, 3.0])), dict.fromkeys(range(3), 0.0), alternative="greater")
    assert str(test) == "2 of 3 seeds agree, one-sided p = 0.25 (least attainable 0.125)"


def test_a_summary_is_numpys_with_n_minus_one():
    x = {3: 0.5, 1: 0.7, 2: 0.65}
    found = summarise(x)
    assert (found.n, found.least, found.greatest) == (3, 0.5, 0.7)
    assert found.mean == pytest.approx(np.mean(list(x.values())))
    assert found.sd == pytest.approx(np.std(list(x.values()), ddof=1))
    assert np.isnan(summarise({0: 1.0}).sd)
    with pytest.raises(InputError, match="at least one seed"):
        summarise({})
