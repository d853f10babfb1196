"""The sparse-target diagnostic, item by item against plain loops, scipy and pandas."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.special import log_softmax
from scipy.stats import spearmanr

from hardlabels.diagnostics.probe import NotApplicableError
from hardlabels.diagnostics.sparse_target import bin_by_distance, sparse_target
from hardlabels.errors import InputError
from hardlabels.learning.predict import predict

SETTINGS = {"checkpoint": "best", "items": "evaluate", "bins": 4}


@pytest.fixture
def pair(finished):
    return finished("sls", 0, "K=5"), finished("soft", 0, "K=5")


def test_without_ties_bins_are_pandas_quantile_bins():
    rng = np.random.default_rng(0)
    distance, improvement = rng.random(1000), rng.normal(size=1000)
    table = bin_by_distance(distance, improvement, 10)
    groups = pd.DataFrame({"d": distance, "i": improvement}).groupby(pd.qcut(distance, 10, labels=False))
    assert table["n"] == groups.size().tolist() == [100] * 10
    assert table["distance"] == pytest.approx(groups["d"].mean().tolist())
    assert table["improvement"] == pytest.approx(groups["i"].mean().tolist())
    assert table["se"] == pytest.approx(groups["i"].sem().tolist())


def test_tied_distances_share_a_bin_and_no_item_is_lost():
    rng = np.random.default_rng(0)
    for _ in range(50):
        distance, improvement = rng.choice([0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.7], 60), rng.normal(size=60)
        table = bin_by_distance(distance, improvement, int(rng.integers(1, 12)))
        assert sum(table["n"]) == 60
        assert np.dot(table["n"], table["improvement"]) == pytest.approx(improvement.sum())
        edges = np.array([-np.inf, *table["upper"]])
        for value in np.unique(distance):
            assert ((edges[:-1] < value) & (value <= edges[1:])).sum() == 1  # all items of one value in one bin
        assert np.all(np.diff(table["distance"]) > 0)


def test_the_items_whose_target_is_exact_are_a_bin_of_their_own():
    distance = np.array([0.0] * 44 + list(np.linspace(0.01, 1, 56)))
    table = bin_by_distance(distance, distance, 10)
    assert table["n"][0] == 44
    assert table["distance"][0] == 0.0
    assert len(table["n"]) == 7


def test_no_items_are_no_bins():
    assert bin_by_distance(np.array([]), np.array([]), 5) == {key: [] for key in ("upper", "n", "distance", "improvement", "se")}
    with pytest.raises(InputError, match="bins"):
        bin_by_distance(np.ones(3), np.ones(3), 0)


def test_every_number_is_that_of_a_plain_loop_over_the_items(pair):
    a, b = pair
    values = dict(sparse_target(a, b, **SETTINGS, device="cpu"))
    votes, thin = a.source.votes, a.source.votes.subsample(5, 0)
    saved_a, saved_b = a.predictions, b.predictions
    rows = []
    for place, item in enumerate(saved_a["index"]):
        p, target = votes.p[item], thin.p[item]
        log_a, log_b = (log_softmax(saved["logits"][place].astype(np.float64)) for saved in (saved_a, saved_b))
        gain = sum(p[c] * (log_a[c] - log_b[c]) for c in range(3))
        rows.append((gain, jensenshannon(p, target), abs(p - target).sum(), votes.entropy[item]))
    gain, js, l1, entropy = np.array(rows).T
    assert values["full/items"] == len(a.split.evaluate)
    assert values["full/improvement"] == pytest.approx(gain.mean())
    for kind, distance in (("js", js.round(9)), ("l1", l1.round(9))):
        high = entropy >= np.quantile(votes.entropy, 0.9)
        for name, inside in (("full", entropy >= 0), ("non_unanimous", entropy > 0), ("high_disagreement", high)):
            expected = spearmanr(distance[inside], gain[inside]).statistic
            assert values[f"{name}/{kind}_spearman"] == pytest.approx(expected, abs=1e-9)
            assert sum(values[f"{name}/{kind}_bins"]["n"]) == inside.sum()
        assert values[f"full/{kind}_bins"]["distance"][0] == 0.0  # a quarter of the targets and more is exact


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_the_mean_improvement_is_the_difference_of_the_saved_results(pair, checkpoint):
    a, b = pair
    values = dict(sparse_target(a, b, **{**SETTINGS, "checkpoint": checkpoint}, device="cpu"))
    for name in ("full", "non_unanimous", "high_disagreement"):
        expected = b.result[checkpoint][name]["soft_nll"] - a.result[checkpoint][name]["soft_nll"]
        assert values[f"{name}/improvement"] == pytest.approx(expected, abs=1e-9)
        bins = values[f"{name}/js_bins"]
        assert np.dot(bins["n"], bins["improvement"]) / sum(bins["n"]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_training_items_can_be_asked_for(pair, device, checkpoint):
    a, b = pair
    values = dict(sparse_target(a, b, checkpoint=checkpoint, items="train", bins=4, device=device))
    p, items = a.source.votes.p[a.split.train], a.split.train
    networks = [run.network(checkpoint) for run in (a, b)]
    log_a, log_b = (log_softmax(predict(network, a.source, items).astype(np.float64), axis=1) for network in networks)
    assert values["full/items"] == len(items)
    assert values["full/improvement"] == pytest.approx((p * (log_a - log_b)).sum(1).mean(), abs=1e-5)


def test_all_votes_leave_no_distance(finished):
    with pytest.raises(NotApplicableError, match="with all votes the target is p itself"):
        list(sparse_target(finished("sls"), finished("soft"), **SETTINGS, device="cpu"))


def test_runs_that_learned_from_other_votes_are_refused(finished, pair):
    with pytest.raises(InputError, match="same K votes"):
        list(sparse_target(pair[0], finished("soft", 1, "K=5"), **SETTINGS, device="cpu"))
    with pytest.raises(InputError, match="items must be one of"):
        list(sparse_target(*pair, **{**SETTINGS, "items": "test"}, device="cpu"))


def test_the_probe_leaves_the_runs_as_they_were(pair, contents):
    before = contents(*pair)
    list(sparse_target(*pair, **SETTINGS, device="cpu"))
    assert contents(*pair) == before
