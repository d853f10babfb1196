"""Finished runs as one long table: one row a number, read in one pass over the run folders."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hardlabels.runs.archive import archives, unpacked
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.files import write_atomically
from hardlabels.runs.study import Study
from hardlabels.votes import SLICES

COLUMNS = ["study", "data", "recipe", "method", "K", "seed", "slice", "checkpoint", "name", "value"]
PAIR_COLUMNS = ["probe", "data", "recipe", "method_a", "method_b", "K_a", "K_b", "seed_a", "seed_b", "slice", "name", "value"]
CACHE = ".records.csv"
VIEWS = (*SLICES, "truth")

Row = tuple[str, str, str, float | None]  # slice, checkpoint, name, value


@dataclass(frozen=True)
class Records:
    """What finished runs say.

    Attributes:
        table: long: study, data, recipe, method, K (infinite = all votes), seed, slice, checkpoint, name, value. A metric has
            its own name, a probe's value ``<probe>/<quantity>``.
        pairs: long: what the pair probes say, with the coordinates of both runs.
        folders: where each finished cell is.
        unfinished: folders that are not in the table, with the reason.
        missing: cells of the study that have no folder yet.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    folders: dict[Cell, Path]
    unfinished: list[tuple[Path, str]]
    missing: list[Cell]

    def values(self, name: str, **where: Any) -> pd.Series:
        """The values of one name by seed: those rows of ``table`` that have these coordinates (slice full, checkpoint best).

        Returns:
            A series indexed by seed, in order.
        """
        where = {"slice": "full", "checkpoint": "best", **where}
        rows = self._by_name.get(name, self.table[:0])
        for column, value in where.items():
            rows = rows[rows[column] == value]
        return rows.set_index("seed")["value"].sort_index().dropna()

    @cached_property
    def _by_name(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.table.groupby("name", sort=False)))


def read_records(places: Sequence[str | Path], study: Study | None = None) -> Records:
    """Every finished run below these folders, or those of a study; the first folder that has a cell finished wins.

    Args:
        places: folders laid out as ``outputs`` is, or with zips ``<data>/<recipe>.zip`` in it (``hardlabels.publish``); those
            that do not exist are passed over.
        study: keep its cells only, and say which are missing.

    Unreadable and unfinished runs are listed, never silently dropped. What was read is kept in ``.records.csv`` of each
    place; folders that changed since are read again.
    """
    wanted = None if study is None else study.cells()
    parts, folders, unfinished = [], {}, {}
    for place in _with_archives(places, wanted):
        found = dict(_find(place)) if wanted is None else {cell: place / cell.folder for cell in wanted}
        fresh = {cell: path for cell, path in found.items() if cell not in folders and path.is_dir()}
        table, failures = _read_place(place, fresh)
        parts.append(table)
        folders.update({cell: path for cell, path in fresh.items() if path not in failures})
        unfinished.update({cell: (fresh[cell], failures[fresh[cell]]) for cell in fresh if fresh[cell] in failures})
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    table["study"] = "" if study is None else study.name
    pairs = [_read_pairs(file) for place in places for file in sorted(Path(place).glob("studies/*/diagnostics/*.json"))]
    joined = pd.concat(pairs, ignore_index=True) if pairs else pd.DataFrame(columns=PAIR_COLUMNS)
    return Records(
        table[COLUMNS],
        _among(joined, folders),
        folders,
        [why for cell, why in unfinished.items() if cell not in folders],
        [cell for cell in wanted or [] if cell not in folders and cell not in unfinished],
    )


def run_rows(directory: RunDirectory) -> Iterator[Row]:
    """The numbers of one run: ``result.json``, then its probes.

    Raises:
        OSError, ValueError, KeyError, TypeError, AttributeError: when a file is not what it should be.
    """
    result = json.loads(directory.result.read_text())
    for checkpoint in ("best", "last"):
        yield "full", checkpoint, "epoch", result[checkpoint]["epoch"]
        for view, metrics in result[checkpoint].items():
            if view != "epoch":
                yield from ((view, checkpoint, name, value) for name, value in metrics.items())
    for file in sorted(directory.path.glob("diagnostics/*.json")):
        for view, name, value in _numbers(json.loads(file.read_text())["values"]):
            yield view, "best", f"{file.stem}/{name}", value


def _with_archives(places: Sequence[str | Path], wanted: Sequence[Cell] | None) -> Iterator[Path]:
    """The places that exist, each followed by its zips, unpacked; those that can hold a wanted cell."""
    names = None if wanted is None else {(cell.data, cell.recipe) for cell in wanted}
    for place in (Path(place) for place in places if Path(place).is_dir()):
        yield place
        for file in archives(place):
            if names is None or (file.parent.name, file.stem) in names:
                yield unpacked(file)


