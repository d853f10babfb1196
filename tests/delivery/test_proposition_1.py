"""Proposition 1 of the paper, from drawn labels: the hard-label gradient has the soft-label mean and a known covariance.

Every bound is derived: the exact mean and variance of what is averaged come from a loop over the C labels, and a Monte Carlo mean
of T draws may be 4.5 standard errors off.
"""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.shuffled_sls import ShuffledSLS, shuffle_items
from hardlabels.delivery.sls import SLS
from hardlabels.delivery.soft import Soft
from hardlabels.votes import Votes

ROWS = np.array([[6, 3, 1], [0, 5, 5], [0, 0, 9], [1, 1, 1], [40, 1, 9]])
N, C = ROWS.shape
P = ROWS / ROWS.sum(1, keepdims=True)
EPOCHS = 12_000
LOGITS = np.random.default_rng(0).normal(size=(N, C))
Q = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)


@pytest.fixture(scope="module", params=["votes", "probabilities", "shuffled"])
def drawn(request):
    """(labels of all epochs, the distributions they were drawn from)."""
    votes = Votes.from_counts(ROWS) if request.param != "probabilities" else Votes.from_probabilities(P)
    delivery = (ShuffledSLS if request.param == "shuffled" else SLS)(votes, seed=1)
    labels = np.stack([delivery(epoch) for epoch in range(EPOCHS)])
    return labels, shuffle_items(votes, seed=1).p if request.param == "shuffled" else P


def check_law(labels, p, of_label, law):
    """The mean of ``of_label(y)`` over drawn y, against ``law``: first by enumeration, then by Monte Carlo."""
    values = np.stack([of_label(y) for y in range(C)])  # (C, ...)
    weights = p.reshape(C, *[1] * (values.ndim - 1))
    mean = (weights * values).sum(0)
    np.testing.assert_allclose(mean, law, atol=1e-12)  # the proposition
    error = np.sqrt((weights * (values - mean) ** 2).sum(0) / len(labels))
    assert (np.abs(values[labels].mean(0) - mean) <= 4.5 * error + 1e-12).all()  # and our labels obey it


@pytest.mark.parametrize("i", range(N))
def test_mean_loss_is_the_soft_cross_entropy(drawn, i):
    labels, p, q = drawn[0][:, i], drawn[1][i], Q[i]
    check_law(labels, p, lambda y: -np.log(q[y]), -(p * np.log(q)).sum())


@pytest.mark.parametrize("i", range(N))
def test_mean_gradient_is_q_minus_p(drawn, i):
    labels, p, q = drawn[0][:, i], drawn[1][i], Q[i]
    check_law(labels, p, lambda y: q - np.eye(C)[y], q - p)


@pytest.mark.parametrize("i", range(N))
def test_gradient_covariance_is_diag_p_minus_pp(drawn, i):
    labels, p, q = drawn[0][:, i], drawn[1][i], Q[i]
    check_law(labels, p, lambda y: np.outer(p - np.eye(C)[y], p - np.eye(C)[y]), np.diag(p) - np.outer(p, p))
    gradients = q - np.eye(C)[labels]
    np.testing.assert_allclose(np.cov(gradients.T), np.diag(p) - np.outer(p, p), atol=4.5 / np.sqrt(EPOCHS) / 2)


@pytest.mark.parametrize("i", range(N))
def test_mean_squared_gradient_norm(drawn, i):
    labels, p, q = drawn[0][:, i], drawn[1][i], Q[i]
    check_law(labels, p, lambda y: ((q - np.eye(C)[y]) ** 2).sum(), ((q - p) ** 2).sum() + 1 - (p**2).sum())


def gradient(targets):
    """Torch's gradient of the cross-entropy of every item with respect to its logits."""
    logits = torch.tensor(LOGITS, requires_grad=True)
    targets = torch.from_numpy(targets)
    cross_entropy(logits, targets.double() if targets.is_floating_point() else targets, reduction="sum").backward()
    return logits.grad.numpy()


def test_torch_agrees_on_the_gradients():
    votes = Votes.from_counts(ROWS)
    np.testing.assert_allclose(gradient(Soft(votes, 0)(0)), Q - P, atol=1e-7)
    hard = SLS(votes, 0)(0)
    np.testing.assert_allclose(gradient(hard), Q - np.eye(C)[hard], atol=1e-12)


def test_a_multipass_cycle_has_the_soft_gradient_without_any_error():
    delivery = Multipass(Votes.from_counts(ROWS), 0)
    gradients = np.stack([gradient(delivery(epoch)) for epoch in range(50)])
    for i, m in enumerate(ROWS.sum(1)):
        np.testing.assert_allclose(gradients[:m, i].mean(0), Q[i] - P[i], atol=1e-12)
