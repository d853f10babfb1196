"""One temperature: against a grid of them scored by torch's cross-entropy, and the laws that make it worth having."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.metrics import score
from hardlabels.metrics.temperature import (
    FLATTEST,
    SHARPEST,
    cross_fitted,
    fit_temperature,
    halves,
    soft_nll_after_temperature,
    soft_nll_cross_fitted,
)
from hardlabels.votes import entropy

scales = st.floats(-6, 6).map(lambda power: 10**power)


def nll(logits, p, temperature=1.0):
    """Somebody else's arithmetic."""
    return torch.nn.functional.cross_entropy(torch.from_numpy(logits / temperature), torch.from_numpy(p)).item()


@st.composite
def fitting_items(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, classes = draw(st.integers(1, 30)), draw(st.integers(2, 6))
    logits = draw(st.sampled_from([0.01, 1.0, 5.0, 300.0])) * rng.normal(size=(n, classes))
    votes = draw(st.sampled_from([1, 3, 50]))
    return logits, rng.multinomial(votes, rng.dirichlet(np.full(classes, draw(st.sampled_from([0.1, 1.0]))), size=n)) / votes


# ---- the fit ----


@pytest.mark.parametrize("sharpness", [0.1, 0.5, 1.0, 3.0, 20.0])
def test_it_is_the_best_of_a_grid(predictions, sharpness):
    logits, p = predictions(300, sharpness=sharpness)
    grid = np.exp(np.linspace(np.log(0.01), np.log(100), 20_001))
    values = [nll(logits, p, t) for t in grid[::20]]
    best = int(np.argmin(values)) * 20
    near = grid[max(0, best - 20) : best + 21]
    fine = near[np.argmin([nll(logits, p, t) for t in near])]
    found = fit_temperature(logits, p)
    assert found == pytest.approx(fine, rel=5e-4)
    assert nll(logits, p, found) <= min(values) + 1e-12
    assert found == pytest.approx(sharpness, rel=0.05)  # the votes were drawn at sharpness 1


@given(fitting_items())
@settings(deadline=None)
def test_no_temperature_inside_the_bounds_is_better_on_the_fitting_items(items):
    logits, p = items
    found = fit_temperature(logits, p)
    centred = logits - logits.mean(1, keepdims=True)
    scale = np.sqrt(np.square(centred).mean())
    assert scale / SHARPEST * (1 - 1e-9) <= found <= scale / FLATTEST * (1 + 1e-9)
    least = nll(logits, p, found)
    assert scale < SHARPEST
    assert least <= nll(logits, p) + 1e-9  # never worse than T = 1
    for theirs in np.geomspace(scale / SHARPEST, scale / FLATTEST, 61):
        assert least <= nll(logits, p, theirs) + 1e-9


@given(fitting_items(), scales)
@settings(deadline=None)
def test_scaling_the_logits_scales_the_temperature_and_leaves_the_score(items, c):
    logits, p = items
    assert fit_temperature(c * logits, p) == pytest.approx(c * fit_temperature(logits, p), rel=1e-6)
    ours, theirs = (soft_nll_after_temperature(s * logits, p, s * logits, p) for s in (1.0, c))
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9)
    index = np.arange(len(p))
    if len(p) > 1:
        assert soft_nll_cross_fitted(c * logits, p, index) == pytest.approx(soft_nll_cross_fitted(logits, p, index), rel=1e-6)


@given(fitting_items(), st.floats(-1e3, 1e3))
@settings(deadline=None, max_examples=30)
def test_a_constant_added_to_a_row_of_logits_does_not_matter(items, shift):
    logits, p = items
    moved = logits + shift * np.arange(len(p))[:, None]
    ours, theirs = (soft_nll_after_temperature(z, p, z, p) for z in (logits, moved))
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_annotators_distributions_at_a_wrong_scale_are_put_right():
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=50)
    for c in (1e-5, 0.2, 1.0, 7.0, 1e5):
        assert fit_temperature(c * np.log(p), p) == pytest.approx(c, rel=1e-9)
        assert soft_nll_after_temperature(c * np.log(p), p, c * np.log(p), p) == pytest.approx(entropy(p).mean(), rel=1e-12)


