"""Records made by hand: literal numbers, and run folders with literal files."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.records import COLUMNS, PAIR_COLUMNS, Records, read_records
from hardlabels.sources import Source
from hardlabels.sources.synthetic import synthetic


@pytest.fixture
def literal() -> Callable[..., Records]:
    """``literal({("sls", 5, "soft_nll"): [0.1, 0.2]})``: one value a seed, from seed 0; a fourth word is the slice."""

    def make(values, *, data="cifar10h", recipe="paper", study="", missing=(), pairs=()) -> Records:
        rows = []
        for (method, k, name, *view), by_seed in values.items():
            numbers = by_seed if isinstance(by_seed, dict) else dict(enumerate(by_seed))
            slice_name = view[0] if view else "full"
            rows += [(study, data, recipe, method, float(k), seed, slice_name, "best", name, v) for seed, v in numbers.items()]
        table = pd.DataFrame(rows, columns=COLUMNS).astype({"value": float, "K": float})
        return Records(table, pd.DataFrame(list(pairs), columns=PAIR_COLUMNS).astype({"value": float}), {}, [], list(missing))

    return make


class Outputs:
    """A folder of finished runs whose files are written by hand."""

    def __init__(self, root: Path, data: str = "toy", recipe: str = "short") -> None:
        self.root, self.data, self.recipe = root, data, recipe

    def cell(self, method: str, k: int | None, seed: int) -> Cell:
        return Cell(self.data, self.recipe, method, k, seed)

    def run(
        self, method, k, seed, metrics=None, *, logits=None, p=None, index=None, history=(), probes=None, arrays=None
    ) -> Path:
        directory = RunDirectory(self.root / self.cell(method, k, seed).folder)
        directory.path.mkdir(parents=True, exist_ok=True)
        full = {"soft_nll": 1.0, **(metrics or {})}
        result = {name: {"epoch": 0, "full": full, "high_disagreement": full} for name in ("best", "last")}
        if logits is not None:
            index = np.arange(len(p)) if index is None else np.asarray(index)
            directory.write_predictions(logits=np.asarray(logits), logits_last=np.asarray(logits), index=index, p=np.asarray(p))
        if history:
            directory.write_history(list(history))
        for probe, values in (probes or {}).items():
            self._json(directory.path / "diagnostics" / f"{probe}.json", {"probe": probe, "values": values})
        for probe, named in (arrays or {}).items():
            np.savez(directory.path / "diagnostics" / f"{probe}.npz", **named)
        directory.finish(result)
        return directory.path

    def use(self, path: Path, **settings) -> Source:
        """Say that a run was trained on this synthetic data, without training it."""
        source = synthetic(**settings)
        data = {"_target_": "hardlabels.sources.synthetic.synthetic", **settings}
        self._json(path / "config.yaml", {"data": data})  # JSON is YAML
        self._json(RunDirectory(path).identity, {"fingerprint": "literal", "data": source.fingerprint})
        return source

    def pairs(self, probe, entries, arrays=None, study="toy") -> None:
        """``entries``: ((method, K, seed), (method, K, seed), values)."""
        listed = [{"a": str(self.cell(*a).folder), "b": str(self.cell(*b).folder), "values": v} for a, b, v in entries]
        file = self.root / "studies" / study / "diagnostics" / f"{probe}.json"
        self._json(file, {"probe": probe, "pairs": listed})
        if arrays:
            a, b, named = arrays
            head = f"{self.cell(*a).folder}|{self.cell(*b).folder}|"
            np.savez(file.with_suffix(".npz"), **{head + name: array for name, array in named.items()})

    def records(self) -> Records:
        return read_records([self.root])

    @staticmethod
    def _json(file: Path, content: dict) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))


@pytest.fixture
def outputs(tmp_path) -> Outputs:
    return Outputs(tmp_path / "outputs")
