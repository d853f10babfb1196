"""How much of a value is luck, because the epoch was selected on the same items that are scored.

Under the protocol ``paper`` a run keeps the epoch with the lowest soft NLL on its evaluation items. The value at the epoch that
the *other* seeds' curves choose has no such luck (:mod:`hardlabels.statistics.optimism` says how to read it).
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.quantity import history_column
from hardlabels.runs.records import Records
from hardlabels.statistics.optimism import leave_one_seed_out

MONITORED, SELECTED_APART = (history_column(part, "soft_nll") for part in ("evaluate", "select"))


def curves(path: Path) -> Mapping[str, np.ndarray]:
    """Column of a run's ``history.csv`` to its values by epoch; empty where there is no history. Read once."""
    file = RunDirectory(path).history
    return _curves(file, file.stat().st_mtime_ns) if file.is_file() else {}


def unselected(records: Records, method: str, k: float, name: str, slice: str = "full") -> dict[int, float]:
    """The values of a metric by seed at the epochs that the other seeds' curves choose.

    Empty where the epoch was chosen on items of their own, where the records are not seen at the selected epoch, and where the
    curves of two seeds or more are not there.

    Args:
        records: of one data set and one recipe.
        method: of the runs.
        k: votes per item in training, infinite for all.
        name: of a metric.
        slice: of the evaluation items.
    """
    if records.checkpoint != "best":
        return {}
    column = history_column("evaluate", name, slice)
    found = {cell.seed: curves(path) for cell, path in records.runs.get((method, k), {}).items()}
    if len(found) < 2 or any(SELECTED_APART in one or not {MONITORED, column} <= set(one) for one in found.values()):
        return {}
    monitored, values = ({seed: one[key].tolist() for seed, one in found.items()} for key in (MONITORED, column))
    every = [*monitored.values(), *values.values()]
    if len({len(curve) for curve in every}) > 1 or not all(np.isfinite(curve).all() for curve in every):
        return {}
    return {seed: one.others for seed, one in leave_one_seed_out(monitored, values).items()}


def selected_on_scored_items(records: Records) -> bool:
    """Whether a run of the records chose its epoch on its evaluation items."""
    return any(MONITORED in (one := curves(path)) and SELECTED_APART not in one for path in records.folders.values())


@lru_cache(maxsize=1 << 14)
def _curves(file: Path, stamp: int) -> Mapping[str, np.ndarray]:
    rows = RunDirectory(file.parent).read_history()
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}
