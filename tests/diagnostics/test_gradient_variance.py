"""Gradient variance: the closed form against autograd's own gradients, the Monte-Carlo estimate by its distribution."""

import math

import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import spearmanr
from torch.nn import functional as F

from hardlabels.diagnostics.gradient_variance import feature_norm, gradient_variance, label_variance, sampled_variance
from hardlabels.errors import InputError
from hardlabels.votes import Votes

SETTINGS = {"checkpoint": "best", "draws": 64, "chunk": 100}


def gradients(head, h, classes):
    """(C, parameters) gradient of the last layer for every label, by autograd."""
    rows = []
    for y in range(classes):
        loss = F.cross_entropy(head(h[None]), torch.tensor([y]))
        rows.append(torch.cat([g.ravel() for g in torch.autograd.grad(loss, list(head.parameters()))]))
    return torch.stack(rows).numpy()


@pytest.mark.parametrize("bias", [True, False])
def test_the_closed_form_is_the_variance_of_autograds_gradients(bias):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    head = torch.nn.Linear(6, 4, bias=bias).double()
    h, p = rng.normal(size=(20, 6)), rng.dirichlet(np.ones(4) / 2, size=20)
    closed = label_variance(p) * feature_norm(h, bias=bias)
    for i in range(20):
        g = gradients(head, torch.from_numpy(h[i]), 4)
        mean = p[i] @ g
        assert closed[i] == pytest.approx(p[i] @ np.square(g - mean).sum(1), rel=1e-8, abs=1e-8)


def test_label_variance_is_what_proposition_1_adds_to_the_squared_gradient():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(5), size=(2, 30))
    squared = sum(p[:, y] * np.square(q - np.eye(5)[y]).sum(1) for y in range(5))
    np.testing.assert_allclose(squared, np.square(q - p).sum(1) + label_variance(p), rtol=1e-8)


def test_unanimous_items_have_no_variance_and_permuted_votes_the_same():
    p = np.array([[0.0, 1.0, 0.0], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])
    variance = label_variance(p)
    assert variance[0] == 0
    assert variance[1] == variance[2] == variance[3]


def test_the_sampled_variance_is_unbiased():
    votes = Votes.from_counts([[5, 3, 2], [9, 1, 0], [4, 0, 0], [1, 1, 1]])
    q = softmax(np.random.default_rng(0).normal(size=(4, 3)), axis=1)
    estimates = np.array([sampled_variance(q, votes, draws=8, seed=seed) for seed in range(400)])
    error = estimates.std(0, ddof=1) / math.sqrt(400)
    assert np.all(np.abs(estimates.mean(0) - label_variance(votes.p)) <= 4 * error + 1e-12)
    assert estimates[:, 2].max() == 0.0  # unanimous, to the last digit: such items must tie


def test_the_sampled_variance_does_not_depend_on_the_prediction():
    votes = Votes.from_counts([[5, 3, 2], [9, 1, 0]])
    a, b = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 2))
    assert sampled_variance(a, votes, 50, 0) == pytest.approx(sampled_variance(b, votes, 50, 0))


def test_the_probe_agrees_with_autograd_on_a_trained_network(finished, device):
    run = finished("sls")
    values = dict(gradient_variance(run, **SETTINGS, device=device))
    network, items, votes = run.network().double(), run.split.evaluate, run.source.votes
    with torch.no_grad():
        h = network.features(run.inputs(items).double())
    expected = []
    for i, item in enumerate(items):
        g, p = gradients(network.fc, h[i], 3), votes.p[item]
        expected.append(p @ np.square(g - p @ g).sum(1))
    np.testing.assert_allclose(values["item_variance"], expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(values["item_position"], items)
    assert values["full/variance"] == pytest.approx(np.mean(expected), rel=1e-3)
    assert values["full/spearman"] == pytest.approx(spearmanr(expected, votes.entropy[items]).statistic, abs=0.02)
    assert values["full/spearman"] > 0.8
    assert values["full/sampled_ratio"] == pytest.approx(1.0, abs=0.1)
    assert values["full/spearman_sampled"] > 0.8
    assert values["full/items"] > values["non_unanimous/items"] > values["high_disagreement/items"] > 0


def test_more_draws_agree_better(finished):
    errors = []
    for draws in (8, 2048):
        ratio = dict(gradient_variance(finished("sls"), **{**SETTINGS, "draws": draws}, device="cpu"))["full/sampled_ratio"]
        errors.append(abs(ratio - 1))
    assert errors[1] < 0.02
    with pytest.raises(InputError, match="draws must be at least 2"):
        list(gradient_variance(finished("sls"), **{**SETTINGS, "draws": 1}, device="cpu"))


def test_the_probe_leaves_the_run_as_it_was(finished, contents):
    run = finished("sls")
    before = contents(run)
    list(gradient_variance(run, **SETTINGS, device="cpu"))
    assert contents(run) == before
