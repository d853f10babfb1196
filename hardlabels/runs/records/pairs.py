"""The numbers of pairs of runs: what probes such as ``barrier`` and ``cka`` wrote beside the runs."""

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hardlabels.runs.cell import Cell
from hardlabels.runs.records.one_run import measured_by, probed_numbers
from hardlabels.runs.records.records import PAIR_COLUMNS


def pair_files(place: Path) -> list[Path]:
    """What probes of pairs of runs wrote in a folder that is laid out as ``outputs`` is; published files may be compressed."""
    return sorted(file for file in place.glob("studies/*/diagnostics/*") if file.name.endswith((".json", ".json.xz")))


def read_pair_file(file: Path) -> dict[str, Any]:
    """The content of a file that :func:`pair_files` gives."""
    content = file.read_bytes()
    return json.loads(lzma.decompress(content) if file.suffix == ".xz" else content)


def read_pairs(file: Path) -> pd.DataFrame:
    """The numbers of a file that :func:`pair_files` gives, as rows of ``PAIR_COLUMNS``."""
    rows, saved = [], read_pair_file(file)
    probe, checkpoint = measured_by(saved, file)
    for pair in saved["pairs"]:
        a, b = Cell.from_folder(pair["a"]), Cell.from_folder(pair["b"])
        head = (probe, a.data, a.tagged_recipe, a.variant, b.variant, a.votes, b.votes, a.seed, b.seed)
        rows += [(*head, view, checkpoint, name, value) for view, name, value in probed_numbers(pair["values"])]
    return pd.DataFrame(rows, columns=PAIR_COLUMNS).astype({"value": float})


def between_cells(pairs: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    """The rows about two runs that are both among these cells; of rows about the same quantity the first one."""
    known = {(cell.data, cell.tagged_recipe, cell.variant, cell.votes, cell.seed) for cell in cells}
    sides = [pairs[["data", "recipe", f"method_{s}", f"K_{s}", f"seed_{s}"]].itertuples(index=False, name=None) for s in "ab"]
    keep = [a in known and b in known for a, b in zip(*sides, strict=True)]
    return pairs[np.array(keep, dtype=bool)].drop_duplicates(PAIR_COLUMNS[:-1]).reset_index(drop=True)
