"""Finished runs as one long table: one row per number, read in one pass over the run folders."""

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hardlabels.errors import InputError
from hardlabels.runs.archive import archives, recipe_of, unpacked
from hardlabels.runs.cell import Cell
from hardlabels.runs.derived import derived_numbers
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.kept_records import CACHE, load_cache, stamp_of
from hardlabels.runs.quantity import CHECKPOINTS, REFERENCES, Quantity, read_probed
from hardlabels.runs.studies.study import Study
from hardlabels.runs.training.divergence import DivergenceError, why_failed
from hardlabels.runs.writing import write_atomically

COLUMNS = ["study", "data", "recipe", "method", "K", "seed", "slice", "checkpoint", "name", "value"]
PAIR_COLUMNS = [
    "probe", "data", "recipe", "method_a", "method_b", "K_a", "K_b", "seed_a", "seed_b", "slice", "checkpoint", "name", "value",
]  # fmt: skip

Row = tuple[str, str, str, float | None]  # slice, checkpoint, name, value
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


def read_records(places: Sequence[str | Path], study: Study | None = None, probed: Sequence[str | Path] = ()) -> Records:
    """Every finished run below these folders, or those of a study; the first folder that has a cell finished wins.

    Args:
        places: folders laid out as ``outputs`` is, or with archives ``<data>/<recipe>.tar.xz`` in it (``hardlabels.publish``);
            those that do not exist are passed over.
        study: keep its cells only, and say which are missing.
        probed: folders laid out likewise, with runs that were trained again since their networks were not kept: of runs that
            ``places`` have, what probes measured is read there where they have nothing. No score is.

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
    again = _measured_again(probed, folders, table)
    table = table if again.empty else pd.concat([table, again], ignore_index=True)
    table["study"] = "" if study is None else study.name
    pairs = [_read_pairs(file) for place in places for file in pair_files(Path(place))]
    others = [_among(_read_pairs(file), folders) for place in probed for file in pair_files(Path(place))]
    joined = pd.concat([*pairs, *others], ignore_index=True) if pairs or others else pd.DataFrame(columns=PAIR_COLUMNS)
    return Records(
        table[COLUMNS],
        _among(joined, folders),
        folders,
        [why for cell, why in unfinished.items() if cell not in folders],
        [cell for cell in wanted or [] if cell not in folders and cell not in unfinished],
        tuple(Path(place) for place in places),
        again=_count_again(again, others),
        probed=tuple(Path(place) for place in probed),
    )


def _measured_again(probed: Sequence[str | Path], folders: Mapping[Cell, Path], known: pd.DataFrame) -> pd.DataFrame:
    """What probes say of networks that were trained again, where nothing is known of the run's first network."""
    parts = []
    for place in _with_archives(probed, list(folders)):
        parts.append(_read_place(place, {cell: place / cell.folder for cell in folders if (place / cell.folder).is_dir()})[0])
    found = pd.concat(parts, ignore_index=True) if parts else known[:0]
    there = set(_measurements(known))
    kept = [run not in there and run[-1] not in ("", *REFERENCES) for run in _measurements(found)]
    return found[np.array(kept, dtype=bool)]


