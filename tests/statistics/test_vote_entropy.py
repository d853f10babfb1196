"""What the true distributions would score, estimated from few votes: right on average, where the truth is known."""

import numpy as np
import pytest
from scipy.special import xlogy

from hardlabels.statistics.vote_entropy import jackknife_entropy, limit_of
from hardlabels.votes import Votes, entropy


def by_leaving_out(labels: list[int]) -> float:
    """The jackknife by a plain loop over the votes of one item."""
    m = len(labels)

    def h(rest: list[int]) -> float:
        return float(entropy(np.bincount(rest)[None] / len(rest))[0])

    return m * h(labels) - (m - 1) * float(np.mean([h(labels[:i] + labels[i + 1 :]) for i in range(m)]))


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 2], [2, 2, 2, 2], [0, 1, 1, 3, 3, 3, 3]])
def test_it_leaves_out_every_vote_once(labels):
    counts = np.bincount(labels, minlength=4)[None]
    assert jackknife_entropy(counts)[0] == pytest.approx(by_leaving_out(labels), abs=1e-12)


@pytest.mark.parametrize(("fewest", "most", "off"), [(3, 6, 0.06), (10, 10, 0.015), (50, 50, 0.005)])
@pytest.mark.parametrize("classes", [2, 4])
def test_on_average_it_is_what_the_true_distributions_score(fewest, most, off, classes):
    """100 draws of the votes of 500 items: its mean is near the truth's cross-entropy, the votes' own entropy far below."""
    rng, items = np.random.default_rng(0), np.arange(500)
    truth = rng.dirichlet([0.6] * classes, len(items))
    estimates, plain, scores = [], [], []
    for _ in range(100):
        votes = Votes.from_counts(rng.multinomial(rng.integers(fewest, most + 1, len(items)), truth))
        estimates.append(limit_of(votes, [items]).reachable)
        plain.append(limit_of(votes, [items]).floor)
        scores.append(-xlogy(votes.p, truth).sum(1).mean())
    missed, missed_by_plain = np.mean(scores) - np.mean(estimates), np.mean(scores) - np.mean(plain)
    assert abs(missed) < off
    assert abs(missed) < missed_by_plain / 3
    assert missed_by_plain > 0.005


def test_single_votes_say_nothing_about_disagreement():
    votes = Votes.from_counts([[1, 0], [0, 1], [1, 1]])
    assert limit_of(votes, [np.array([0, 1])]) == (0, None, 1)
    assert limit_of(votes, [np.array([0, 2])]).votes == 2
