"""The oracle q = p: what is exact about it, and that no other prediction is below it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS, score
from hardlabels.metrics.baselines import oracle
from hardlabels.votes import Votes, slice_masks

FLOORS = ("soft_nll", "kl_to_annotator", "soft_brier", "ece_votes")


def by_hand(row):
    return -sum(share * math.log(share) for share in row if share)


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=1, max_size=30))
@settings(deadline=None)
def test_its_soft_nll_is_mean_annotator_entropy_on_every_slice(counts):
    votes = Votes.from_counts(counts)
    masks = slice_masks(votes)
    found = oracle(votes.p, masks)
    assert list(found) == list(masks)
    for name, mask in masks.items():
        assert list(found[name]) == list(METRICS)
        if not mask.any():
            assert all(math.isnan(value) for value in found[name].values())
            continue
        assert found[name]["soft_nll"] == pytest.approx(np.mean([by_hand(row) for row in votes.p[mask]]), abs=1e-12)
        for floor in FLOORS[1:]:
            assert found[name][floor] == pytest.approx(0.0, abs=1e-12)
        assert found[name]["hard_acc"] == 1.0
        assert found[name]["ece_eqmass"] == pytest.approx(1 - votes.p[mask].max(1).mean(), abs=1e-12)


@given(st.integers(0, 2**32), st.floats(0.1, 10))
@settings(deadline=None, max_examples=30)
def test_no_prediction_is_below_it(seed, sharpness):
    rng = np.random.default_rng(seed)
    p = rng.multinomial(10, rng.dirichlet(np.ones(4), size=40)) / 10
    best, other = oracle(p, {"full": np.ones(40, dtype=bool)})["full"], score(sharpness * rng.normal(size=p.shape), p)
    assert all(best[name] <= other[name] + 1e-12 for name in FLOORS)


def test_what_is_no_floor_is_named_so_for_a_reason():
    """Surer than the annotators and right by the majority: a lower ECE against the majority than q = p."""
    p = np.array([[0.6, 0.4]] * 20)
    best, sure = oracle(p, {"full": np.ones(20, dtype=bool)})["full"], score([[9.0, 0.0]] * 20, p)
    assert best["ece_eqmass"] == pytest.approx(0.4)
    assert sure["ece_eqmass"] < 0.001
    assert sure["ece_votes"] > 0.39


def test_its_entropies_are_those_of_the_annotators():
    votes = Votes.from_counts([[9, 0], [8, 1], [5, 4], [3, 6]])
    assert oracle(votes.p, {"full": np.ones(4, dtype=bool)})["full"]["ent_corr"] == pytest.approx(1.0)


def test_the_part_that_more_votes_would_take_away():
    """Even the population's own distribution is (C - 1) / (2 m) nats of KL away from m votes drawn from it, for large m."""
    rng, truth = np.random.default_rng(0), np.full((20_000, 3), 1 / 3)
    p = rng.multinomial(50, truth) / 50
    assert score(np.log(truth), p, ["kl_to_annotator"])["kl_to_annotator"] == pytest.approx(2 / 100, rel=0.05)


def test_rows_that_are_no_distribution_are_refused():
    with pytest.raises(InputError, match="row 0 is"):
        oracle([[0.5, 0.7]], {"full": np.array([True])})
