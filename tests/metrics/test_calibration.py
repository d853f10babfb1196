"""Calibration errors against relplot, scikit-learn and plain loops."""

import numpy as np
import pytest
import relplot
from scipy.special import log_softmax
from scipy.stats import norm
from sklearn.calibration import calibration_curve

from hardlabels.metrics.calibration import (
    BINS,
    ece_eqmass,
    ece_votes,
    equal_mass_bins,
    smooth_ece,
    smooth_ece_at,
    smooth_gap,
    top_label,
)


def top_labels(logits, p):
    return relplot.multiclass_logits_to_confidences(logits, p.argmax(1))


def test_top_label_is_relplots(predictions):
    logits, p = predictions(300, sharpness=2.0)
    np.testing.assert_allclose(top_label(log_softmax(logits, axis=1), p), top_labels(logits, p), rtol=1e-12)


# ---- equal mass ----


@pytest.mark.parametrize("n", [15, 16, 29, 100, 2000])
def test_ece_is_the_loop_over_array_split(predictions, n):
    logits, p = predictions(n, sharpness=2.0)
    confidence, correct = top_labels(logits, p)
    expected = 0.0
    for members in np.array_split(np.argsort(confidence), 15):
        expected += len(members) / n * abs(np.mean(confidence[members]) - np.mean(correct[members]))
    assert ece_eqmass(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=1e-12)


def test_ece_is_sklearns_quantile_curve_when_bins_are_even(predictions):
    logits, p = predictions(1500, sharpness=0.7)
    confidence, correct = top_labels(logits, p)
    accuracy, mean_confidence = calibration_curve(correct, confidence, n_bins=15, strategy="quantile")
    expected = np.abs(accuracy - mean_confidence).mean()
    assert ece_eqmass(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 14])
def test_fewer_items_than_bins_makes_every_item_a_bin(predictions, n):
    logits, p = predictions(n)
    confidence, correct = top_labels(logits, p)
    assert ece_eqmass(log_softmax(logits, axis=1), p) == pytest.approx(np.abs(confidence - correct).mean(), abs=1e-12)


def test_equal_confidences_are_calibrated_together():
    # All 30 items are 80 % sure and 24 are right. Bins filled in row order would hold 2 right or 2 wrong items and give 0.32.
    log_q, p = np.log([[0.8, 0.2]] * 30), np.array([[1.0, 0.0]] * 24 + [[0.0, 1.0]] * 6)
    assert ece_eqmass(log_q, p) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("n", [1, 7, 15, 31, 100])
def test_bins_begin_where_array_split_puts_them(n):
    forecast = np.linspace(0, 1, n)
    _, _, start = equal_mass_bins(forecast, forecast)
    assert start.tolist() == [part[0] for part in np.array_split(np.arange(n), BINS) if len(part)]


def test_rows_are_binned_each_by_itself():
    rng = np.random.default_rng(0)
    forecast, outcome = rng.integers(0, 9, size=(4, 50)) / 8, rng.random((4, 50))
    together = equal_mass_bins(forecast, outcome)
    for row in range(4):
        alone = equal_mass_bins(forecast[row], outcome[row])
        np.testing.assert_allclose(together[0][row], alone[0])
        np.testing.assert_allclose(together[1][row], alone[1], atol=1e-12)


# ---- against votes ----


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("n", [1, 14, 15, 100, 2000])
def test_ece_against_votes_is_the_loop_over_array_split(predictions, n, sharpness):
    logits, p = predictions(n, sharpness=sharpness)
    q = np.exp(log_softmax(logits, axis=1))
    top = [max(range(10), key=row.__getitem__) for row in q]
    expected = 0.0
    for members in np.array_split(np.argsort(q.max(1)), 15):
        if len(members):
            gap = np.mean([q[i, top[i]] for i in members]) - np.mean([p[i, top[i]] for i in members])
            expected += len(members) / n * abs(gap)
    assert ece_votes(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=1e-12)


def test_annotators_own_distribution_is_calibrated_against_votes_and_not_against_their_majority():
    p = np.random.default_rng(0).multinomial(5, np.full(4, 0.25), size=300) / 5  # many ties of q and of votes
    with np.errstate(divide="ignore"):
        log_q = np.log(p)
    assert ece_votes(log_q, p) == pytest.approx(0.0, abs=1e-15)
    assert ece_eqmass(log_q, p) > 0.4


def test_where_annotators_agree_both_are_the_same(predictions):
    logits, p = predictions(200, votes=1)
    log_q = log_softmax(logits, axis=1)
    assert ece_votes(log_q, p) == pytest.approx(ece_eqmass(log_q, p), abs=1e-12)


