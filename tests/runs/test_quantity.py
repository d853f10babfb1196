"""Names of quantities: what one function writes its inverse reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardlabels.metrics import METRICS
from hardlabels.runs.quantity import TIMELESS, Detection, Quantity, history_column, read_probed, write_probed
from hardlabels.votes import SLICES

words = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)


@given(words, st.just("") | words, st.sampled_from(SLICES))
def test_a_column_and_a_slice_are_a_quantity_again(name, probe, slice):
    quantity = Quantity(name, probe, slice)
    assert Quantity.from_column(quantity.column, slice) == quantity
    assert quantity.timeless == (probe in TIMELESS)


@given(words, words, words)
def test_a_detection_comes_back_from_its_name_and_from_its_column(outliers, detector, measure):
    found = Detection(outliers, detector, measure)
    assert Detection.read(found.name) == found
    assert Detection.from_column(found.quantity.column) == found


@pytest.mark.parametrize("column", ["soft_nll", "hessian/lambda_max", "ood/left_out", "other/svhn/energy/auroc"])
def test_other_columns_are_no_detection(column):
    assert Detection.from_column(column) is None


@given(words.filter(lambda name: name not in SLICES), st.sampled_from(SLICES))
def test_a_probes_key_is_its_name_and_slice_again(name, slice):
    assert read_probed(write_probed(name, slice)) == (name, slice)
    assert read_probed(name) == (name, "full")


def test_every_metric_has_a_column_of_its_own_in_the_history():
    columns = [history_column(part, metric, view) for part in ("evaluate", "select") for metric in METRICS for view in SLICES]
    assert len(set(columns)) == len(columns)
    assert "evaluate/soft_nll" in columns
