"""What records do not hold: lists and arrays that probes saved, saved predictions, and the data, where they are at hand."""

import json
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.derived import LOGITS
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.quantity import TIMELESS
from hardlabels.runs.records import Records, read_pair_file
from hardlabels.runs.spelling import read_pair_array, write_probe_file
from hardlabels.sources.source import Source

NOWHERE = "file:///not-at-hand"
DEPTH = 5  # of a run's folder below the outputs: data, recipe, method, K, seed


def file_of(probe: str, checkpoint: str) -> str:
    """The name of a probe's files at a checkpoint, without the ending; what is no property of one network has one file.

    >>> file_of("hessian", "last"), file_of("dynamics", "last")
    ('hessian,checkpoint=last', 'dynamics')
    """
    return write_probe_file(probe, "best" if probe in TIMELESS else checkpoint)


def run_values(path: Path, probe: str, checkpoint: str = "best") -> dict[str, Any]:
    """What a probe says about one run, lists included; empty where it was not measured.

    Args:
        path: the run's folder.
        probe: its name.
        checkpoint: which network.
    """
    return _part(path / "diagnostics" / f"{file_of(probe, checkpoint)}.json", "values")


def run_settings(path: Path, probe: str, checkpoint: str = "best") -> dict[str, Any]:
    """The settings with which a probe measured one run; empty where it was not measured."""
    return _part(path / "diagnostics" / f"{file_of(probe, checkpoint)}.json", "settings")


def run_arrays(path: Path, probe: str, checkpoint: str = "best") -> dict[str, np.ndarray]:
    """The arrays that a probe saved of one run; empty where there are none."""
    file = path / "diagnostics" / f"{file_of(probe, checkpoint)}.npz"
    with suppress(OSError, ValueError), np.load(file, allow_pickle=False) as saved:
        return dict(saved)
    return {}


def pair_values(records: Records, probe: str) -> dict[tuple[Cell, Cell], dict[str, Any]]:
    """What a pair probe says at the records' checkpoint, lists included: each pair of their runs, the first place that has it."""
    found: dict[tuple[Cell, Cell], dict[str, Any]] = {}
    for file in _pair_files(records, f"{file_of(probe, records.checkpoint)}.json"):
        with suppress(OSError, ValueError, KeyError):
            for entry in _read_pairs(file, file.stat().st_mtime_ns):
                a, b = Cell.from_folder(entry["a"]), Cell.from_folder(entry["b"])
                if a in records.folders and b in records.folders:
                    found.setdefault((a, b), entry["values"])
    return found


@lru_cache(maxsize=8)  # three figures at two checkpoints ask for the same file, of megabytes
def _read_pairs(file: Path, stamp: int) -> list[dict[str, Any]]:
    return read_pair_file(file)["pairs"]


def pair_arrays(records: Records, probe: str, a: Cell, b: Cell) -> dict[str, np.ndarray]:
    """The arrays that a pair probe saved of two runs at the records' checkpoint, by their own names."""
    pair = str(a.folder), str(b.folder)
    for file in _pair_files(records, f"{file_of(probe, records.checkpoint)}.npz"):
        with suppress(OSError, ValueError), np.load(file, allow_pickle=False) as saved:
            names = {name: key for key in saved.files for *runs, name in [read_pair_array(key)] if tuple(runs) == pair}
            if names:
                return {name: saved[key] for name, key in names.items()}
    return {}


def source_at_hand(run: FinishedRun) -> Source | None:
    """The data of a run when they are on this machine, else None: a report downloads nothing and never fails for lack of data."""
    with suppress(InputError, OSError, ValueError, AttributeError, TypeError, ImportError):
        offline = FinishedRun(run.path)
        # In place of its own configuration: the same with no address to download from.
        offline.__dict__["cfg"] = OmegaConf.create({"data": _offline(OmegaConf.to_container(run.cfg.data))})
        return offline.source
    return None


def predictions_of(run: FinishedRun, checkpoint: str = "best") -> dict[str, np.ndarray] | None:
    """The saved predictions of a checkpoint (``logits``, ``index``, ``p``), or None where they cannot be read."""
    with suppress(InputError):
        saved = run.predictions
        return {name: saved[key] for name, key in (("logits", LOGITS[checkpoint]), ("index", "index"), ("p", "p"))}
    return None


def _part(file: Path, key: str) -> dict[str, Any]:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return dict(json.loads(file.read_text())[key])
    return {}


def _offline(settings: Any) -> Any:
    if isinstance(settings, dict):
        return {key: _offline(value) for key, value in settings.items()}
    if isinstance(settings, list):
        return [_offline(value) for value in settings]
    return NOWHERE if isinstance(settings, str) and settings.startswith(("http:", "https:")) else settings


def _pair_files(records: Records, name: str) -> list[Path]:
    """The files of this name, also compressed: of the places that were read, and of those where runs are."""
    roots = [*records.places, *records.probed, *(path.absolute().parents[DEPTH - 1] for path in records.folders.values())]
    folders = dict.fromkeys(folder for root in dict.fromkeys(roots) for folder in sorted(root.glob("studies/*/diagnostics")))
    return [folder / found for folder in folders for found in (name, f"{name}.xz") if (folder / found).is_file()]