def test_ece_against_votes_is_what_many_drawn_votes_tend_to(predictions):
    """One drawn vote for each copy of an item: with 500 copies, the plain ECE on (copies, drawn votes)."""
    logits, p = predictions(30, classes=3, sharpness=3.0)
    log_q, rng = log_softmax(logits, axis=1), np.random.default_rng(1)
    drawn = np.concatenate([rng.multinomial(1, p) for _ in range(500)]).astype(float)
    assert ece_eqmass(np.tile(log_q, (500, 1)), drawn) == pytest.approx(ece_votes(log_q, p), abs=0.01)


def test_a_sure_model_on_disputed_items_is_punished_by_votes_and_praised_by_the_majority():
    log_q, p = np.log([[1 - 1e-9, 1e-9]] * 20), np.array([[0.6, 0.4]] * 20)
    assert ece_eqmass(log_q, p) == pytest.approx(0.0, abs=1e-8)
    assert ece_votes(log_q, p) == pytest.approx(0.4, abs=1e-8)


# ---- smooth ----


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 2.0, 5.0, 30.0])
@pytest.mark.parametrize("n", [1, 20, 300, 2000])
def test_smooth_ece_is_relplots(predictions, n, sharpness):
    logits, p = predictions(n, sharpness=sharpness, seed=n)
    expected = relplot.smECE(*top_labels(logits, p))
    # relplot adds 1e-4 to the density, which grows with n: seen only for n = 1.
    assert smooth_ece(log_softmax(logits, axis=1), p) == pytest.approx(expected, abs=2e-5 + 3e-4 / n)


def by_bisections(confidence, residual):
    """The width as relplot searches for it: ten times the half in which value and width are equal."""
    lower, upper = 0.0, 1.0
    for _ in range(10):
        width = (lower + upper) / 2
        if width < 0.001 or width < smooth_ece_at(confidence, residual, width):
            lower = width
        else:
            upper = width
    return smooth_ece_at(confidence, residual, upper)


@pytest.mark.parametrize("right", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 20, 300])
def test_the_search_ends_where_ten_bisections_end(n, right):
    rng = np.random.default_rng([n, int(10 * right)])
    for sharpness in (0.01, 1.0, 3.0, 100.0):
        confidence = np.exp(log_softmax(sharpness * rng.normal(size=(n, 3)), axis=1)).max(1)
        for shown in (confidence, confidence.round(1)):  # with ties
            residual = shown - (rng.random(n) < right)
            assert smooth_gap(shown, residual) == by_bisections(shown, residual)


@pytest.mark.parametrize("width", [0.002, 0.01, 0.03, 0.1, 0.4])
def test_smooth_ece_at_a_width_is_relplots(predictions, width):
    confidence, correct = top_labels(*predictions(500, sharpness=3.0))
    expected = relplot.smECE_sigma(confidence, correct, sigma=width)
    assert smooth_ece_at(confidence, confidence - correct, width) == pytest.approx(expected, abs=1e-4)


def formula(confidence, correct, width):
    """The integral of the docstring, by brute force: the Gaussian and its images in 0 and 1, on a fine mesh of midpoints."""
    t = (np.arange(500) + 0.5) / 500
    images = np.concatenate([sign * confidence + 2 * turn for sign in (1, -1) for turn in (-1, 0, 1)])
    residual = np.tile(confidence - correct, 6)
    return np.abs(norm.pdf(t[:, None], images, width) @ residual).mean() / len(confidence)


def test_smooth_ece_is_the_formula_at_its_own_fixed_point(predictions):
    logits, p = predictions(300, sharpness=0.7)
    value, (confidence, correct) = smooth_ece(log_softmax(logits, axis=1), p), top_labels(logits, p)
    assert formula(confidence, correct, value) == pytest.approx(value, abs=1e-3)


def test_saturated_predictions_read_high(predictions):
    """The bias of relplot that is kept: half the weight at confidence 1. Smoothed residuals have one sign: the truth is known."""
    logits, p = predictions(2000, sharpness=5.0, votes=1)
    confidence, correct = top_labels(logits, p)
    value, truth = smooth_ece(log_softmax(logits, axis=1), p), (confidence - correct).mean()
    assert (confidence > 0.999).mean() > 0.4
    assert formula(confidence, correct, value) == pytest.approx(truth, abs=1e-3)
    assert 0.02 < value - truth < 0.05
    assert value == pytest.approx(relplot.smECE(confidence, correct), abs=1e-4)
