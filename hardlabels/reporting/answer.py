"""What a study found, in a few sentences and two pictures: the beginning of the page, and the last lines on the terminal.

Everything here is soft NLL, paired by seed, at the selected epoch and at the last one; the verdicts below it have the tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hardlabels.reporting.claims.claim import Verdict
from hardlabels.reporting.claims.status import EPOCHS
from hardlabels.reporting.limit import limit_sentences
from hardlabels.reporting.primary import PrimaryResult
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.runs.quantity import CHECKPOINTS
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import write_votes
from hardlabels.statistics import Limit
from hardlabels.statistics.summaries import mean_sd, t_half_width

BASE, SCALE = "soft", "majority"
CONTROL = "shuffled_sls"
"""Its votes belong to other items: it ends at chance level, and would set the figure's scale for all others."""

CHANGING = ("sls", "multipass", "stratified_sls")
"""Deliveries by hard labels that change from epoch to epoch, of which the sentences speak."""


@dataclass(frozen=True)
class Point:
    """Soft NLL of one method with one number of votes per item.

    Attributes:
        method: its name.
        K: votes per item; infinite for all.
        mean: over seeds.
        low: lower end of the 95 % t-interval over seeds; the mean itself where there is one seed.
        high: its upper end.
        n: seeds.
    """

    method: str
    K: float
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Answer:
    """The points of the pictures and the sentences.

    Attributes:
        points: checkpoint to points by method and K; a checkpoint without numbers is not there.
        sentences: at most seven.
    """

    points: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()

    @property
    def methods(self) -> list[str]:
        """Those of the pictures, in order."""
        return list(dict.fromkeys(point.method for found in self.points.values() for point in found))


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Mean and t-interval.

    >>> [round(number, 3) for number in interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    mean, sd = mean_sd(values)
    half = float(t_half_width(sd, len(values), level))
    return mean, mean - half, mean + half


def answer(records: Records, verdicts: Sequence[Verdict], limit: Limit | None, primary: PrimaryResult | None = None) -> Answer:
    """What the finished runs of one data set and recipe say.

    Args:
        records: its finished runs.
        verdicts: on all claims.
        limit: the least soft NLL that a prediction can have; None where it is not known.
        primary: what came of the analysis that was written down beforehand; None where the study has no such thing.
    """
    scores = {checkpoint: _scores(records, "full", checkpoint) for checkpoint in CHECKPOINTS}
    points = {checkpoint: found for checkpoint in CHECKPOINTS if (found := _points(scores[checkpoint]))}
    few = sorted({k for method, k in scores["best"] if method == BASE and np.isfinite(k) and k > 1})
    sentences = [_decided(primary), _same(scores, np.inf), *(_same(scores, few[0]) for _ in few[:1])]
    sentences += [_lost(scores), _against_truth(records)]
    sentences += [_counted(verdicts), "" if limit is None else limit_sentences(limit, 4)]
    return Answer(points, tuple(sentence for sentence in sentences if sentence))


def _decided(primary: PrimaryResult | None) -> str:
    """What the tests of the primary analysis say: differences of means, as they follow, are no tests."""
    return "" if primary is None or not primary.claims else f"Written down before the first run: {' '.join(primary.claims)}"


Scores = dict[tuple[str, float], dict[int, float]]
"""Method and K to seed to soft NLL."""


def _points(scores: Scores) -> tuple[Point, ...]:
    """One point per method and K, without the control and the variants of methods."""
    ordered = sorted(scores.items(), key=lambda entry: (method_key(entry[0][0]), entry[0][1]))
    shown = [(method, k, by_seed) for (method, k), by_seed in ordered if "," not in method and method != CONTROL]
    return tuple(Point(method, k, *interval(list(by_seed.values())), len(by_seed)) for method, k, by_seed in shown)


def _scores(records: Records, view: str, checkpoint: str) -> Scores:
    rows = records.table
    rows = rows[(rows["name"] == "soft_nll") & (rows["slice"] == view) & (rows["checkpoint"] == checkpoint)].dropna(
        subset="value"
    )
    found: Scores = {}
    for method, k, seed, value in zip(rows["method"], rows["K"], rows["seed"], rows["value"], strict=True):
        found.setdefault((str(method), float(k)), {})[int(seed)] = float(value)
    return found


def _paired(scores: Scores, method: str, k: float) -> np.ndarray:
    mine, soft = scores.get((method, k), {}), scores.get((BASE, k), {})
    return np.array([mine[seed] - soft[seed] for seed in sorted(mine.keys() & soft.keys())])


def _same(scores: Mapping[str, Scores], k: float) -> str:
    """How far deliveries by changing hard labels are from soft labels."""
    parts = [f"{method} is {said}" for method in CHANGING if (said := _beside_soft(scores, method, k))]
    votes = "all votes" if np.isinf(k) else f"{write_votes(k)} votes per item"
    return f"With {votes}: {'; '.join(parts)}." if parts else ""


def _lost(scores: Mapping[str, Scores]) -> str:
    """What majority labels lose, and what that makes of the other differences."""
    said = _beside_soft(scores, SCALE, np.inf)
    return f"With all votes, majority labels are {said}: the scale for the others." if said else ""


def _beside_soft(scores: Mapping[str, Scores], method: str, k: float) -> str:
    """On which side of soft labels a method lies at each checkpoint, by how much, and in how many seeds; empty without pairs."""
    found: list[str] = []
    for checkpoint in CHECKPOINTS:
        d = _paired(scores[checkpoint], method, k)
        if len(d):
            side, agree = ("below", (d < 0).sum()) if d.mean() < 0 else ("above", (d >= 0).sum())
            what = " soft labels" if not found else ""
            found.append(f"{abs(d.mean()):.4f} nat {side}{what} at the {EPOCHS[checkpoint]} ({agree} of {len(d)} seeds)")
    return " and ".join(found)


def _against_truth(records: Records) -> str:
    """Where the true distributions are known: who is closest to them."""
    found: dict[str, list[str]] = {}
    for checkpoint in CHECKPOINTS:
        scores = _scores(records, "truth", checkpoint)
        kept = {
            method: np.mean(list(values.values())) for (method, k), values in scores.items() if np.isinf(k) and "," not in method
        }
        order = sorted(kept, key=lambda method: kept[method])
        if len(order) > 1:
            ends = f"{order[0]} labels are closest and {order[-1]} labels farthest"
            found.setdefault(ends, []).append(f"at the {EPOCHS[checkpoint]}")
    words = [f"{ends} {_joined(epochs)}" for ends, epochs in found.items()]
    return f"Against the true distributions, which are known here, {_joined(words)}." if words else ""


def _counted(verdicts: Sequence[Verdict]) -> str:
    """How many claims are decided, in one short sentence: the table of verdicts has all the kinds."""
    tested = [verdict for verdict in verdicts if not verdict.elsewhere and verdict.tested]
    if not tested:
        return ""
    hold, fail = (
        [sum(verdict.status(checkpoint) == status for verdict in tested) for checkpoint in CHECKPOINTS]
        for status in ("supported", "contradicted")
    )
    first, second = (EPOCHS[checkpoint] for checkpoint in CHECKPOINTS)
    held = f"{hold[0]} are shown to hold and {fail[0]} to fail at the {first}, {hold[1]} and {fail[1]} at the {second}"
    return f"Of {len(tested)} claims that were tested, {held}; the verdicts have the others."


def _joined(parts: Sequence[str]) -> str:
    """Words with commas, and "and" before the last.

    >>> _joined(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
