"""The list of metrics and ``score``: laws that hold for every prediction, corner cases, refusals."""

import json
import math
import subprocess
import sys
from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS, score
from hardlabels.runs.archive import unpacked
from hardlabels.votes import entropy

BOUNDS = {
    "soft_nll": (0, math.inf),
    "kl_to_annotator": (0, math.inf),
    "soft_brier": (0, 2),
    "hard_acc": (0, 1),
    "ece_eqmass": (0, 1),
    "ece_votes": (0, 1),
    "smooth_ece": (0, 1),
    "ent_corr": (-1, 1),
    "brier_reliability": (0, 2),
    "brier_resolution": (0, 1),
    "brier_uncertainty": (0, 1),
}


@st.composite
def any_predictions(draw):
    """(logits, p) of 1 to 40 items and 2 to 5 classes: few votes, and logits from flat to saturated, with ties in both."""
    shape = draw(st.integers(1, 40)), draw(st.integers(2, 5))
    logits = draw(hnp.arrays(np.float64, shape, elements=st.one_of(st.integers(-2, 2), st.floats(-60, 60))))
    counts = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 4)))
    counts[:, draw(st.integers(0, shape[1] - 1))] += 1  # at least one vote an item
    return logits, counts / counts.sum(1, keepdims=True)


@given(any_predictions())
@settings(deadline=None)
def test_every_metric_stays_in_its_range(predictions):
    logits, p = predictions
    values = score(logits, p)
    assert list(values) == list(METRICS) == list(BOUNDS)
    for name, value in values.items():
        low, high = BOUNDS[name]
        assert low - 1e-12 <= value <= high + 1e-12 or (name == "ent_corr" and math.isnan(value)), (name, value)
    assert values["soft_nll"] >= entropy(p).mean() - 1e-12
    assert values["kl_to_annotator"] == values["soft_nll"] - entropy(p).mean()
    assert values["brier_resolution"] <= values["brier_uncertainty"] + 1e-12


@given(any_predictions(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_items_does_not_matter(predictions, random):
    logits, p = predictions
    order = list(range(len(p)))
    random.shuffle(order)
    assert score(logits[order], p[order]) == pytest.approx(score(logits, p), abs=1e-12, nan_ok=True)


@given(any_predictions(), st.floats(-50, 50))
@settings(deadline=None)
def test_a_constant_added_to_the_logits_does_not_matter(predictions, shift):
    logits, p = predictions
    names = ["soft_nll", "kl_to_annotator", "soft_brier"]  # the others jump where rounding makes or breaks a tie
    assert score(logits + shift, p, names) == pytest.approx(score(logits, p, names), abs=1e-9)


@given(any_predictions())
@settings(deadline=None)
def test_the_perfect_prediction(predictions):
    _, p = predictions
    with np.errstate(divide="ignore"):
        values = score(np.log(p), p)
    assert values["soft_nll"] == pytest.approx(entropy(p).mean(), abs=1e-12)
    for name in ("kl_to_annotator", "soft_brier", "brier_reliability", "ece_votes"):
        assert values[name] == pytest.approx(0.0, abs=1e-12)


def test_score_is_the_functions_in_the_order_asked_for(predictions):
    logits, p = predictions(100)
    names = ["hard_acc", "soft_nll"]
    values = score(logits.tolist(), p.tolist(), names)
    assert list(values) == names
    assert values == {name: METRICS[name].function(log_softmax(logits, axis=1), p) for name in names}


def test_one_item_has_every_metric_but_a_correlation():
    values = score([[0.0, 0.0, np.log(2)]], [[0.0, 0.0, 1.0]])  # q = 1/4, 1/4, 1/2
    assert math.isnan(values.pop("ent_corr"))
    expected = [math.log(2), math.log(2), 3 / 8, 1.0, 0.5, 0.5, 0.5, 3 / 8, 0.0, 0.0]
    assert list(values.values()) == pytest.approx(expected, abs=1e-12)


def test_no_items_and_diverged_predictions_have_no_value():
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    for logits in ([[0.0, np.nan], [0.0, 0.0]], [[0.0, np.inf], [0.0, 0.0]], [[-np.inf, -np.inf], [0.0, 0.0]]):
        assert all(math.isnan(value) for value in score(logits, p).values())
    assert all(math.isnan(value) for value in score(np.zeros((0, 2)), np.zeros((0, 2))).values())


@pytest.mark.parametrize(
    ("logits", "p", "names", "message"),
    [
        ([[0.0, 1.0]], [[1.0, 0.0]], ["nll"], "one of soft_nll, .* got 'nll'"),
        ([[0.0, 1.0]], [[1.0, 0.0, 0.0]], None, r"\(1, 2\) and \(1, 3\)"),
        ([0.0, 1.0], [1.0, 0.0], None, "items x classes"),
        ([[0.0, 1.0]] * 2, [[1.0, 0.0], [3.0, 1.0]], None, r"sum to 1; row 1 is \[3.0, 1.0\]"),
        ([[0.0, 1.0]], [[1.5, -0.5]], None, "row 0 is"),
        ([[0.0, 1.0]], [[np.nan, 1.0]], None, "row 0 is"),
    ],
)
def test_refusals_name_what_came(logits, p, names, message):
    with pytest.raises(InputError, match=message):
        score(logits, p, names)


def test_scoring_does_not_need_torch():
    code = "import sys, hardlabels.metrics; assert not {'torch', 'lightning', 'torchmetrics'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_records_from_before_a_metric_was_there_are_scored_from_their_predictions():
    """Committed runs have no ``ece_votes`` in their result.json. What they have is what their predictions give, and so has it.

    To the digits that compact records keep: ``tests/test_publish.py`` holds all of them to that.
    """
    archive = Path(__file__).parents[2] / "results/pocket/cifar10h/pocket.tar.xz"
    folder = unpacked(archive) / "cifar10h/pocket/sls/K=5/seed=0"
    kept, stored = np.load(folder / "predictions.npz"), json.loads((folder / "result.json").read_text())
    for checkpoint, logits in (("best", kept["logits"]), ("last", kept["logits_last"])):
        values, old = score(logits, kept["p"]), stored[checkpoint]["full"]
        assert set(old) <= set(METRICS)
        assert {name: values[name] for name in old} == pytest.approx(old, abs=3e-3)
        assert 0 < values["ece_votes"] < 1
