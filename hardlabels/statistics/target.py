r"""The evaluation target is an estimate too: p_i comes from about 51 votes. How far would a table's cell move with other votes?

The bootstrap over votes of :mod:`hardlabels.metrics.bootstrap`, carried over to a mean over training seeds. Seeds have different
evaluation splits that share items. So each draw makes other votes for the whole data set, once, and every run is scored against
its part of them: an item that two seeds share has the same votes in both. The interval answers another question than the SD over
seeds and stands beside it; the two are never added.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS, score
from hardlabels.metrics.agreement import centred_ranks, correlation_of_ranks
from hardlabels.metrics.bootstrap import interval, other_votes
from hardlabels.randomness import stream
from hardlabels.votes import Votes, entropy

Run: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Logits (n, C) of a finished run, and the positions (n,) of their items in the data set."""

SOFT = ("soft_nll", "kl_to_annotator", "soft_brier", "ent_corr")
"""The metrics that see all of p_i, and not only its majority."""

RESAMPLES = 200


@dataclass(frozen=True)
class VoteInterval:
    """A metric's mean over runs, and where it would lie had others voted.

    Attributes:
        value: the mean over runs (or the difference of two such means), against the votes there are.
        low: lower end of the central 95 % of the draws, moved to have their mean at the value.
        high: its upper end.
        bias: how much resampling moved the metric on average; few votes make p_i look surer than it is.
        sd: the standard deviation of the draws.
        runs: how many runs.
    """

    value: float
    low: float
    high: float
    bias: float
    sd: float
    runs: int


class VoteDraws:
    """Other votes for every item of a data set, drawn ``resamples`` times; draw 0 is the votes there are.

    All cells of a table are scored against the same draws, so they are made once. Three of the metrics are sums over items and
    classes of p or of a function of p alone, and one compares ranks of H(p): what depends on p alone is worked out here, once,
    and a cell then takes a product of two matrices.

    Args:
        votes: of the whole data set; an item whose votes agree keeps them in every draw.
        seed: of the draws; they depend on it and on the votes alone.
        resamples: how many draws, at least 2.
    """

    def __init__(self, votes: Votes, *, seed: int, resamples: int = RESAMPLES) -> None:
        if not votes.has_votes:
            raise InputError("an interval over votes needs votes; this data set has probabilities only")
        if resamples < 2:
            raise InputError(f"an interval over votes needs 2 or more resamples, got {resamples}")
        rng = stream(seed, "bootstrap votes")
        self.votes = votes
        self.p = np.stack([votes.p, *(other_votes(votes, rng) for _ in range(resamples))])
        self._ranks: dict[bytes, np.ndarray] = {}

    @cached_property
    def entropy(self) -> np.ndarray:
        """(draws, N) entropy of each item."""
        return np.stack([entropy(p) for p in self.p])

    @cached_property
    def squares(self) -> np.ndarray:
        """(draws, N) sum of the squares of each item's shares."""
        return np.square(self.p).sum(2)

    def ranks(self, index: np.ndarray) -> np.ndarray:
        """(draws, n) centred ranks of the entropy among these items; all methods of a seed have the same ones."""
        key = index.tobytes()
        if key not in self._ranks:
            self._ranks[key] = centred_ranks(self.entropy[:, index])
        return self._ranks[key]

    def means(self, runs: Sequence[Run], name: str) -> np.ndarray:
        """(draws,) a metric of log-probabilities, averaged over runs; NaN where a run diverged."""
        if not all(len(log_q) and np.isfinite(log_q).all() for log_q, _ in runs) or name not in SOFT:
            return np.array([np.mean([_score(log_q, p[index], name) for log_q, index in runs]) for p in self.p])
        if name == "ent_corr":
            return np.mean([self._rank_correlation(log_q, index) for log_q, index in runs], axis=0)
        flat = self.p.reshape(len(self.p), -1)
        if name == "soft_brier":
            q_squared = np.mean([np.exp(2 * log_q).sum(1).mean() for log_q, _ in runs])
            crossed = flat @ self._spread([(np.exp(log_q), index) for log_q, index in runs]).ravel()
            return q_squared - 2 * crossed + self.squares @ self._weights(runs)
        nll = -(flat @ self._spread(runs).ravel())
        return nll if name == "soft_nll" else nll - self.entropy @ self._weights(runs)

    def _spread(self, runs: Sequence[Run]) -> np.ndarray:
        """(N, C) what each item's shares are multiplied by in the mean over runs."""
        found = np.zeros(self.p.shape[1:])
        for values, index in runs:
            np.add.at(found, index, values / (len(index) * len(runs)))
        return found

    def _weights(self, runs: Sequence[Run]) -> np.ndarray:
        """(N,) the weight of each item in the mean over runs."""
        found = np.zeros(self.p.shape[1])
        for _, index in runs:
            np.add.at(found, index, 1 / (len(index) * len(runs)))
        return found

    def _rank_correlation(self, log_q: np.ndarray, index: np.ndarray) -> np.ndarray:
        """(draws,) as :func:`~hardlabels.metrics.agreement.ent_corr`."""
        return correlation_of_ranks(centred_ranks(entropy(np.exp(log_q))), self.ranks(index))


