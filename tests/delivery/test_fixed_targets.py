"""Soft, majority and label smoothing: the targets that are the same in every epoch."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from hardlabels.delivery.label_smoothing import LabelSmoothing, label_smoothing
from hardlabels.delivery.majority import Majority, majority
from hardlabels.delivery.soft import Soft, soft
from hardlabels.votes import Votes


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    return Votes.from_counts(rng.multinomial(9, rng.dirichlet(np.ones(5)), size=300))  # with many ties


@pytest.fixture(scope="module")
def logits():
    return torch.from_numpy(np.random.default_rng(1).normal(size=(300, 5)) * 3)


def test_soft_is_the_share_of_votes(votes):
    expected = [[count / sum(row) for count in row] for row in votes.counts.tolist()]
    np.testing.assert_allclose(soft(votes), expected, rtol=1e-6)
    np.testing.assert_array_equal(Soft(votes, 0)(17), soft(votes))


def test_the_loss_of_soft_is_the_cross_entropy(votes, logits):
    log_q = logits.log_softmax(1).tolist()
    expected = [-sum(p * lq for p, lq in zip(row, lqs, strict=True)) for row, lqs in zip(votes.p.tolist(), log_q, strict=True)]
    loss = cross_entropy(logits, torch.from_numpy(soft(votes)).double(), reduction="none")
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_majority_ties_go_to_the_lowest_class(votes):
    ties = 0
    for row, label in zip(votes.counts.tolist(), Majority(votes, 0)(3), strict=True):
        assert label == min(k for k in range(5) if row[k] == max(row))
        ties += row.count(max(row)) > 1
    assert ties > 30
    assert majority(Votes.from_counts([[0, 2, 2], [3, 3, 3], [1, 0, 1]])).tolist() == [1, 0, 0]
    assert majority(Votes.from_probabilities([[0.2, 0.4, 0.4]])).tolist() == [1]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.37, 1.0])
def test_label_smoothing_is_torchs(votes, logits, smoothing):
    theirs = cross_entropy(logits, torch.from_numpy(majority(votes)), label_smoothing=smoothing, reduction="none")
    ours = cross_entropy(logits, torch.from_numpy(LabelSmoothing(votes, 0, smoothing)(0)).double(), reduction="none")
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_the_ends_of_smoothing(votes):
    np.testing.assert_array_equal(label_smoothing(votes, smoothing=0), np.eye(5)[votes.majority])
    np.testing.assert_allclose(label_smoothing(votes, smoothing=1), 0.2)
    np.testing.assert_array_equal(LabelSmoothing(votes, 0)(0), label_smoothing(votes, smoothing=0.1))


def test_smoothing_ignores_what_the_minority_said():
    two = label_smoothing(Votes.from_counts([[9, 0, 0], [4, 3, 2]]))
    np.testing.assert_array_equal(two[0], two[1])
