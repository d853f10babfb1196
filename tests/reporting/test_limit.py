"""What is said about the least soft NLL, from many votes per item to none."""

import numpy as np
import pytest

from hardlabels.reporting.limit import few_votes_matter, limit_of_runs, limit_sentences
from hardlabels.sources.synthetic import synthetic
from hardlabels.statistics import Limit, limit_of
from hardlabels.votes import Votes


def test_few_votes_are_named_and_many_are_not():
    rng, items = np.random.default_rng(0), [np.arange(300)]
    truth = rng.dirichlet([1, 1, 1], 300)
    few, many = (limit_of(Votes.from_counts(rng.multinomial(m, truth)), items) for m in (4, 2000))
    assert "none can come near: with about 4 votes per item that is too low by about 0." in limit_sentences(few)
    assert not few_votes_matter(many)
    assert limit_sentences(many) == f"No prediction can go below {many.floor:.3f} nat, the entropy of these votes."


def test_what_is_not_known_is_not_said():
    assert "nobody can tell" in limit_sentences(limit_of(Votes.from_counts(np.eye(3, dtype=int)), [np.arange(3)]))
    known = limit_of(Votes.from_probabilities(np.array([[0.5, 0.5]])), [np.arange(1)])
    for limit in (known, Limit(known.floor)):  # probabilities; votes that are not on this machine
        assert limit_sentences(limit) == "No prediction can go below 0.693 nat, the entropy of these votes."


@pytest.mark.parametrize("without", ["majority", "soft"])  # the first run of the seed, or the last one
def test_one_run_of_a_seed_with_its_predictions_is_enough(outputs, without):
    """Records of secondary methods may be published without their predictions, which are of the same items."""
    votes = synthetic(items=40, classes=3, annotators=4).votes
    for method in ("majority", "soft"):
        saved = {} if method == without else {"logits": np.zeros((40, 3)), "p": votes.p}
        path = outputs.run(method, None, 0, {"soft_nll": 1.5, "kl_to_annotator": 0.5}, **saved)
        outputs.use(path, items=40, classes=3, annotators=4)
    found = limit_of_runs(outputs.records())
    assert found.floor == 1.0  # soft NLL minus KL
    assert found.reachable == limit_of(votes, [np.arange(40)]).reachable
