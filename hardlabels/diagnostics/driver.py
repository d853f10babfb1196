"""Probes over the finished runs of a study: what is done is skipped, what is new is written beside the run."""

import hashlib
import json
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.console import bars, complain
from hardlabels.diagnostics.probe import OF_IMAGES, NotApplicableError, Probe, matched_pairs
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.environment import code_version
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.spelling import write_pair_array
from hardlabels.runs.writing import write_atomically, write_json

FOLDER = "diagnostics"
DIGITS = 12
"""Of the digest of a run's result."""
EVERY = 10.0
"""Seconds between two writes of a file of pairs: it holds them all, and a study may have a thousand, each of a few hundredths."""


@dataclass
class Tally:
    """What came of the probes.

    Attributes:
        computed: measured now.
        skipped: measured before, with the same settings.
        lacking: reason to the runs (or pairs) that lack what a probe reads.
        not_applicable: reason to the runs (or pairs) for which a probe has no meaning.
        failed: one line for each measurement that did not work.
    """

    computed: int = 0
    skipped: int = 0
    lacking: dict[str, list[str]] = field(default_factory=dict)
    not_applicable: dict[str, list[str]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def told_once(reasons: dict[str, list[str]]) -> list[str]:
    """One line for each reason, with the first run that it holds for and the number of the others.

    >>> told_once({"cka: best.ckpt is not there": ["sls K=5 seed=0", "sls K=5 seed=1"], "no pair": []})
    ['cka: best.ckpt is not there (sls K=5 seed=0 and 1 more)', 'no pair']
    """
    more = {why: f" and {len(runs) - 1} more" if len(runs) > 1 else "" for why, runs in reasons.items()}
    return [f"{why} ({runs[0]}{more[why]})" if runs else why for why, runs in reasons.items()]


def run_probes(probes: Iterable[Probe], folders: dict[Cell, Path], study_folder: Path, *, device: str) -> Tally:
    """Every probe over every run (or pair) that it asks for. A failure is noted and does not stop the others.

    Args:
        probes: what to measure.
        folders: the finished cells and where they are.
        study_folder: where the pairs' values go, ``outputs/studies/<study>``.
        device: "cpu", "cuda", ...
    """
    probes, tally = list(probes), Tally()
    runs = {cell: FinishedRun(path) for cell, path in folders.items()}
    for probe in list(probes):
        if (why := _why_without_meaning(probe, runs)) is not None:
            tally.not_applicable[f"{probe.file}: {why}"] = list(map(str, runs))
            probes.remove(probe)
    for probe in probes:
        if probe.before is not None:
            probe.before(**probe.settings, **probe.where)
    for probe in probes:
        if probe.over == "run":
            _over_runs(probe, list(runs.values()), tally, device)
        else:
            pairs = [(runs[a], runs[b]) for a, b in matched_pairs(runs, probe.pairs)]
            if not pairs:
                wanted = "; ".join(f"{' and '.join(entry['methods'])}, {entry['seeds']} seeds" for entry in probe.pairs)
                tally.lacking[f"{probe.name}: no two finished runs of one data set, recipe and K make a pair: {wanted}"] = []
            _over_pairs(probe, pairs, study_folder / FOLDER / f"{probe.file}.json", tally, device)
    return tally


def _why_without_meaning(probe: Probe, runs: dict[Cell, FinishedRun]) -> str | None:
    """Why no run can have this probe, None where one can: no file is asked for, or downloaded, where none can."""
    if probe.name not in OF_IMAGES:
        return None
    others = []
    for run in {cell.data: run for cell, run in reversed(runs.items())}.values():
        try:
            source = run.source
        except InputError:  # the data are not here, and the probe will say so
            return None
        if source.has_images:
            return None
        others.append(f"the items of {source.name!r} are {source.kind}")
    return f"it asks about images, and {', '.join(others)}"


def _over_runs(probe: Probe, runs: list[FinishedRun], tally: Tally, device: str) -> None:
    for run in _counted(probe.file, runs):
        file = run.path / FOLDER / f"{probe.file}.json"
        saved, result = _load(file), _digest_of_result(run)
        if probe.measured(saved) and saved.get("fingerprint") == run.fingerprint and saved.get("result", result) == result:
            tally.skipped += 1
            continue
        values = _attempt(probe, (run,), tally, device)
        if values is None:
            continue
        numbers, arrays, seconds = values
        if arrays:
            _write_arrays(file, arrays)
        write_json(
            file,
            {
                "probe": probe.name,
                "settings": probe.settings,
                "fingerprint": run.fingerprint,
                "result": result,
                "values": numbers,
                "arrays": sorted(arrays),
                "seconds": seconds,
                "version": code_version(),
            },
        )


def _over_pairs(probe: Probe, pairs: list[tuple[FinishedRun, FinishedRun]], file: Path, tally: Tally, device: str) -> None:
    saved = _load(file)
    valid = probe.measured(saved)  # or it was measured with other settings, and all of it is measured again
    entries = list(saved.get("pairs", [])) if valid else []
    done = {(entry["a"], entry["b"]): entry for entry in entries}
    pictures = _load_arrays(file.with_suffix(".npz")) if valid else {}
    about = {"probe": probe.name, "settings": probe.settings, "version": code_version()}
    unsaved, last = False, time.monotonic()

    def save() -> None:
        if pictures:
            _write_arrays(file, pictures)
        write_json(file, {**about, "pairs": sorted(entries, key=lambda entry: (entry["a"], entry["b"]))})

    try:
        for a, b in _counted(probe.file, pairs):
            names, fingerprints = [str(run.cell.folder) for run in (a, b)], [a.fingerprint, b.fingerprint]
            before, results = done.get((names[0], names[1])), [_digest_of_result(run) for run in (a, b)]
            if before and before["fingerprints"] == fingerprints and before.get("results", results) == results:
                tally.skipped += 1
                continue
            values = _attempt(probe, (a, b), tally, device)
            if values is None:
                continue
            numbers, arrays, seconds = values
            entries = [entry for entry in entries if [entry["a"], entry["b"]] != names]  # a run that was trained anew
            place = {"a": names[0], "b": names[1], "fingerprints": fingerprints, "results": results}
            entries.append({**place, "values": numbers, "arrays": sorted(arrays), "seconds": seconds})
            pictures.update({write_pair_array(names[0], names[1], name): array for name, array in arrays.items()})
            unsaved = True
            if time.monotonic() - last >= EVERY:
                save()
                unsaved, last = False, time.monotonic()
    finally:  # a stopped probe keeps what it has measured
        if unsaved:
            save()


def _digest_of_result(run: FinishedRun) -> str:
    """A digest of what the run's networks score. One that was trained again has its fingerprint still, and perhaps other weights.

    Files of earlier versions do not have it, and are not measured again for that.
    """
    with suppress(OSError):
        return hashlib.sha256(run.directory.result.read_bytes()).hexdigest()[:DIGITS]
    return ""


def _attempt(
    probe: Probe, runs: tuple[FinishedRun, ...], tally: Tally, device: str
) -> tuple[dict[str, Any], dict[str, np.ndarray], float] | None:
    """(values for JSON, arrays for an npz, seconds), or None, with the reason in the tally."""
    who = " and ".join(str(run.cell) for run in runs)
    for run in runs:
        if (missing := probe.lacks(run.directory)) is not None:
            _note(tally.lacking, f"{probe.name}: {missing} is not there", who)
            return None
    start, numbers, arrays = time.monotonic(), {}, {}
    try:
        for name, value in probe.function(*runs, **probe.settings, **probe.where, device=device):
            if isinstance(value, np.ndarray):
                arrays[name] = value
            else:
                numbers[name] = _plain(value)
    except NotApplicableError as error:
        _note(tally.not_applicable, f"{probe.name}: {error}", who)
        return None
    except Exception as error:
        tally.failed.append(f"{probe.file} of {who}: {type(error).__name__}: {error}")
        if not isinstance(error, InputError):
            complain(traceback.format_exc())
        return None
    tally.computed += 1
    return numbers, arrays, round(time.monotonic() - start, 2)


def _note(reasons: dict[str, list[str]], why: str, who: str) -> None:
    """Add a run (or pair) to those of a reason; once, although both of its checkpoints may give it."""
    if who not in reasons.setdefault(why, []):
        reasons[why].append(who)


def _counted(name: str, things: list[Any]) -> Iterator[Any]:
    task = bars().add_task(name, total=len(things), note="")
    for thing in things:
        yield thing
        bars().update(task, advance=1)
    bars().remove_task(task)


def _plain(value: Any) -> Any:
    """Numpy's numbers as Python's, which is what JSON takes."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


def _load(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        saved = json.loads(file.read_text())
        return saved if isinstance(saved, dict) else {}
    return {}


def _load_arrays(file: Path) -> dict[str, np.ndarray]:
    with suppress(OSError, ValueError), np.load(file, allow_pickle=False) as saved:
        return dict(saved)
    return {}


def _write_arrays(file: Path, arrays: dict[str, np.ndarray]) -> None:
    write_atomically(file.with_suffix(".npz"), lambda out: np.savez_compressed(out, **arrays))  # type: ignore[arg-type]
