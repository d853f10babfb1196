r"""How far a score would move with other items, or with other votes on the same items.

Two resamplings, never mixed: *items* are drawn with replacement (would the score hold on other items of this kind?); *votes* are
drawn with replacement inside each item, counts :math:`\sim` Multinomial(m_i, p_i) (would it hold had others voted on these
items?). Neither says anything about training again: that takes seeds.

Scores that are means over items are resampled by weights. The others have to be recomputed on each resample, hence at most
``RECOMPUTED`` times. Conventions for ``log_q`` and ``p`` as in ``scores``.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from hardlabels.metrics.brier import brier_decomposition
from hardlabels.metrics.collection import METRICS, SCALE_METRICS, MetricSpec
from hardlabels.metrics.scores import is_correct, item_brier, item_nll
from hardlabels.randomness import stream
from hardlabels.votes import Votes, entropy, js_distance, l1_distance, wasserstein_distance

LEVEL = 0.95
RECOMPUTED = 200
# One number per item; KL differs from NLL by a constant, and the Manhattan distance is twice the total variation.
TESTED = ("soft_nll", "soft_brier", "total_variation", "js_distance", "wasserstein")
Draws = dict[str, np.ndarray]


# ---- the scores, in the order of the table ----


def floor(log_q: np.ndarray, p: np.ndarray) -> float:
    """Mean annotator entropy H(p_i), what no prediction can go below in soft NLL; a property of the data."""
    return float(entropy(p).mean())


def total_variation(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Mean total variation :math:`\frac1N \sum_i \frac12 \sum_c |q_{ic} - p_{ic}|`, in [0, 1].

    >>> total_variation(np.log([[0.25, 0.75]]), np.array([[0.5, 0.5]]))
    0.25
    """
    return float(l1_distance(np.exp(log_q), p).mean() / 2)


def mean_js_distance(log_q: np.ndarray, p: np.ndarray) -> float:
    """Mean :func:`~hardlabels.votes.distances.js_distance` of q_i and p_i, in [0, sqrt(ln 2)]."""
    return float(js_distance(np.exp(log_q), p).mean())


SCORES: dict[str, MetricSpec] = {
    "soft_nll": METRICS["soft_nll"],
    "floor": MetricSpec(floor, None, "its floor, H(p)"),
    "kl_to_annotator": METRICS["kl_to_annotator"],
    "soft_brier": METRICS["soft_brier"],
    **{name: METRICS[name] for name in ("brier_reliability", "brier_resolution", "brier_uncertainty")},
    **{name: METRICS[name] for name in ("hard_acc", "ece_eqmass", "ece_votes", "smooth_ece", "ent_corr")},
    "total_variation": MetricSpec(total_variation, False, "total variation"),
    "js_distance": MetricSpec(mean_js_distance, False, "JS distance"),
    **SCALE_METRICS,
}
"""What is reported: all of ``METRICS``, and the floor and the distances to the annotators."""
FOR_ORDERED = ("wasserstein",)
"""What has a meaning only where the classes are a scale."""


def score_names(*, ordered: bool) -> list[str]:
    """The keys of ``SCORES`` that are reported for classes that are a scale, or are not.

    >>> set(score_names(ordered=True)) - set(score_names(ordered=False))
    {'wasserstein'}
    """
    return [name for name in SCORES if ordered or name not in FOR_ORDERED]


_SHARES = ("hard_acc", "ece_eqmass", "ece_votes", "smooth_ece", "total_variation")
_RANGES = {"ent_corr": (-1.0, 1.0), **dict.fromkeys(_SHARES, (0.0, 1.0))}


def item_scores(log_q: np.ndarray, p: np.ndarray, *, ordered: bool = False) -> Draws:
    """The scores that are means over items, as (N,) terms of that mean; the tests hold them to ``SCORES``.

    ``ordered`` says that the classes are a scale.

    >>> {name: terms.round(3).tolist() for name, terms in item_scores(np.log([[0.25, 0.75]]), np.array([[0.5, 0.5]])).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'soft_nll': [0.837], 'floor': [0.693], 'kl_to_annotator': [0.144], 'soft_brier': [0.125], 'hard_acc': [0.0],
     'total_variation': [0.25], 'js_distance': [0.184], 'manhattan': [0.5]}
    """
    q, undecided = np.exp(log_q), entropy(p)
    nll, distance = item_nll(log_q, p), l1_distance(q, p)
    return {
        "soft_nll": nll,
        "floor": undecided,
        "kl_to_annotator": nll - undecided,
        "soft_brier": item_brier(log_q, p),
        "hard_acc": is_correct(log_q, p).astype(np.float64),
        "total_variation": distance / 2,
        "js_distance": js_distance(q, p),
        "manhattan": distance,
        **({"wasserstein": wasserstein_distance(q, p)} if ordered else {}),
    }


