"""Numbers as reports write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardlabels.reporting.number_formats import NOTHING, decimal, mean_and_sd, number, p_value

finite = st.floats(-1e6, 1e6)


@given(finite)
def test_what_is_written_is_near_and_has_a_true_minus(value):
    for text in (decimal(value), number(value)):
        assert "-" not in text.replace("e-", "")
        assert float(text.replace("−", "-")) == pytest.approx(value, rel=0.05, abs=5e-4)


@given(finite, st.floats(0, 100))
def test_an_sd_has_the_decimals_of_its_mean(mean, sd):
    left, right = mean_and_sd(mean, sd).split(" ± ")
    assert len(left.partition(".")[2]) == len(right.partition(".")[2])
    assert left == mean_and_sd(mean, None) == mean_and_sd(mean, float("nan"))


def test_nothing_is_a_dash():
    assert p_value(None) == number(float("nan")) == NOTHING
