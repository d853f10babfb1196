"""What the two figures of outlier detection share: which runs, sets and detectors have saved curves."""

import numpy as np

from hardlabels.reporting.tables.detection import detector_order, votes_measured
from hardlabels.reporting.tables.saved import run_arrays
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.runs.cell import Cell
from hardlabels.runs.quantity import Detection
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

PROBE = "ood"
SETS = ("svhn", "cifar100")


def saved_detection(records: Records) -> dict[Cell, dict[tuple[str, str], dict[str, np.ndarray]]]:
    """Run to (set, detector) to its arrays, for all runs that see all votes; methods in order, then seeds."""
    found = {}
    for cell in sorted(records.folders, key=lambda c: (method_key(c.variant), c.seed)):
        if cell.K is None:
            arrays = run_arrays(records.folders[cell], PROBE, records.checkpoint)
            parts: dict[tuple[str, str], dict[str, np.ndarray]] = {}
            for name, array in arrays.items():
                if (found_in := Detection.read(name)) is not None:
                    parts.setdefault((found_in.outliers, found_in.detector), {})[found_in.measure] = array
            if parts:
                found[cell] = parts
    return found


def few_votes_note(records: Records) -> list[str]:
    """Where the numbers of the runs are that these figures leave out."""
    few = ", ".join(write_votes(k) for k in votes_measured(records) if k != ALL)
    return [f"Runs with K = {few} were measured too and are not drawn: tables 7, 8, 9 and S3 have them."] if few else []


def ordered(keys: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """(set, detector) in the order of the paper's tables."""
    sets = [name for name in SETS if any(key[0] == name for key in keys)]
    sets += sorted({key[0] for key in keys} - set(sets))
    detectors = detector_order({detector for _, detector in keys})
    return [(outliers, detector) for outliers in sets for detector in detectors if (outliers, detector) in keys]
