"""All metrics at once are what each of them is alone, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import log_softmax

from hardlabels.metrics import METRICS, score
from hardlabels.metrics.together import Annotators, score_together
from tests.metrics.test_collection import any_predictions


def same(values, expected):
    assert list(values) == list(expected) == list(METRICS)
    for name, value in values.items():
        assert value == expected[name] or (math.isnan(value) and math.isnan(expected[name])), (name, value, expected[name])


def alone(logits, p):
    return {name: spec.function(log_softmax(logits, axis=1), p) for name, spec in METRICS.items()}


@given(any_predictions())
@settings(deadline=None)
def test_each_value_is_that_of_its_own_function(predictions):
    logits, p = predictions
    same(score_together(log_softmax(logits, axis=1), Annotators.of(p)), alone(logits, p))
    same(score(logits, p), alone(logits, p))


@pytest.mark.parametrize(("items", "scale"), [(300, 1.0), (2000, 8.0), (2000, 0.01)])
def test_many_items_sure_and_unsure(predictions, items, scale):
    logits, p = predictions(items)
    same(score(scale * logits, p), alone(scale * logits, p))


def test_impossible_classes_and_asked_for_subsets(predictions):
    logits, p = predictions(50)
    p[:, 1] += p[:, 0]
    logits[:, 0], p[:, 0] = -np.inf, 0.0
    same(score(logits, p), alone(logits, p))
    assert score(logits, p, ["ece_votes", "manhattan"])["ece_votes"] == score(logits, p)["ece_votes"]
