r"""The evaluation target is an estimate too: p_i comes from about 51 votes. How far would a table's cell move with other votes?

The bootstrap over votes of :mod:`hardlabels.metrics.bootstrap`, carried over to a mean over training seeds. Seeds have different
evaluation splits that share items. So each draw makes other votes for the whole data set, once, and every run is scored against
its part of them: an item that two seeds share has the same votes in both. The interval answers another question than the SD over
seeds and stands beside it; the two are never added.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS, score
from hardlabels.metrics.bootstrap import interval, other_votes
from hardlabels.randomness import stream
from hardlabels.votes import Votes

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


def vote_intervals(
    runs: Sequence[Run],
    votes: Votes,
    names: Iterable[str] = SOFT,
    *,
    seed: int,
    against: Sequence[Run] = (),
    resamples: int = RESAMPLES,
) -> dict[str, VoteInterval]:
    """Each metric's mean over runs with a 95 % bootstrap interval over votes.

    Each draw scores each run again: 10 runs of 2,000 items and 200 draws take about 8 seconds of one core.

    Args:
        runs: one or more runs on the same data set.
        votes: of the whole data set; an item whose votes agree keeps them in every draw.
        names: keys of ``METRICS``.
        seed: of the draws; they depend on it and on the votes alone.
        against: runs of another method, scored on the same draws; the result is then about ``mean(runs) - mean(against)``.
        resamples: how many draws, at least 2.

    Raises:
        InputError: where only probabilities are known, without runs, and as :func:`~hardlabels.metrics.collection.score`.

    >>> run = np.log([[0.5, 0.5], [0.8, 0.2]]), np.array([0, 1])
    >>> found = vote_intervals([run], Votes.from_counts([[25, 25], [40, 10]]), ["soft_nll"], seed=0)["soft_nll"]
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2), found.runs
    (0.597, 0.52, 0.68, 1)
    """
    names = list(names)
    if not votes.has_votes:
        raise InputError("an interval over votes needs votes; this data set has probabilities only")
    if not runs or resamples < 2:
        raise InputError(f"an interval over votes needs 1 or more runs and 2 or more resamples, got {len(runs)} and {resamples}")
    for _, index in (*runs, *against):
        if len(index) and not 0 <= index.min() <= index.max() < len(votes):
            raise InputError(f"positions of a run must lie in 0 .. {len(votes) - 1}, got {index.min()} .. {index.max()}")

    ours, theirs = _prepared(runs, votes, names), _prepared(against, votes, names)

    def difference(p: np.ndarray) -> np.ndarray:
        return _means(ours, p, names) - (_means(theirs, p, names) if theirs else 0.0)

    rng = stream(seed, "bootstrap votes")
    values, draws = difference(votes.p), np.array([difference(other_votes(votes, rng)) for _ in range(resamples)])
    found = {}
    for value, column, name in zip(values.tolist(), draws.T, names, strict=True):
        low, high, bias = interval(value, column)
        found[name] = VoteInterval(value, low, high, bias, float(column.std(ddof=1)), len(runs))
    return found


def _prepared(runs: Sequence[Run], votes: Votes, names: list[str]) -> list[Run]:
    """The runs, checked, with log-probabilities in place of logits: made once, and not for every draw."""
    for logits, index in runs:
        score(logits, votes.p[index], names)  # all checks of the inputs happen there
    with np.errstate(invalid="ignore"):  # as in score
        return [(log_softmax(np.asarray(logits, dtype=np.float64), axis=1), index) for logits, index in runs]


def _means(runs: Sequence[Run], p: np.ndarray, names: list[str]) -> np.ndarray:
    """(names,) each metric of log-probabilities against p, averaged over runs; NaN where a run diverged."""
    return np.mean([_scores(log_q, p[index], names) for log_q, index in runs], axis=0)


def _scores(log_q: np.ndarray, p: np.ndarray, names: list[str]) -> list[float]:
    if not len(log_q) or np.isnan(log_q).any():
        return [float("nan")] * len(names)
    return [METRICS[name].function(log_q, p) for name in names]
