"""Manhattan and Wasserstein distances: against scipy's and LeWiDi's own arithmetic, and the laws of a distance on a scale."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hardlabels.metrics import METRICS, SCALE_METRICS, metric_names, score
from hardlabels.metrics.baselines import constants
from hardlabels.metrics.bootstrap import assess, item_scores, score_names
from hardlabels.votes import Votes, wasserstein_distance


@st.composite
def two_distributions(draw):
    """(q, p) of 1 to 10 items and 2 to 11 classes, with zeros; one-hot rows among them."""
    shape = draw(st.integers(1, 10)), draw(st.integers(2, 11))
    tables = [draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 5))) for _ in range(2)]
    for table in tables:
        table[:, draw(st.integers(0, shape[1] - 1))] += 1
    return [table / table.sum(1, keepdims=True) for table in tables]


@given(two_distributions())
@settings(deadline=None)
def test_the_wasserstein_distance_is_scipys(tables):
    q, p = tables
    scale = np.arange(p.shape[1])
    expected = [stats.wasserstein_distance(scale, scale, *rows) for rows in zip(q, p, strict=True)]
    assert wasserstein_distance(q, p) == pytest.approx(expected, abs=1e-12)
    with np.errstate(divide="ignore"):
        values = score(np.log(q), p, list(SCALE_METRICS))
    assert values["wasserstein"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert values["manhattan"] == pytest.approx(np.mean([np.abs(a - b).sum() for a, b in zip(q, p, strict=True)]), abs=1e-9)


@given(two_distributions())
@settings(deadline=None)
def test_it_is_a_distance_that_reversing_the_scale_keeps(tables):
    q, p = tables
    assert wasserstein_distance(p, p) == pytest.approx(np.zeros(len(p)))
    assert wasserstein_distance(q, p) == pytest.approx(wasserstein_distance(p, q))
    assert wasserstein_distance(q[:, ::-1], p[:, ::-1]) == pytest.approx(wasserstein_distance(q, p))
    half = np.abs(q - p).sum(1) / 2  # every vote moves at least one step, and at most all of them
    assert np.all(wasserstein_distance(q, p) >= half - 1e-12)
    assert np.all(wasserstein_distance(q, p) <= half * (p.shape[1] - 1) + 1e-12)


def test_far_off_costs_more_than_near():
    p = np.array([[1.0, 0.0, 0.0, 0.0]])
    near, far = (np.eye(4)[[c]] for c in (1, 3))
    assert (wasserstein_distance(near, p)[0], wasserstein_distance(far, p)[0]) == (1, 3)


def test_only_ordered_classes_have_it():
    assert metric_names(ordered=False) == list(METRICS)
    assert metric_names(ordered=True) == [*METRICS, "manhattan", "wasserstein"]
    assert "wasserstein" not in score_names(ordered=False)
    log_q, votes = np.log([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]), Votes.from_counts([[3, 1, 0], [0, 2, 2]])
    nominal, ordinal = (assess(log_q, votes, seed=0, resamples=10, ordered=ordered) for ordered in (False, True))
    assert "wasserstein" not in nominal.values
    assert ordinal.values["wasserstein"] == pytest.approx(item_scores(log_q, votes.p, ordered=True)["wasserstein"].mean())
    assert {name: value for name, value in ordinal.values.items() if name != "wasserstein"} == nominal.values
    assert (
        ordinal.interval("wasserstein", "votes").low
        < ordinal.values["wasserstein"]
        < ordinal.interval("wasserstein", "votes").high
    )


def test_constant_predictions_by_hand():
    p = np.array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.5, 0.0, 0.5]])
    q = constants(p)
    assert q["uniform"].tolist() == [1 / 3] * 3
    assert q["most frequent"].tolist() == [1.0, 0.0, 0.0]  # shares 0.5, 0.083, 0.417