# ---- where there is no inner minimum ----


def test_certain_and_right_ends_at_the_sharp_bound_and_worse_than_chance_at_the_flat_one():
    logits, right, wrong = np.array([[4.0, 0.0], [0.0, 1.0]]), np.eye(2), np.eye(2)[::-1]
    scale = np.sqrt((4 + 4 + 0.25 + 0.25) / 4)
    assert fit_temperature(logits, right) == pytest.approx(scale / SHARPEST)
    assert fit_temperature(logits, wrong) == pytest.approx(scale / FLATTEST)
    assert soft_nll_after_temperature(logits, right, logits, right) == pytest.approx(0.0, abs=1e-12)
    assert soft_nll_after_temperature(logits, wrong, logits, wrong) == pytest.approx(math.log(2), abs=1e-8)


@pytest.mark.parametrize("size", [1e4, 1e8, 1e150, 1e300])
def test_saturated_logits_with_errors_among_them_get_a_finite_score(size):
    """Three of four right with certainty: the least NLL gives the top class 3/4, at T = size / ln 3."""
    logits, p = size * np.array([[1.0, 0.0]] * 4), np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])
    assert fit_temperature(logits, p) == pytest.approx(size / math.log(3), rel=1e-9)
    assert soft_nll_after_temperature(logits, p, logits, p) == pytest.approx(entropy(np.array([[0.75, 0.25]]))[0], rel=1e-9)


def test_nearly_flat_logits_that_are_wrong_are_not_sharpened():
    """Failed once: the flat bound was sharper than these logits, and T = 1 was better than the T that was found."""
    logits, p = np.array([[0.014, 0.013]]), np.array([[0.0, 1.0]])
    assert fit_temperature(logits, p) > 1
    assert soft_nll_after_temperature(logits, p, logits, p) < nll(logits, p)


def test_a_single_item_is_fitted_too():
    assert fit_temperature([[2.0, 0.0]], [[0.75, 0.25]]) == pytest.approx(2 / math.log(3))


def test_rows_without_preference_leave_nothing_to_fit():
    assert fit_temperature([[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.5, 0.5]]) == 1.0


def test_impossible_classes_stay_impossible_and_do_not_disturb_the_others():
    p = np.array([[0.8, 0.2], [0.3, 0.7]])
    logits = np.hstack([5 * np.log(p), np.full((2, 1), -np.inf)])
    assert fit_temperature(logits, np.hstack([p, np.zeros((2, 1))])) == pytest.approx(5.0)
    hopeless = np.vstack([logits, [0.0, 0.0, -np.inf]])  # votes for what has probability 0: infinite at every T
    votes = np.vstack([np.hstack([p, np.zeros((2, 1))]), [0.0, 0.5, 0.5]])
    assert fit_temperature(hopeless, votes) == pytest.approx(5.0)
    assert soft_nll_after_temperature(hopeless, votes, hopeless, votes) == np.inf
    assert fit_temperature([[0.0, -np.inf]], [[0.5, 0.5]]) == 1.0


def test_no_items_and_diverged_networks_have_no_temperature():
    good, p = np.zeros((1, 2)), np.array([[1.0, 0.0]])
    for bad in (np.array([[np.nan, 0.0]]), np.array([[np.inf, 0.0]])):
        assert math.isnan(fit_temperature(bad, p))
        assert math.isnan(soft_nll_after_temperature(good, p, bad, p))
        assert math.isnan(soft_nll_after_temperature(bad, p, good, p))
    empty = np.zeros((0, 2))
    assert math.isnan(fit_temperature(empty, empty))
    assert math.isnan(soft_nll_after_temperature(good, p, empty, empty))
    assert math.isnan(soft_nll_after_temperature(empty, empty, good, p))


