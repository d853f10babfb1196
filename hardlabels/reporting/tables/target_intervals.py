"""Intervals over votes: how far a cell's mean would move if other annotators had voted. They stand beside the SD over seeds."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.reporting.tables.saved import predictions_of, source_at_hand
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.reading import read_json
from hardlabels.runs.records import Records
from hardlabels.sources.source import Source
from hardlabels.statistics.target import SOFT, Run, VoteDraws, vote_intervals

RESAMPLES = 100
"""The ends are known to about a tenth of the interval's length."""

NEEDS_DATA = (
    "Intervals over votes are left out where what they need is not here: the votes of the data set (HARDLABELS_DATA), and the "
    "predictions of every seed."
)


def target_intervals(records: Records, method: str, k: float, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """Name to the ends of the 95 % interval over votes of the mean over seeds; empty where data or predictions are not at hand.

    Args:
        records: finished runs, seen at one checkpoint.
        method: whose runs.
        k: votes per item in training, infinite for all. Evaluation always uses all votes.
        names: of metrics; those that see only the majority label have no such interval.
    """
    wanted = [name for name in SOFT if name in names]
    runs = records.runs.get((method, k), {})
    paths = tuple(runs[cell] for cell in sorted(runs, key=lambda cell: cell.seed))
    found = {name: _interval(paths, records.checkpoint, name) for name in wanted if paths}
    return {name: ends for name, ends in found.items() if ends is not None}


@lru_cache(maxsize=4096)  # several tables show the same cell
def _interval(paths: tuple[Path, ...], checkpoint: str, name: str) -> tuple[float, float] | None:
    source, parts = _source(paths[0]), _predictions(paths, checkpoint)
    if source is None or not source.votes.has_votes or parts is None:
        return None
    found = vote_intervals(parts, source.votes, [name], seed=0, draws=_draws(source))[name]
    return (found.low, found.high) if np.isfinite([found.low, found.high]).all() else None


@lru_cache(maxsize=64)  # the metrics of one cell follow each other
def _predictions(paths: tuple[Path, ...], checkpoint: str) -> list[Run] | None:
    saved = [predictions_of(FinishedRun(path), checkpoint) for path in paths]
    parts = [(one["logits"].astype(np.float64), one["index"]) for one in saved if one is not None]
    return parts if len(parts) == len(paths) else None


@lru_cache(maxsize=256)
def _source(path: Path) -> Source | None:
    """The data of a run; runs whose data have the same fingerprint share them."""
    run = FinishedRun(path)
    try:
        content = str(read_json(run.directory.identity, ["data"])["data"])
    except InputError:
        return source_at_hand(run)
    if content not in _SOURCES:
        _SOURCES[content] = source_at_hand(run)
    return _SOURCES[content]


_SOURCES: dict[str, Source | None] = {}
_DRAWN: dict[tuple[str, int], VoteDraws] = {}


def _draws(source: Source) -> VoteDraws:
    """The draws of a data set: made once, and kept until another one is asked for (80 MB for CIFAR-10H)."""
    key = source.fingerprint, RESAMPLES
    if key not in _DRAWN:
        _DRAWN.clear()
        _DRAWN[key] = VoteDraws(source.votes, seed=0, resamples=RESAMPLES)
    return _DRAWN[key]


def forget() -> None:
    """Read everything again: runs or data have changed under the same names."""
    for kept in (_interval, _predictions, _source):
        kept.cache_clear()
    _SOURCES.clear()
    _DRAWN.clear()