def set_scores(log_q: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """The other scores: those of the items as a set, which sort or rank them."""
    parts = brier_decomposition(log_q, p)
    return {
        "brier_reliability": parts.reliability,
        "brier_resolution": parts.resolution,
        "brier_uncertainty": parts.uncertainty,
        **{name: METRICS[name].function(log_q, p) for name in ("ece_eqmass", "ece_votes", "smooth_ece", "ent_corr")},
    }


# ---- resampling ----


def resample_items(log_q: np.ndarray, p: np.ndarray, *, rng: np.random.Generator, resamples: int, ordered: bool = False) -> Draws:
    r"""Scores of ``resamples`` sets of N items drawn with replacement.

    A mean over a resample is :math:`\frac1N \sum_i w_i s_i`, :math:`w \sim` Multinomial(N, 1/N), so terms are computed once.
    Two models resampled with generators in the same state see the same items: subtract their draws for a paired interval.

    Args:
        log_q: (N, C) log-probabilities.
        p: (N, C) annotator probabilities.
        rng: where the items are drawn from.
        resamples: how many; at most ``RECOMPUTED`` for the ``set_scores``.
        ordered: whether the classes are a scale.

    Returns:
        name to (resamples,) or (RECOMPUTED,) draws.

    >>> draws = resample_items(np.log([[0.5, 0.5]] * 3), np.eye(2)[[0, 0, 1]], rng=stream(0, "doctest"), resamples=500)
    >>> sorted(set(draws["hard_acc"].round(2).tolist())), len(draws["ece_eqmass"])
    ([0.0, 0.33, 0.67, 1.0], 200)
    """
    n, terms = len(p), item_scores(log_q, p, ordered=ordered)
    table = np.stack(list(terms.values()), axis=1)
    means, sets = np.empty((resamples, len(terms))), []
    for r in range(resamples):
        index = rng.integers(n, size=n)
        with np.errstate(invalid="ignore"):  # a term may be infinite, and its weight 0
            means[r] = np.bincount(index, minlength=n) @ table / n
        if r < RECOMPUTED:
            sets.append(set_scores(log_q[index], p[index]))
    return dict(zip(terms, means.T, strict=True)) | _stack(sets)


def resample_votes(log_q: np.ndarray, votes: Votes, *, rng: np.random.Generator, resamples: int, ordered: bool = False) -> Draws:
    """Scores against ``resamples`` (at most ``RECOMPUTED``) other sets of votes: each item's own m_i, drawn with replacement.

    An item whose votes agree keeps its distribution in every draw: with few votes per item, that is too sure of it.

    >>> draws = resample_votes(np.log([[0.5, 0.5]]), Votes.from_counts([[1, 1]]), rng=stream(0, "doctest"), resamples=50)
    >>> sorted(set(draws["total_variation"].tolist()))  # votes 2:0, 1:1 or 0:2
    [0.0, 0.5]
    """
    rows = []
    for _ in range(min(resamples, RECOMPUTED)):
        p = other_votes(votes, rng)
        means = {name: terms.mean() for name, terms in item_scores(log_q, p, ordered=ordered).items()}
        rows.append(means | set_scores(log_q, p))
    return _stack(rows)


def other_votes(votes: Votes, rng: np.random.Generator) -> np.ndarray:
    """(N, C) shares of m_i votes per item drawn from the item's own: counts ~ Multinomial(m_i, p_i).

    >>> other_votes(Votes.from_counts([[4, 0], [0, 3]]), stream(0, "doctest")).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    # numpy gives the last class what rounding leaves over. The majority takes that place, so no class gains its first vote so.
    p, sizes = votes.p.copy(), votes.sizes
    last, top = (np.arange(len(votes)), votes.num_classes - 1), (np.arange(len(votes)), votes.majority)
    p[last], p[top] = p[top], p[last]
    counts = rng.multinomial(sizes, p)
    counts[last], counts[top] = counts[top], counts[last]
    return counts / sizes[:, None]


def _stack(rows: list[dict[str, float]]) -> Draws:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}


# ---- what is reported ----


class Interval(NamedTuple):
    """The ends of a bootstrap interval, and how much resampling moved the score on average."""

    low: float
    high: float
    bias: float


NO_INTERVAL = Interval(*[float("nan")] * 3)


def interval(value: float, draws: np.ndarray, limits: tuple[float, float] = (-np.inf, np.inf)) -> Interval:
    r"""The central 95 % of the draws, moved so that their mean is the value: :math:`v + Q_{2.5, 97.5}(v^* - \bar{v^*})`.

    Resampling adds noise, and noise raises what is never negative: ECE, reliability, and under other votes KL, Brier and the
    distances. Plain percentiles of those can lie entirely beside the value. The mean displacement :math:`\bar{v^*} - v` is the
    bootstrap's estimate of the bias and is reported beside the interval, not removed from the value.

    Args:
        value: the score itself.
        draws: (R,) the score of each resample.
        limits: the score's range; the interval is cut to it.

    Returns:
        NaN throughout where the value, or more than 5 % of the draws, is not finite.

    >>> interval(1.0, np.linspace(1, 3, 1001))
    Interval(low=0.05, high=1.95, bias=1.0)
    """
    kept = draws[np.isfinite(draws)]
    if not np.isfinite(value) or len(kept) < max(2, 0.95 * len(draws)):
        return NO_INTERVAL
    bias = float(kept.mean() - value)
    low, high = np.clip(np.quantile(kept, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) - bias, *limits)
    return Interval(round(float(low), 12), round(float(high), 12), round(bias, 12))


@dataclass(frozen=True)
class Assessment:
    """Scores of one model on one set of items, or (``a - b``) their differences between two models on the same items.

    Attributes:
        values: name to score.
        terms: name to (N,), for the scores that are means over items.
        by_items: draws of :func:`resample_items`; empty below 2 items.
        by_votes: draws of :func:`resample_votes`; empty where only probabilities are known.
        ranges: name to the range of the score; unbounded where missing.
    """

    values: dict[str, float]
    terms: Draws
    by_items: Draws
    by_votes: Draws
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __sub__(self, other: "Assessment") -> "Assessment":
        with np.errstate(invalid="ignore"):  # infinite both: no difference can be told
            values = {name: float(np.subtract(self.values[name], other.values[name])) for name in self.values}
            pairs = (self.terms, other.terms), (self.by_items, other.by_items), (self.by_votes, other.by_votes)
            terms, items, votes = ({name: mine[name] - theirs[name] for name in mine} for mine, theirs in pairs)
        return Assessment(values, terms, items, votes)

    def interval(self, name: str, over: str) -> Interval:
        """The interval of a score over ``"items"`` or ``"votes"``; NaN where there are no draws."""
        draws = {"items": self.by_items, "votes": self.by_votes}[over]
        limits = self.ranges.get(name, (-np.inf, np.inf))
        return interval(self.values[name], draws[name], limits) if draws else NO_INTERVAL

    def p_value(self, name: str) -> float:
        """Two-sided Wilcoxon signed-rank test that the items' differences are symmetric about 0. Meant for ``a - b``."""
        return signed_rank_p(self.terms[name])


def assess(log_q: np.ndarray, votes: Votes, *, seed: int, resamples: int, ordered: bool = False) -> Assessment:
    """All ``SCORES`` of predictions against votes, with draws over items and, where votes are known, over votes.

    The draws are a function of the seed and the votes alone, so two models are assessed on the same resamples. ``ordered`` says
    that the classes are a scale.

    >>> result = assess(np.log([[0.8, 0.2], [0.4, 0.6]]), Votes.from_counts([[4, 1], [5, 0]]), seed=0, resamples=20)
    >>> result.values["hard_acc"], len(result.by_items["hard_acc"]), len(result.by_votes["hard_acc"])
    (0.5, 20, 20)
    """
    names = score_names(ordered=ordered)
    if not len(votes):
        return Assessment(dict.fromkeys(names, float("nan")), dict.fromkeys(TESTED, np.zeros(0)), {}, {})
    p, by_items, by_votes = votes.p, Draws(), Draws()
    if len(p) > 1:
        rng = stream(seed, "bootstrap items")
        by_items = resample_items(log_q, p, rng=rng, resamples=resamples, ordered=ordered)
    if votes.has_votes:
        rng = stream(seed, "bootstrap votes")
        by_votes = resample_votes(log_q, votes, rng=rng, resamples=resamples, ordered=ordered)
    values = {name: SCORES[name].function(log_q, p) for name in names}
    ranges = {name: _RANGES.get(name, (0.0, np.inf)) for name in names}
    return Assessment(values, item_scores(log_q, p, ordered=ordered), by_items, by_votes, ranges)


def signed_rank_p(differences: np.ndarray) -> float:
    """``scipy.stats.wilcoxon``, two-sided; 1 where nothing differs, NaN without items or where a difference is not finite.

    >>> signed_rank_p(np.array([1.0, 2.0, 3.0])), signed_rank_p(np.zeros(3))  # all of one sign: 2 / 2^3
    (0.25, 1.0)
    """
    if not len(differences) or not np.isfinite(differences).all():
        return float("nan")
    return float(wilcoxon(differences).pvalue) if differences.any() else 1.0
