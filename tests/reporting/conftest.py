"""Records made by hand: literal numbers, and run folders with literal files."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hardlabels.configuration import compose_command
from hardlabels.report import read_rules
from hardlabels.reporting.claims import Claim, Design, Finding, Rules, judge
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.records import COLUMNS, PAIR_COLUMNS, Records, read_records
from hardlabels.sources import Source
from hardlabels.sources.synthetic import synthetic


@pytest.fixture
def literal() -> Callable[..., Records]:
    """``literal({("sls", 5, "soft_nll"): [0.1, 0.2]})``: one value per seed, from seed 0; a fourth word is the slice.

    The numbers of both checkpoints, but for those that ``last`` has.
    """

    def make(values, *, last=None, data="cifar10h", recipe="paper", study="", missing=(), pairs=()) -> Records:
        rows = []
        for checkpoint, known in (("best", values), ("last", {**values, **(last or {})})):
            for (method, k, name, *view), by_seed in known.items():
                numbers = by_seed if isinstance(by_seed, dict) else dict(enumerate(by_seed))
                where = (study, data, recipe, method, float(k))
                rows += [(*where, seed, view[0] if view else "full", checkpoint, name, v) for seed, v in numbers.items()]
        table = pd.DataFrame(rows, columns=COLUMNS).astype({"value": float, "K": float})
        return Records(table, pd.DataFrame(list(pairs), columns=PAIR_COLUMNS).astype({"value": float}), {}, [], list(missing))

    return make


@pytest.fixture(scope="session")
def rules() -> Rules:
    """Those of conf/report.yaml."""
    return read_rules(compose_command("report", []))


@pytest.fixture
def make_design() -> Callable[..., Design]:
    """A study made by hand.

    Values are ``{(method, K, name[, slice]): [value of seed 0, 1, ...]}``, pairs ``{(probe, name, a, b, K[, slice]): {(seed a,
    seed b): value}}``: the numbers of both checkpoints, but for those that ``last`` has. ``own=True`` is the paper's own regime.
    """

    def make(values, pairs=None, *, last=None, cells=None, own=False) -> Design:
        data, recipe = ("cifar10h", "paper") if own else ("d", "r")
        rows, known = [], {}
        for checkpoint, numbers in (("best", values), ("last", {**values, **(last or {})})):
            for (method, k, name, *part), by_seed in numbers.items():
                for seed, value in enumerate(by_seed):
                    known[Cell.read(data, recipe, method, k, seed)] = Path("somewhere")
                    where = ("", data, recipe, method, float(k), seed)
                    rows.append((*where, part[0] if part else "full", checkpoint, name, value))
        found = []
        for (probe, name, a, b, k, *part), numbers in (pairs or {}).items():
            for (seed_a, seed_b), value in numbers.items():
                where = (probe, data, recipe, a, b, float(k), float(k), seed_a, seed_b, part[0] if part else "full")
                found += [(*where, checkpoint, name, value) for checkpoint in ("best", "last")]
        table, pair_table = pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(found, columns=PAIR_COLUMNS)
        asked = tuple(Cell.read(data, recipe, *cell) for cell in cells) if cells else tuple(known)
        return Design(Records(table, pair_table, known, [], [cell for cell in asked if cell not in known]), asked)

    return make


@pytest.fixture
def find(rules) -> Callable[..., Finding]:
    """``find(test, design)``: what the design says about a claim with this test, at the selected epoch."""

    def make(test, design, checkpoint="best", **claim) -> Finding:
        about = Claim("c", "t", "says", "where", "published", "main", test, **claim)
        typed = replace(design, records=replace(design.records, words=("outputs=o",)))
        return judge(about, typed, rules, study="main").at[checkpoint]

    return make


class Outputs:
    """A folder of finished runs whose files are written by hand."""

    def __init__(self, root: Path, data: str = "toy", recipe: str = "short") -> None:
        self.root, self.data, self.recipe = root, data, recipe

    def cell(self, method: str, k: int | None, seed: int) -> Cell:
        return Cell.read(self.data, self.recipe, method, k, seed)

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
            self.write_json(directory.path / "diagnostics" / f"{probe}.json", {"probe": probe, "values": values})
        for probe, named in (arrays or {}).items():
            np.savez(directory.path / "diagnostics" / f"{probe}.npz", **named)
        directory.finish(result)
        return directory.path

    def use(self, path: Path, **settings) -> Source:
        """Say that a run was trained on this synthetic data, without training it."""
        source = synthetic(**settings)
        data = {"_target_": "hardlabels.sources.synthetic.synthetic", **settings}
        self.write_json(path / "config.yaml", {"data": data})  # JSON is YAML
        self.write_json(RunDirectory(path).identity, {"fingerprint": "literal", "data": source.fingerprint})
        return source

    def pairs(self, probe, entries, arrays=None, study="toy") -> None:
        """``entries``: ((method, K, seed), (method, K, seed), values)."""
        listed = [{"a": str(self.cell(*a).folder), "b": str(self.cell(*b).folder), "values": v} for a, b, v in entries]
        file = self.root / "studies" / study / "diagnostics" / f"{probe}.json"
        self.write_json(file, {"probe": probe, "pairs": listed})
        if arrays:
            a, b, named = arrays
            head = f"{self.cell(*a).folder}|{self.cell(*b).folder}|"
            np.savez(file.with_suffix(".npz"), **{head + name: array for name, array in named.items()})

    def records(self) -> Records:
        return read_records([self.root])

    @staticmethod
    def write_json(file: Path, content: dict) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))


@pytest.fixture
def outputs(tmp_path) -> Outputs:
    return Outputs(tmp_path / "outputs")
