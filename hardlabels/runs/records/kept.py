"""What was read of run folders, kept in ``.records.csv`` of each place; folders that changed since are read again."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CACHE = ".records.csv"
NUMBERS = 4
"""Raised whenever a run's files give other numbers than before: what was kept of them is then read again."""


def stamp_of(path: Path) -> str:
    """A text that changes whenever a run's numbers may have: times and sizes of its files, and what is derived from them."""
    marks: list[str] = []
    with suppress(FileNotFoundError), os.scandir(path / "diagnostics") as entries:
        marks = sorted(f"{entry.name}:{(s := entry.stat()).st_mtime_ns}:{s.st_size}" for entry in entries)
    marks.append(f"numbers:{NUMBERS}")
    for name in ("done", "result.json", "predictions.npz", "derived.json"):
        with suppress(FileNotFoundError):
            stat = (path / name).stat()
            marks.append(f"{name}:{stat.st_mtime_ns}:{stat.st_size}")
    return " ".join(marks)


def load_cache(path: Path, about: Sequence[str]) -> pd.DataFrame:
    """What was kept; nothing where there is no such file, or where it is of another form.

    Args:
        path: the file.
        about: its columns beside ``folder`` and ``stamp``.
    """
    columns = ["folder", "stamp", *about]
    text = dict.fromkeys(("folder", "stamp", "data", "recipe", "method", "slice", "checkpoint", "name"), str)
    kinds: Any = {**text, "K": float, "seed": int, "value": float}
    with suppress(OSError, ValueError, KeyError):
        # A method may be called "null", so no word means missing; Python's float gives back every bit, pandas' parser may not.
        table = pd.read_csv(path, dtype={**kinds, "value": str}, keep_default_na=False)[columns]
        return table.assign(value=[float(text) if text else np.nan for text in table["value"].tolist()])
    return pd.DataFrame({column: pd.Series(dtype=kinds[column]) for column in columns})
