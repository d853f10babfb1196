"""Run folders and archives to :class:`Records`, each read once: what was read is kept, and only what changed is read again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hardlabels.runs.archive import archives, recipe_of, unpacked
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.quantity import REFERENCES, Quantity
from hardlabels.runs.records.kept import CACHE, load_cache, stamp_of
from hardlabels.runs.records.one_run import run_rows
from hardlabels.runs.records.pairs import between_cells, pair_files, read_pairs
from hardlabels.runs.records.records import COLUMNS, PAIR_COLUMNS, Records
from hardlabels.runs.studies.study import Study
from hardlabels.runs.training.divergence import DivergenceError
from hardlabels.runs.writing import write_atomically


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
    pairs = [read_pairs(file) for place in places for file in pair_files(Path(place))]
    others = [between_cells(read_pairs(file), folders) for place in probed for file in pair_files(Path(place))]
    joined = pd.concat([*pairs, *others], ignore_index=True) if pairs or others else pd.DataFrame(columns=PAIR_COLUMNS)
    return Records(
        table[COLUMNS],
        between_cells(joined, folders),
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