def test_inputs_are_checked_as_those_of_every_metric():
    with pytest.raises(InputError, match="row 0 is"):
        fit_temperature([[0.0, 1.0]], [[2.0, 1.0]])
    with pytest.raises(InputError, match="items x classes"):
        soft_nll_after_temperature([[0.0, 1.0]], [[1.0, 0.0]], [0.0], [1.0])


# ---- other items ----


def test_the_temperature_of_the_fitting_items_is_the_one_that_is_used(predictions):
    logits, p = predictions(100, sharpness=2.0, seed=1)
    fit_logits, fit_p = predictions(80, sharpness=2.0, seed=2)
    found = fit_temperature(fit_logits, fit_p)
    expected = nll(logits, p, found)
    assert soft_nll_after_temperature(logits, p, fit_logits, fit_p) == pytest.approx(expected, rel=1e-12)
    assert expected > nll(logits, p, fit_temperature(logits, p))  # fitted on themselves they would look better


def test_a_difference_of_scale_alone_is_gone_and_one_of_information_stays(predictions):
    logits, p = predictions(400)
    fit_logits, fit_p = predictions(400, seed=9)
    noise = np.random.default_rng(7).normal(size=(800, 10))
    sharp, blurred = (5 * logits, 5 * fit_logits), (logits + 2 * noise[:400], fit_logits + 2 * noise[400:])
    soft, scaled, worse = (soft_nll_after_temperature(z, p, f, fit_p) for z, f in ((logits, fit_logits), sharp, blurred))
    assert scaled == pytest.approx(soft, rel=1e-9)
    assert nll(5 * logits, p) > soft + 1
    assert worse > soft + 0.2


@pytest.mark.parametrize("n", [2, 3, 10, 101])
def test_each_half_is_scored_with_the_temperature_of_the_other(predictions, n):
    logits, p = predictions(n, classes=4, sharpness=3.0)
    index = np.random.default_rng(n).permutation(1000)[:n]
    first, expected = halves(index), np.empty_like(logits)
    assert abs(first.sum() - (~first).sum()) <= 1
    for row in range(n):
        expected[row] = logits[row] / fit_temperature(logits[first != first[row]], p[first != first[row]])
    np.testing.assert_allclose(cross_fitted(logits, p, index), expected)
    assert soft_nll_cross_fitted(logits, p, index) == pytest.approx(nll(expected, p), rel=1e-9)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40, unique=True), st.randoms())
@settings(deadline=None)
def test_halves_follow_the_items_and_not_their_rows(index, random):
    mixed = list(index)
    random.shuffle(mixed)
    assert dict(zip(index, halves(index), strict=True)) == dict(zip(mixed, halves(mixed), strict=True))


def test_halves_are_no_pattern_of_positions():
    first = halves(np.arange(1000))
    assert first.sum() == 500
    assert 200 < first[:500].sum() < 300
    assert 200 < first[::2].sum() < 300


def test_a_slice_is_scored_at_the_temperature_of_all_items(predictions):
    logits, p = predictions(60, sharpness=2.0)
    tempered, disputed = cross_fitted(logits, p, np.arange(60)), entropy(p) > 0.5
    found = score(tempered[disputed], p[disputed], ["soft_nll"])["soft_nll"]
    assert found == pytest.approx(nll(tempered[disputed], p[disputed]))


def test_one_item_has_no_other_half():
    assert math.isnan(soft_nll_cross_fitted([[0.0, 1.0]], [[0.5, 0.5]], [3]))
    assert math.isnan(soft_nll_cross_fitted(np.zeros((0, 2)), np.zeros((0, 2)), []))


@pytest.mark.parametrize(
    ("index", "message"),
    [([1, 1], "each once"), ([0.5, 1.0], "whole numbers"), ([[0, 1]], "shape"), ([0, 1, 2], "got 3 for logits of shape")],
)
def test_positions_that_are_none_are_refused(index, message):
    with pytest.raises(InputError, match=message):
        cross_fitted(np.zeros((2, 2)), np.full((2, 2), 0.5), index)
