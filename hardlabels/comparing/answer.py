"""The answer: what differs, by how much, and which delivery to use."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardlabels.comparing.differences import (
    ALPHA,
    Difference,
    TTest,
    all_pairs,
    fixed_split_test,
    items_needed,
    resampled,
    seeds_needed,
)
from hardlabels.comparing.measure import PRIMARY, Measured
from hardlabels.metrics.prior import class_shares
from hardlabels.sources.source import Source
from hardlabels.statistics import Limit, limit_of, vote_intervals
from hardlabels.statistics.target import VoteDraws, VoteInterval

SIMPLEST = ("soft", "multipass", "sls", "stratified_sls", "majority")
"""Of methods that cannot be told apart, the first of these is suggested: least to draw, least to explain."""
RESAMPLES = 100


@dataclass(frozen=True)
class Answer:
    """What a comparison found.

    Attributes:
        methods: from the lowest mean soft NLL to the highest.
        differences: of all pairs.
        votes: method to the interval, over other votes on the same items, of its soft NLL minus the best method's; empty where
            only probabilities are known.
        prior: soft NLL of the class shares, mean over seeds.
        limit: the least soft NLL that a prediction can have.
        gain: the soft NLL of the class shares minus that of the best method.
        items: in the data set, and of one seed in training, selection and evaluation.
        given: whether the split is the user's own.
    """

    methods: tuple[Measured, ...]
    differences: tuple[Difference, ...]
    votes: dict[str, VoteInterval]
    prior: float
    limit: Limit
    gain: TTest
    items: tuple[int, int, int, int]
    given: bool

    @property
    def best(self) -> Measured:
        """The method with the lowest mean soft NLL."""
        return self.methods[0]

    @property
    def learned(self) -> bool:
        """Whether the best network is better than the class shares, beyond chance."""
        return self.gain.mean > 0 and self.gain.p < ALPHA

    @property
    def seeds(self) -> int:
        """How many runs each method has."""
        return len(self.best.runs)

    def against_best(self, method: str) -> Difference:
        """The best method against this one; negative, since the best has the lower soft NLL."""
        for found in self.differences:
            if {found.a, found.b} == {self.best.method, method}:
                return found
        raise KeyError(method)

    @property
    def worse(self) -> list[str]:
        """The methods that are shown to be worse than the best."""
        return [m.method for m in self.methods[1:] if self.against_best(m.method).resolved]

    @property
    def level(self) -> list[str]:
        """The methods that are not shown to be worse, the best one first."""
        return [m.method for m in self.methods if m.method not in self.worse]

    @property
    def suggested(self) -> str | None:
        """The delivery to use: the best where it stands alone, else the simplest of those level with it; None: none learned."""
        if not self.learned:
            return None
        if len(self.level) == 1:
            return self.best.method
        known = [name for name in SIMPLEST if name in self.level]
        return known[0] if known else self.best.method

    @property
    def would_take(self) -> tuple[str, int | None, int | None] | None:
        """(method, seeds, items) to tell the best from the nearest method that it was not told from; None where all were."""
        open_ones = [name for name in self.level if name != self.best.method]
        if not open_ones:
            return None
        last = max(open_ones, key=lambda name: abs(self.against_best(name).mean))
        difference, pairs = self.against_best(last), len(self.differences)
        return last, seeds_needed(difference, pairs), items_needed(difference, self.items[0], pairs)


def find_answer(measured: Sequence[Measured], source: Source) -> Answer:
    """Compare the methods on the soft NLL of the best checkpoint.

    Args:
        measured: the runs of every method, of the same seeds.
        source: the data that they were trained on.
    """
    ordered = tuple(sorted(measured, key=lambda method: method.mean(PRIMARY)))
    best, given = ordered[0], source.parts is not None
    split = source.split(seed=best.runs[0].seed, protocol="three_way")
    sizes = (len(source), len(split.train), len(split.select), len(split.evaluate))
    ratio = sizes[3] / sizes[1]
    votes: dict[str, VoteInterval] = {}
    if source.votes.has_votes:
        runs = {m.method: [(run.predictions["logits"], run.predictions["index"]) for run in m.runs] for m in ordered}
        draws = VoteDraws(source.votes, seed=0, resamples=RESAMPLES)  # the same other votes for all methods
        for other in ordered[1:]:
            found = vote_intervals(runs[other.method], source.votes, [PRIMARY], seed=0, against=runs[best.method], draws=draws)
            votes[other.method] = found[PRIMARY]
    return Answer(
        methods=ordered,
        differences=tuple(all_pairs(ordered, given=given, ratio=ratio)),
        votes=votes,
        prior=float(np.mean([run.prior[PRIMARY] for run in best.runs])),
        limit=limit_of(source.votes, [run.predictions["index"] for run in best.runs]),
        gain=_gain(best, source, ratio),
        items=sizes,
        given=given,
    )


def _gain(best: Measured, source: Source, ratio: float) -> TTest:
    by_seed = np.array([run.prior[PRIMARY] - run.scores[PRIMARY] for run in best.runs])
    if source.parts is None:
        return resampled(by_seed, ratio)
    gains = []
    for run in best.runs:
        train = source.split(seed=run.seed, protocol="three_way").train
        gains.append(-run.predictions["p"] @ np.log(class_shares(source.votes.p[train])) - run.item_nll)
    return fixed_split_test(np.mean(gains, axis=0), by_seed)
