"""How far a cell would move had others voted: the interval over votes that stands beside the SD over seeds."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import numpy as np

from hardlabels.reporting.tables.saved import predictions_of, source_at_hand
from hardlabels.runs.cell import Cell
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records
from hardlabels.statistics.target import SOFT, vote_intervals

RESAMPLES = 100
"""A cell of 5 runs of 2,000 items takes about a second; the ends are known to about a tenth of the interval's length."""

GROUPS = (SOFT[:3], SOFT[3:])
"""Computed together: drawing votes for the whole data set costs as much as scoring. The rank correlation is the slow one."""

NEEDS_DATA = (
    "Intervals over votes are left out: they need the votes of the data set, which are not on this machine (HARDLABELS_DATA)."
)


def target_intervals(records: Records, method: str, k: float, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """Name to the ends of the 95 % interval over votes of the mean over seeds; empty where data or predictions are not at hand.

    Args:
        records: finished runs.
        method: whose runs.
        k: votes an item in training, infinite for all. Evaluation always uses all votes.
        names: of metrics; those that see only the majority label have no such interval.
    """
    # With few votes there are many cells, of which table 1 shows soft NLL alone: nothing is computed beside it.
    together = GROUPS if np.isinf(k) else [(name,) for name in SOFT]
    groups = [group for group in together if set(names) & set(group)]
    paths = tuple(path for cell, path in sorted(records.folders.items(), key=lambda item: item[0].seed) if _is(cell, method, k))
    return {name: ends for group in groups for name, ends in _intervals(paths, group) if name in names} if paths else {}


@lru_cache(maxsize=1024)  # several tables show the same cell
def _intervals(paths: tuple[Path, ...], names: tuple[str, ...]) -> tuple[tuple[str, tuple[float, float]], ...]:
    runs = [FinishedRun(path) for path in paths]
    source = source_at_hand(runs[0])
    saved = [predictions_of(run) for run in runs]
    if source is None or not source.votes.has_votes or not all(saved):
        return ()
    parts = [(one["logits"].astype(np.float64), one["index"]) for one in saved if one is not None]
    found = vote_intervals(parts, source.votes, names, seed=0, resamples=RESAMPLES)
    return tuple((name, (value.low, value.high)) for name, value in found.items() if np.isfinite([value.low, value.high]).all())


def _is(cell: Cell, method: str, k: float) -> bool:
    return cell.method == method and (np.inf if cell.K is None else float(cell.K)) == k
