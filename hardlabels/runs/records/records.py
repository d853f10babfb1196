"""What finished runs say, as two long tables: one row per number of a run, and one per number of a pair of runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.quantity import CHECKPOINTS, REFERENCES, Quantity

COLUMNS = ["study", "data", "recipe", "method", "K", "seed", "slice", "checkpoint", "name", "value"]
PAIR_COLUMNS = [
    "probe", "data", "recipe", "method_a", "method_b", "K_a", "K_b", "seed_a", "seed_b", "slice", "checkpoint", "name", "value",
]  # fmt: skip

CellKey = tuple[str, str, str, float]  # name, slice, method, K


@dataclass(frozen=True)
class Records:
    """What finished runs say.

    Attributes:
        table: long: study, data, recipe, method, K (infinite = all votes), seed, slice, checkpoint, name, value. A metric has
            its own name, a probe's value ``<probe>/<quantity>``; a probe with settings of somebody's own has another name
            (``hessian,items=50``). What has no checkpoint (``dynamics``) stands with ``best``.
        pairs: long: what the pair probes say, with the coordinates of both runs; likewise.
        folders: where each finished cell is.
        unfinished: folders that are not in the table, with the reason.
        missing: cells of the study that have no folder yet.
        places: the folders that were read.
        words: the overrides that chose the study's runs, for the commands that tables and figures name; None: none were typed.
        checkpoint: the one that they are seen at; both tables hold all of them.
        again: (data, recipe, probe) to the number of runs, or of pairs, that were measured on networks trained again.
        probed: the folders of these.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    folders: dict[Cell, Path]
    unfinished: list[tuple[Path, str]]
    missing: list[Cell]
    places: tuple[Path, ...] = ()
    words: tuple[str, ...] | None = None
    checkpoint: str = "best"
    again: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    probed: tuple[Path, ...] = ()

    def at(self, checkpoint: str) -> "Records":
        """The same records, seen at another checkpoint: ``values``, tables, figures and claims then take its numbers."""
        if checkpoint not in CHECKPOINTS:
            raise InputError(f"checkpoint must be one of {', '.join(CHECKPOINTS)}, got {checkpoint!r}")
        if checkpoint not in self._views:
            self._views[checkpoint] = replace(self, checkpoint=checkpoint)
            self._views[checkpoint].__dict__["_views"] = self._views
        return self._views[checkpoint]

    @cached_property
    def _views(self) -> dict[str, "Records"]:
        return {self.checkpoint: self}  # each view indexes many thousands of numbers, and every table asks for it

    @cached_property
    def by_cell(self) -> dict[CellKey, list[tuple[int, float]]]:
        """(name, slice, method, K) to seeds and values at the checkpoint: tables and claims ask for thousands of them."""
        found: dict[CellKey, list[tuple[int, float]]] = {}
        columns = ("name", "slice", "method", "K", "seed", "value")
        for name, part, method, k, seed, value in zip(*(self.seen[column].tolist() for column in columns), strict=True):
            found.setdefault((name, part, method, k), []).append((seed, value))
        return found

    @cached_property
    def runs(self) -> dict[tuple[str, float], dict[Cell, Path]]:
        """(method, K) to the finished runs and their folders; method and K as in ``table``."""
        found: dict[tuple[str, float], dict[Cell, Path]] = {}
        for cell, path in self.folders.items():
            found.setdefault((cell.variant, cell.votes), {})[cell] = path
        return found

    @cached_property
    def references(self) -> dict[CellKey, list[tuple[int, float]]]:
        """The part of ``by_cell`` about predictions that no network made: the class shares, and the annotators' own."""
        return {key: rows for key, rows in self.by_cell.items() if Quantity.from_column(key[0]).probe in REFERENCES}

    @cached_property
    def seen(self) -> pd.DataFrame:
        """The rows of ``table`` at the checkpoint, and those of quantities that have none."""
        here = self.table["checkpoint"] == self.checkpoint
        timeless = [name for name in self.table["name"].unique() if Quantity.from_column(name).timeless]
        return self.table[here | self.table["name"].isin(timeless)]

    @cached_property
    def seen_pairs(self) -> pd.DataFrame:
        """The rows of ``pairs`` at the checkpoint."""
        return self.pairs[self.pairs["checkpoint"] == self.checkpoint]

    def values(self, name: str, **where: Any) -> pd.Series:
        """The values of one name by seed: those rows of ``table`` that have these coordinates.

        Args:
            name: as in the table: ``Quantity(...).column``.
            **where: column to value; slice is full and checkpoint the one that the records are seen at, where nothing is said.

        Returns:
            A series indexed by seed, in order.
        """
        where = {"slice": "full", "checkpoint": self.checkpoint, **where}
        if Quantity.from_column(name).timeless:
            del where["checkpoint"]
        rows = self._by_name.get(name, self.table[:0])
        for column, value in where.items():
            rows = rows[rows[column] == value]
        return rows.set_index("seed")["value"].sort_index().dropna()

    @cached_property
    def _by_name(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.table.groupby("name", sort=False)))
