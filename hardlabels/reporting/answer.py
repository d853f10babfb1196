"""What a study found, in a few sentences and one figure: the beginning of the page, and the last lines on the terminal.

Everything here is soft NLL at the selected epoch, paired by seed; the verdicts below it have the tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from hardlabels.reporting.claims.claim import Verdict
from hardlabels.reporting.claims.status import STATUSES
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import write_votes

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
    """The figure's points and the sentences.

    Attributes:
        points: by method and K.
        sentences: at most five.
    """

    points: tuple[Point, ...] = ()
    sentences: tuple[str, ...] = ()


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Mean and t-interval.

    >>> [round(number, 3) for number in interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    if len(x) < 2:
        return mean, mean, mean
    half = float(t.ppf((1 + level) / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)))
    return mean, mean - half, mean + half


def answer(records: Records, verdicts: Sequence[Verdict], floor: float | None) -> Answer:
    """What the finished runs of one data set and recipe say.

    Args:
        records: its finished runs.
        verdicts: on all claims.
        floor: the annotators' own entropy; None where it is not known.
    """
    scores = _scores(records, "full")
    points = []
    for (method, k), by_seed in sorted(scores.items(), key=lambda entry: (method_key(entry[0][0]), entry[0][1])):
        if "," not in method and method != CONTROL:
            points.append(Point(method, k, *interval(list(by_seed.values())), len(by_seed)))
    few = sorted({k for method, k in scores if method == BASE and np.isfinite(k) and k > 1})
    sentences = [_same(scores, np.inf), *(_same(scores, few[0]) for _ in few[:1]), _lost(scores), _against_truth(records)]
    sentences.append(_counted(verdicts, floor))
    return Answer(tuple(points), tuple(sentence for sentence in sentences if sentence))


Scores = dict[tuple[str, float], dict[int, float]]
"""Method and K to seed to soft NLL."""


def _scores(records: Records, view: str) -> Scores:
    rows = records.table
    rows = rows[(rows["name"] == "soft_nll") & (rows["slice"] == view) & (rows["checkpoint"] == "best")].dropna(subset="value")
    found: Scores = {}
    for method, k, seed, value in zip(rows["method"], rows["K"], rows["seed"], rows["value"], strict=True):
        found.setdefault((str(method), float(k)), {})[int(seed)] = float(value)
    return found


def _paired(scores: Scores, method: str, k: float) -> np.ndarray:
    mine, soft = scores.get((method, k), {}), scores.get((BASE, k), {})
    return np.array([mine[seed] - soft[seed] for seed in sorted(mine.keys() & soft.keys())])


def _same(scores: Scores, k: float) -> str:
    """How far deliveries by changing hard labels are from soft labels."""
    gaps = {method: d for method in CHANGING if len(d := _paired(scores, method, k))}
    if not gaps:
        return ""
    parts = []
    for method, d in gaps.items():
        lower = int((d < 0).sum())
        side = "below" if d.mean() < 0 else "above"
        agree = lower if d.mean() < 0 else len(d) - lower
        parts.append(f"{method} ends {abs(d.mean()):.4f} nat {side} soft labels ({agree} of {len(d)} seeds)")
    votes = "all votes" if np.isinf(k) else f"{write_votes(k)} votes per item"
    return f"With {votes}, {_joined(parts)}."


def _lost(scores: Scores) -> str:
    """What majority labels lose, and what that makes of the other differences."""
    d = _paired(scores, SCALE, np.inf)
    if not len(d):
        return ""
    word = "lose" if d.mean() > 0 else "gain"
    agree = int(((d > 0) == (d.mean() > 0)).sum())
    sizes = f"{abs(d.mean()):.4f} nat against soft labels ({agree} of {len(d)} seeds)"
    return f"Majority labels {word} {sizes}: the scale for the others."


def _against_truth(records: Records) -> str:
    """Where the true distributions are known: who is closest to them."""
    scores = {key: values for key, values in _scores(records, "truth").items() if np.isinf(key[1]) and "," not in key[0]}
    if len(scores) < 2:
        return ""
    order = sorted(scores, key=lambda key: np.mean(list(scores[key].values())))
    best, worst = order[0][0], order[-1][0]
    return f"Against the true distributions, which are known here, {best} labels are closest and {worst} labels farthest."


def _counted(verdicts: Sequence[Verdict], floor: float | None) -> str:
    tested = [verdict for verdict in verdicts if not verdict.elsewhere and verdict.tested]
    if not tested:
        return ""
    words = [verdict.word("best") for verdict in sorted(tested, key=lambda verdict: STATUSES.index(verdict.status("best")))]
    counts = ", ".join(f"{word} ({words.count(word)})" for word in dict.fromkeys(words))
    ends = "" if floor is None else f" No model can go below {floor:.4f} nat, the annotators' own entropy."
    return f"Verdicts on {len(words)} tested claims at the selected epoch: {counts}.{ends}"


def _joined(parts: Sequence[str]) -> str:
    """Words with commas, and "and" before the last.

    >>> _joined(["a", "b", "c"])
    'a, b and c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
