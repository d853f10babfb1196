"""Mean and SD over seeds, against the standard library."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from hardlabels.errors import InputError
from hardlabels.statistics.summaries import Summary, mean_sd, summarise, t_half_width

values = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)


@given(values)
def test_mean_and_sd_are_the_standard_librarys(numbers):
    mean, sd = mean_sd(numbers)
    assert mean == pytest.approx(statistics.fmean(numbers), abs=1e-9)
    assert sd == pytest.approx(statistics.stdev(numbers), abs=1e-9)


def test_one_seed_has_no_sd_and_none_has_nothing():
    assert mean_sd([2.0])[0] == 2.0
    assert math.isnan(mean_sd([2.0])[1])
    assert all(map(math.isnan, mean_sd([])))
    with pytest.raises(InputError, match="at least one seed is needed"):
        summarise({})


def test_a_summary_has_the_same_mean_and_sd():
    assert summarise({0: 1.0, 3: 4.0}) == Summary(2, *mean_sd([1.0, 4.0]), 1.0, 4.0)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_t_interval_is_scipys(level):
    x = np.random.default_rng(0).normal(size=7)
    low, high = ttest_1samp(x, 0).confidence_interval(level)
    mean, sd = mean_sd(x)
    assert (mean - t_half_width(sd, 7, level), mean + t_half_width(sd, 7, level)) == pytest.approx((low, high))
    assert t_half_width(np.array([sd, 0.0, np.nan]), np.array([7, 7, 1]), level) == pytest.approx([high - mean, 0, 0])