def vote_intervals(
    runs: Sequence[Run],
    votes: Votes,
    names: Iterable[str] = SOFT,
    *,
    seed: int,
    against: Sequence[Run] = (),
    resamples: int = RESAMPLES,
    draws: VoteDraws | None = None,
) -> dict[str, VoteInterval]:
    """Each metric's mean over runs with a 95 % bootstrap interval over votes.

    Args:
        runs: one or more runs on the same data set.
        votes: of the whole data set; an item whose votes agree keeps them in every draw.
        names: keys of ``METRICS``.
        seed: of the draws; they depend on it and on the votes alone.
        against: runs of another method, scored on the same draws; the result is then about ``mean(runs) - mean(against)``.
        resamples: how many draws, at least 2.
        draws: what ``VoteDraws(votes, seed=seed, resamples=resamples)`` gives, where it is at hand already.

    Raises:
        InputError: where only probabilities are known, without runs, and as :func:`~hardlabels.metrics.collection.score`.

    >>> run = np.log([[0.5, 0.5], [0.8, 0.2]]), np.array([0, 1])
    >>> found = vote_intervals([run], Votes.from_counts([[25, 25], [40, 10]]), ["soft_nll"], seed=0)["soft_nll"]
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2), found.runs
    (0.597, 0.52, 0.68, 1)
    """
    names = list(names)
    if not runs:
        raise InputError("an interval over votes needs 1 or more runs and 2 or more resamples, got no runs")
    for _, index in (*runs, *against):
        if len(index) and not 0 <= index.min() <= index.max() < len(votes):
            raise InputError(f"positions of a run must lie in 0 .. {len(votes) - 1}, got {index.min()} .. {index.max()}")
    draws = VoteDraws(votes, seed=seed, resamples=resamples) if draws is None else draws
    ours, theirs = _prepared(runs, votes, names), _prepared(against, votes, names)
    found = {}
    for name in names:
        column = draws.means(ours, name) - (draws.means(theirs, name) if theirs else 0.0)
        value, others = float(column[0]), column[1:]
        low, high, bias = interval(value, others)
        found[name] = VoteInterval(value, low, high, bias, float(others.std(ddof=1)), len(runs))
    return found


def _prepared(runs: Sequence[Run], votes: Votes, names: list[str]) -> list[Run]:
    """The runs, checked, with log-probabilities in place of logits."""
    for logits, index in runs:
        score(logits, votes.p[index], names)  # all checks of the inputs happen there
    with np.errstate(invalid="ignore"):  # as in score
        return [(log_softmax(np.asarray(logits, dtype=np.float64), axis=1), index) for logits, index in runs]


def _score(log_q: np.ndarray, p: np.ndarray, name: str) -> float:
    return float("nan") if not len(log_q) or np.isnan(log_q).any() else METRICS[name].function(log_q, p)
