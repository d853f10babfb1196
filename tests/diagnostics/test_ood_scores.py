"""AUROC, AUPR, FPR95 against scikit-learn, ties included; and the thinned curve and the histograms of the figure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from hardlabels.diagnostics.detection import detection_scores, histogram, roc_counts, thin_roc
from hardlabels.errors import InputError
from hardlabels.randomness import stream

LITERAL = [
    ([0.1, 0.4, 0.35, 0.8], [0.4, 0.4, 0.9]),  # ties across the two kinds, and within one
    ([1.0, 1.0, 1.0], [1.0, 1.0]),  # nothing but a tie
    ([0.0, 1.0, 2.0], [3.0, 4.0]),  # told apart entirely
    ([3.0, 4.0], [0.0, 1.0, 2.0]),  # the wrong way round
    ([-2000.0, -1999.0, -1999.0], [-1999.0, -1998.5, -2001.0]),  # large energies: a sigmoid would make all of them 0
]


def reference(inside, outside) -> dict[str, float]:
    truth, scores = np.array([0] * len(inside) + [1] * len(outside)), np.concatenate([inside, outside])
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    return {
        "auroc": roc_auc_score(truth, scores),
        "aupr": average_precision_score(truth, scores),
        "fpr95": fpr[np.flatnonzero(tpr >= 0.95 - 1e-12)[0]],
    }


@pytest.mark.parametrize(("inside", "outside"), LITERAL)
def test_scores_are_scikit_learns_on_literal_scores_with_ties(inside, outside):
    assert detection_scores(*roc_counts(np.array(inside), np.array(outside))) == pytest.approx(
        reference(inside, outside), abs=1e-12
    )


numbers = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(numbers, numbers)
def test_scores_are_scikit_learns_on_any_scores_with_many_ties(inside, outside):
    ours = detection_scores(*roc_counts(np.array(inside), np.array(outside)))
    assert ours == pytest.approx(reference(inside, outside), abs=1e-12)
    pairs = [(o > i) + (o == i) / 2 for i in inside for o in outside]  # what AUROC means
    assert ours["auroc"] == pytest.approx(np.mean(pairs), abs=1e-12)


def test_exactly_95_percent_is_enough():
    """19 of 20 outliers score 1; the last one scores below every in-distribution item."""
    outside = np.array([1.0] * 19 + [-1.0])
    assert detection_scores(*roc_counts(np.zeros(10), outside))["fpr95"] == 0.0
    assert detection_scores(*roc_counts(np.zeros(10), outside[1:]))["fpr95"] == 1.0  # 18 of 19 are too few


def test_a_monotone_change_of_scale_changes_nothing():
    rng = stream(0, "test scores")
    inside, outside = rng.normal(0, 1, 300), rng.normal(1, 1, 500)
    plain = detection_scores(*roc_counts(inside, outside))
    assert detection_scores(*roc_counts(np.exp(inside), np.exp(outside))) == plain
    flipped = detection_scores(*roc_counts(-inside, -outside))
    assert flipped["auroc"] == pytest.approx(1 - plain["auroc"], abs=1e-12)


@pytest.mark.parametrize(("inside", "outside"), [([1.0, np.nan], [1.0]), ([1.0], [np.inf]), ([], [1.0]), ([1.0], [])])
def test_scores_that_cannot_be_ranked_are_refused(inside, outside):
    with pytest.raises(InputError, match="finite numbers of at least one item of either kind"):
        roc_counts(np.array(inside), np.array(outside))


def test_the_thinned_curve_is_short_and_lies_on_the_curve():
    rng = stream(1, "test scores")
    counts = roc_counts(rng.normal(0, 1, 2000), rng.normal(1.5, 1, 26_032))
    fpr, tpr = thin_roc(*counts)
    assert len(fpr) == len(tpr) <= 200
    whole = set(zip((counts[0] / 2000).tolist(), (counts[1] / 26_032).tolist(), strict=True))
    assert set(zip(fpr.tolist(), tpr.tolist(), strict=True)) <= whole
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    area = (np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2).sum()
    assert area == pytest.approx(detection_scores(*counts)["auroc"], abs=2e-3)


def test_a_short_curve_is_kept_whole():
    fpr, tpr = thin_roc(*roc_counts(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])))
    assert fpr.tolist() == pytest.approx([0, 0, 1 / 3, 2 / 3, 1])
    assert tpr.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])


def test_histograms_share_their_edges_and_lose_nothing():
    rng = stream(2, "test scores")
    inside, outside = rng.normal(0, 1, 2000), rng.normal(3, 2, 5000)
    edges, counts_in, counts_out = histogram(inside, outside, bins=40)
    assert (len(edges), counts_in.sum(), counts_out.sum()) == (41, 2000, 5000)
    assert edges[0] == min(inside.min(), outside.min())
    assert edges[-1] == max(inside.max(), outside.max())
    assert counts_in[3] == ((inside >= edges[3]) & (inside < edges[4])).sum()
    assert histogram(np.ones(3), np.ones(2), bins=4)[1].sum() == 3  # all scores equal