def _read_place(place: Path, folders: dict[Cell, Path]) -> tuple[pd.DataFrame, dict[Path, str]]:
    stamps = {str(path.relative_to(place)): _stamp(path) for path in folders.values()}
    cached = _load_cache(place / CACHE)
    fits = cached["folder"].map(stamps) == cached["stamp"]
    known = set(cached.loc[fits, "folder"])
    rows: list[tuple[Any, ...]] = []
    failures: dict[Path, str] = {}
    for cell, path in folders.items():
        folder = str(path.relative_to(place))
        if folder in known:
            continue
        directory = RunDirectory(path)
        if not directory.is_done():
            failures[path] = f"not finished: {directory.first_error()}"
            continue
        k = np.inf if cell.K is None else float(cell.K)
        head = (folder, stamps[folder], cell.data, cell.recipe, cell.method, k, cell.seed)
        try:
            rows += [(*head, *row) for row in run_rows(directory)]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            failures[path] = f"unreadable: {type(error).__name__}: {error}"
    new = pd.DataFrame(rows, columns=["folder", "stamp", *COLUMNS[1:]])
    new["value"] = new["value"].astype(float)
    table = pd.concat([cached[fits], new], ignore_index=True) if len(new) else cached[fits]
    if len(new) or not fits.all():
        others = cached[~cached["folder"].isin(stamps)]  # of other studies in the same place
        kept = pd.concat([others, table]) if len(others) else table
        with suppress(OSError):  # a place that cannot be written is read anew each time
            write_atomically(place / CACHE, lambda file: kept.to_csv(file, index=False))
    return table.drop(columns=["folder", "stamp"]), failures


def _find(place: Path) -> Iterator[tuple[Cell, Path]]:
    for path in sorted(place.glob("[!.]*/*/*/K=*/seed=*/")):
        with suppress(ValueError):  # a folder that only looks like one of ours
            yield Cell.from_folder(path), path


def _stamp(path: Path) -> str:
    """Changes when the run's numbers may have: times and sizes of its marker, its result and its probes' files."""
    marks = []
    with suppress(FileNotFoundError), os.scandir(path / "diagnostics") as entries:
        marks = sorted(f"{entry.name}:{(s := entry.stat()).st_mtime_ns}:{s.st_size}" for entry in entries)
    for name in ("done", "result.json"):
        with suppress(FileNotFoundError):
            stat = (path / name).stat()
            marks.append(f"{name}:{stat.st_mtime_ns}:{stat.st_size}")
    return " ".join(marks)


def _load_cache(path: Path) -> pd.DataFrame:
    columns = ["folder", "stamp", *COLUMNS[1:]]
    text = dict.fromkeys(("folder", "stamp", "data", "recipe", "method", "slice", "checkpoint", "name"), str)
    kinds: Any = {**text, "K": float, "seed": int, "value": float}
    with suppress(OSError, ValueError, KeyError):
        # A method may be called "null", so no word means missing; Python's float gives back every bit, pandas' parser may not.
        exact = {"value": lambda text: float(text) if text else np.nan}
        others = {column: kind for column, kind in kinds.items() if column not in exact}
        return pd.read_csv(path, dtype=others, converters=exact, keep_default_na=False)[columns]
    return pd.DataFrame({column: pd.Series(dtype=kinds[column]) for column in columns})


def _numbers(values: dict[str, Any]) -> Iterator[tuple[str, str, float | None]]:
    for key, value in values.items():
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            head, _, rest = key.partition("/")
            yield (head, rest, value) if head in VIEWS and rest else ("full", key, value)


def _read_pairs(file: Path) -> pd.DataFrame:
    rows = []
    for pair in json.loads(file.read_text())["pairs"]:
        a, b = Cell.from_folder(pair["a"]), Cell.from_folder(pair["b"])
        ks = [np.inf if cell.K is None else float(cell.K) for cell in (a, b)]
        head = (file.stem, a.data, a.recipe, a.method, b.method, *ks, a.seed, b.seed)
        rows += [(*head, *number) for number in _numbers(pair["values"])]
    return pd.DataFrame(rows, columns=PAIR_COLUMNS).astype({"value": float})


def _among(pairs: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    known = {(cell.data, cell.recipe, cell.method, np.inf if cell.K is None else float(cell.K), cell.seed) for cell in cells}
    sides = [pairs[["data", "recipe", f"method_{s}", f"K_{s}", f"seed_{s}"]].itertuples(index=False, name=None) for s in "ab"]
    keep = [a in known and b in known for a, b in zip(*sides, strict=True)]
    return pairs[np.array(keep, dtype=bool)].drop_duplicates(PAIR_COLUMNS[:-1]).reset_index(drop=True)
