"""What other votes would change: against the scorer's bootstrap, in closed form, and by how often the interval covers."""

import numpy as np
import pytest
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS, score
from hardlabels.metrics.bootstrap import assess
from hardlabels.randomness import stream
from hardlabels.statistics import vote_intervals
from hardlabels.statistics.target import SOFT, VoteDraws
from hardlabels.votes import Votes


def simulated(n=80, classes=4, votes=51, seed=0):
    """Logits (n, C), votes, and the distribution that the votes were drawn from."""
    rng = stream(seed, "test target")
    truth = rng.dirichlet(np.full(classes, 0.8), size=n)
    return np.log(truth) + rng.normal(size=truth.shape), Votes.from_counts(rng.multinomial(votes, truth)), truth


def test_one_run_on_all_items_is_the_scorers_interval():
    logits, votes, _ = simulated()
    found = vote_intervals([(logits, np.arange(80))], votes, METRICS, seed=5, resamples=50)
    theirs = assess(log_softmax(logits, axis=1), votes, seed=5, resamples=50)
    for name in METRICS:
        low, high, bias = theirs.interval(name, "votes")
        assert found[name].value == pytest.approx(theirs.values[name])
        if theirs.ranges[name][0] < found[name].low:  # the scorer cuts at the range of a metric
            assert (found[name].low, found[name].high, found[name].bias) == pytest.approx((low, high, bias), abs=1e-9), name


def test_the_products_of_matrices_are_the_metrics_themselves():
    """Every draw of every metric, against the metric's own function on the same votes, run by run."""
    logits, votes, _ = simulated(n=60)
    parts = np.arange(0, 40), np.arange(20, 60)[::-1]
    runs = [(log_softmax(logits[part], axis=1), part) for part in parts]
    draws = VoteDraws(votes, seed=3, resamples=7)
    for name in SOFT:
        expected = [np.mean([METRICS[name].function(log_q, p[part]) for log_q, part in runs]) for p in draws.p]
        np.testing.assert_allclose(draws.means(runs, name), expected, rtol=0, atol=1e-12)


def test_a_probability_of_zero_is_scored_as_the_metric_does():
    votes = Votes.from_counts([[3, 0], [2, 2]])
    run = np.array([[0.0, -np.inf], [0.0, 0.0]]), np.arange(2)
    found = vote_intervals([run], votes, ["soft_nll"], seed=0, resamples=20)["soft_nll"]
    assert found.value == pytest.approx(np.log(2) / 2)  # the first item's votes agree in every draw


def test_the_value_is_the_mean_of_the_runs_scores():
    logits, votes, _ = simulated()
    parts = np.arange(0, 50), np.arange(30, 80)[::-1]
    found = vote_intervals([(logits[part], part) for part in parts], votes, seed=0, resamples=2)
    for name, one in found.items():
        assert one.value == pytest.approx(np.mean([score(logits[part], votes.p[part])[name] for part in parts]))
        assert one.runs == 2


def test_items_that_runs_share_are_not_counted_as_new_evidence():
    """Two seeds on the same items are as unsure of the target as one; on other items, less so by the root of two."""
    logits, votes, _ = simulated(n=200)
    half, other = np.arange(100), np.arange(100, 200)
    one, same, disjoint = (
        vote_intervals([(logits[part], part) for part in parts], votes, ["soft_nll"], seed=0, resamples=400)["soft_nll"].sd
        for parts in ([half], [half, half], [half, other])
    )
    alone = vote_intervals([(logits[other], other)], votes, ["soft_nll"], seed=0, resamples=400)["soft_nll"].sd
    assert same == pytest.approx(one)
    assert disjoint == pytest.approx(np.hypot(one, alone) / 2, rel=0.15)


def test_the_sd_of_soft_nll_has_a_closed_form():
    r"""Soft NLL is linear in p: its variance over votes is the mean of Var(-log q_y) / m_i, divided by N."""
    logits, votes, _ = simulated(n=40, votes=20)
    loss = -log_softmax(logits, axis=1)
    variance = (votes.p * loss**2).sum(1) - (votes.p * loss).sum(1) ** 2
    found = vote_intervals([(logits, np.arange(40))], votes, ["soft_nll"], seed=0, resamples=2000)["soft_nll"]
    assert found.sd == pytest.approx(np.sqrt((variance / 20).sum()) / 40, rel=0.08)
    assert found.high - found.low == pytest.approx(2 * 1.96 * found.sd, rel=0.1)
    assert abs(found.bias) < 4 * found.sd / np.sqrt(2000)


def test_kl_is_biased_upwards_by_few_votes_and_the_bias_is_told():
    """KL = soft NLL - H(p), and the entropy of a sample is too low by about (C - 1) / 2m (Miller and Madow)."""
    rng = stream(0, "test bias")
    votes = Votes.from_counts(rng.multinomial(50, np.full((300, 4), 0.25)))
    found = vote_intervals([(rng.normal(size=(300, 4)), np.arange(300))], votes, ["kl_to_annotator"], seed=0)["kl_to_annotator"]
    assert found.bias == pytest.approx(3 / 100, rel=0.15)
    assert found.low < found.value < found.high


def test_a_difference_is_taken_on_the_same_votes():
    logits, votes, _ = simulated()
    run, shifted = (logits, np.arange(80)), (logits + np.arange(80)[:, None], np.arange(80))  # the same predictions
    for one in vote_intervals([run], votes, seed=0, against=[shifted], resamples=20).values():
        assert (one.value, one.low, one.high, one.sd) == pytest.approx((0, 0, 0, 0), abs=1e-12)
    better = vote_intervals([run], votes, ["soft_nll"], seed=0, against=[(logits * 0, np.arange(80))], resamples=200)["soft_nll"]
    alone = vote_intervals([run], votes, ["soft_nll"], seed=0, resamples=200)["soft_nll"]
    assert better.value == pytest.approx(alone.value - np.log(4))  # a uniform prediction costs ln 4 whatever the votes
    assert better.sd == pytest.approx(alone.sd)


def test_the_interval_covers_the_score_against_the_true_distribution():
    covered = []
    for trial in range(60):
        logits, votes, truth = simulated(n=30, seed=trial)
        found = vote_intervals([(logits, np.arange(30))], votes, ["soft_nll"], seed=trial, resamples=60)["soft_nll"]
        covered.append(found.low <= score(logits, truth, ["soft_nll"])["soft_nll"] <= found.high)
    assert np.mean(covered) > 0.84  # 95 % but for 3.5 standard errors


def test_a_run_that_diverged_has_no_interval():
    _, votes, _ = simulated()
    found = vote_intervals([(np.full((80, 4), np.nan), np.arange(80))], votes, ["soft_nll"], seed=0, resamples=5)["soft_nll"]
    assert np.isnan([found.value, found.low, found.high, found.sd]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"votes": Votes.from_probabilities([[0.5, 0.5]])}, "probabilities only"),
        ({"runs": []}, "1 or more runs"),
        ({"resamples": 1}, "2 or more resamples"),
        ({"names": ["nll"]}, "metric must be one of"),
        ({"runs": [(np.zeros((1, 2)), np.array([1]))]}, "must lie in 0 .. 0, got 1 .. 1"),
        ({"runs": [(np.zeros((1, 3)), np.array([0]))]}, "items x classes"),
    ],
)
def test_what_has_no_interval_over_votes_is_refused(change, message):
    arguments = {"runs": [(np.zeros((1, 2)), np.array([0]))], "votes": Votes.from_counts([[1, 1]]), "seed": 0} | change
    with pytest.raises(InputError, match=message):
        vote_intervals(**arguments)