def _measurements(rows: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Of each row the run that it is about and the probe that measured it; none of a score."""
    probes = [Quantity.from_column(name).probe for name in rows["name"]]
    return zip(*(rows[column] for column in ("data", "recipe", "method", "K", "seed")), probes, strict=True)


def _count_again(rows: pd.DataFrame, pairs: Sequence[pd.DataFrame]) -> dict[tuple[str, str, str], int]:
    """(data, recipe, probe) to the number of runs, or of pairs of runs, that were measured."""
    group, runs = ["data", "recipe", "probe"], ["method", "K", "seed"]
    probes = [Quantity.from_column(name).probe for name in rows["name"]]
    parts = [
        rows.assign(probe=probes)[[*group, *runs]],
        *(part[[*group, *(f"{name}_{s}" for name in runs for s in "ab")]] for part in pairs),
    ]
    found: dict[tuple[str, str, str], int] = {}
    for part in parts:
        for key, measured in part.drop_duplicates().groupby(group):
            found[key] = max(found.get(key, 0), len(measured))  # the two checkpoints of a probe of pairs have a file each
    return found


def pair_files(place: Path) -> list[Path]:
    """What probes of pairs of runs wrote in a folder that is laid out as ``outputs`` is; published files may be compressed."""
    return sorted(file for file in place.glob("studies/*/diagnostics/*") if file.name.endswith((".json", ".json.xz")))


def read_pair_file(file: Path) -> dict[str, Any]:
    """The content of a file that :func:`pair_files` gives."""
    content = file.read_bytes()
    return json.loads(lzma.decompress(content) if file.suffix == ".xz" else content)


def run_rows(directory: RunDirectory) -> Iterator[Row]:
    """The numbers of one run: those of ``result.json``, those that only its predictions give, then those of its probes.

    Raises:
        DivergenceError: when the run diverged.
        OSError, ValueError, KeyError, TypeError, AttributeError: when a file is not what it should be.
    """
    result = json.loads(directory.result.read_text())
    if (failure := why_failed(result)) is not None:
        raise DivergenceError(failure)
    scores: list[Row] = []
    for checkpoint in ("best", "last"):
        yield "full", checkpoint, "epoch", result[checkpoint]["epoch"]
        for view, metrics in result[checkpoint].items():
            if view != "epoch":
                scores += [(view, checkpoint, name, value) for name, value in metrics.items()]
    for reference in REFERENCES:
        for view, metrics in result.get(reference, {}).items():
            yield from ((view, "best", Quantity(name, reference).column, value) for name, value in metrics.items())
    scores += derived_numbers(result, directory.predictions)
    yield from (*scores, *_tempered_kl(scores))
    for file in sorted(directory.path.glob("diagnostics/*.json")):
        saved = json.loads(file.read_text())
        probe, checkpoint = _measured(saved, file)
        yield from ((view, checkpoint, Quantity(name, probe).column, value) for view, name, value in _numbers(saved["values"]))


def _tempered_kl(scores: Iterable[Row]) -> Iterator[Row]:
    """KL after one temperature: soft NLL after it, less the annotators' entropy, by which soft NLL and KL differ."""
    known = {row[:3]: row[3] for row in scores}
    for (view, checkpoint, name), tempered in known.items():
        nll, kl = (known.get((view, checkpoint, other)) for other in ("soft_nll", "kl_to_annotator"))
        if name == "soft_nll_t" and tempered is not None and nll is not None and kl is not None:
            yield view, checkpoint, "kl_to_annotator_t", tempered - nll + kl


def _with_archives(places: Sequence[str | Path], wanted: Sequence[Cell] | None) -> Iterator[Path]:
    """The places that exist, each followed by its archives, unpacked; those that can hold a wanted cell."""
    names = None if wanted is None else {(cell.data, cell.tagged_recipe) for cell in wanted}
    for place in (Path(place) for place in places if Path(place).is_dir()):
        yield place
        for file in archives(place):
            if names is None or (file.parent.name, recipe_of(file)) in names:
                yield unpacked(file)


def _read_place(place: Path, folders: dict[Cell, Path]) -> tuple[pd.DataFrame, dict[Path, str]]:
    stamps = {str(path.relative_to(place)): stamp_of(path) for path in folders.values()}
    cached = load_cache(place / CACHE, COLUMNS[1:])
    read = cached.loc[~cached["folder"].duplicated(), ["folder", "stamp"]].itertuples(index=False, name=None)
    known = {folder for folder, stamp in read if stamps.get(folder) == stamp}
    fits = cached["folder"].isin(known)
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
        head = (folder, stamps[folder], cell.data, cell.tagged_recipe, cell.variant, cell.votes, cell.seed)
        try:
            rows += [(*head, *row) for row in run_rows(directory)]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            failures[path] = f"unreadable: {type(error).__name__}: {error}"
        except DivergenceError as error:
            failures[path] = f"failed: {error}"
    new = pd.DataFrame(rows, columns=["folder", "stamp", *COLUMNS[1:]])
    new["value"] = new["value"].astype(float)
    table = pd.concat([cached[fits], new], ignore_index=True) if len(new) else cached[fits]
    others = cached[~cached["folder"].isin(stamps)]  # of other studies in the same place
    if len(new) or fits.sum() + len(others) < len(cached):
        kept = pd.concat([others, table]) if len(others) else table
        kept = kept.assign(stamp=kept["stamp"].where(~kept["folder"].duplicated(), ""))  # said once: the file is half as large
        with suppress(OSError):  # a place that cannot be written is read anew each time
            write_atomically(place / CACHE, lambda file: kept.to_csv(file, index=False))
    return table.drop(columns=["folder", "stamp"]), failures


def _find(place: Path) -> Iterator[tuple[Cell, Path]]:
    for path in sorted(place.glob("[!.]*/*/*/K=*/seed=*/")):
        with suppress(ValueError):  # a folder that only looks like one of ours
            yield Cell.from_folder(path), path


def _measured(saved: dict[str, Any], file: Path) -> tuple[str, str]:
    """Name of the probe that wrote a file, and the checkpoint: the best one where there is none, or where the file is older."""
    return saved.get("probe", file.stem), saved.get("settings", {}).get("checkpoint", "best")


def _numbers(values: dict[str, Any]) -> Iterator[tuple[str, str, float | None]]:
    for key, value in values.items():
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            name, view = read_probed(key)
            yield view, name, value


def _read_pairs(file: Path) -> pd.DataFrame:
    rows, saved = [], read_pair_file(file)
    probe, checkpoint = _measured(saved, file)
    for pair in saved["pairs"]:
        a, b = Cell.from_folder(pair["a"]), Cell.from_folder(pair["b"])
        head = (probe, a.data, a.tagged_recipe, a.variant, b.variant, a.votes, b.votes, a.seed, b.seed)
        rows += [(*head, view, checkpoint, name, value) for view, name, value in _numbers(pair["values"])]
    return pd.DataFrame(rows, columns=PAIR_COLUMNS).astype({"value": float})


def _among(pairs: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    known = {(cell.data, cell.tagged_recipe, cell.variant, cell.votes, cell.seed) for cell in cells}
    sides = [pairs[["data", "recipe", f"method_{s}", f"K_{s}", f"seed_{s}"]].itertuples(index=False, name=None) for s in "ab"]
    keep = [a in known and b in known for a, b in zip(*sides, strict=True)]
    return pairs[np.array(keep, dtype=bool)].drop_duplicates(PAIR_COLUMNS[:-1]).reset_index(drop=True)
