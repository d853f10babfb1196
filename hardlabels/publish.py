"""Copy finished runs for a repository: ``python -m hardlabels.publish study=pocket into=results/pocket``. No torch."""

import io
import json
import lzma
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import compose_command
from hardlabels.console import say
from hardlabels.diagnose import finished
from hardlabels.entry import MISTAKES, refuse
from hardlabels.errors import InputError
from hardlabels.runs.archive import FILES
from hardlabels.runs.cell import Cell
from hardlabels.runs.compact import (
    DIGITS,
    compact_arrays,
    compact_predictions,
    example_arrays,
    reported,
    rounded,
    with_short_lists,
)
from hardlabels.runs.derived import DERIVED, derived_file
from hardlabels.runs.published_runs import PublishedRuns, write_if_changed
from hardlabels.runs.reading import read_config, read_json
from hardlabels.runs.studies.absence import no_finished_run, refuse_unknown
from hardlabels.runs.studies.study import Study
from hardlabels.runs.writing import StorageError
from hardlabels.stopping import ends_with_its_reader
from hardlabels.votes.arrays import read_arrays

SAME = ("fingerprint.json", "result.json")
"""A run that has these is the published one."""

HISTORY, PREDICTIONS = "history.csv", "predictions.npz"
"""Nine tenths of the bytes of a run's records. What shows single items needs it; scores do without, by ``derived.json``."""

PLACES = {"outputs": "outputs", "data.root": None}
"""Settings that name a folder of this machine, and what stands there for everybody."""

ROOT = r"(?:file:/+|~[^/\\]*[/\\]|[A-Za-z]:[/\\]|\.{0,2}[/\\])"
LOCAL = re.compile(rf"(?P<before>^|[=,\[]){ROOT}(?P<path>.*?)(?=$|\]|,{ROOT})")


def publish(configs: list[DictConfig]) -> Path:
    """Copy what is finished of these studies; returns the folder. What must be refused is refused before the first copy.

    Args:
        configs: ``conf/publish.yaml``, composed once for each study.
    """
    outputs, into = Path(configs[0].outputs), _into(configs[0])
    archive, compact, brief = (_switch(configs[0], name) for name in ("archive", "compact", "brief"))
    studies = [Study.from_config(cfg.study) for cfg in configs]
    for study in studies:
        refuse_unknown(study, [outputs])
    folders = {cell: path for study in studies for cell, path in finished(study, outputs).items()}
    if not folders:
        raise no_finished_run(studies[0], [outputs])
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in folders:
        groups.setdefault((cell.data, cell.tagged_recipe), []).append(cell)
    added: list[tuple[PublishedRuns, dict[str, bytes]]] = []
    for (data, recipe), cells in groups.items():
        published = PublishedRuns.open(into, data, recipe, archive)
        digits = DIGITS if archive or compact or brief else None
        new = [additions(cell, folders[cell], published, digits, compact, brief) for cell in cells]
        added.append((published, {name: content for files in new for name, content in files.items()}))
    probed = [one for study in studies for one in _pair_files(study, outputs, into, archive, compact)]
    for published, files in added:
        published.add(files)
    for target, content in probed:
        write_if_changed(target, content)
    now = sum(PurePosixPath(name).name == "done" for _, files in added for name in files)
    planned = len({cell for study in studies for cell in study.cells()})
    size = sum(file.stat().st_size for file in into.rglob("[!.]*") if file.is_file()) / 1e6
    say(f"{len(folders)} of {planned} runs published, {now} of them now; {into} has {size:.1f} MB")
    return into


def additions(
    cell: Cell,
    path: Path,
    published: PublishedRuns,
    digits: int | None = None,
    compact: bool = False,
    brief: bool = False,
) -> dict[str, bytes]:
    """The files of a run that are to be published and are not yet, by their name below data set and recipe; ``done`` last.

    Args:
        cell: the run's coordinates.
        path: its folder.
        published: where it goes.
        digits: of ``history.csv``; None keeps the file.
        compact: whether saved logits are rounded.
        brief: whether ``derived.json`` stands for ``predictions.npz``, and ``history.csv`` has the columns that a report reads.
            A run that is published so gets what it lacks when it is asked for. Records without predictions can only be brief.

    Raises:
        InputError: another run is published as this cell.
    """
    head = PurePosixPath(*cell.folder.parts[2:])
    brief = brief or not (path / PREDICTIONS).is_file()
    names = [f"diagnostics/{file.name}" for file in _probed(path / "diagnostics")]
    if published.get(f"{head}/done") is None:
        files = [DERIVED if name == PREDICTIONS and brief else name for name in FILES]
        names = [*files[:-1], *names, files[-1]]
    else:
        if not brief and published.get(f"{head}/{PREDICTIONS}") is None:
            names += [PREDICTIONS, HISTORY]
        for name in SAME:
            if published.get(f"{head}/{name}") != cleaned(path / name):
                raise InputError(
                    f"{cell.folder} is published in {published.path} with another {name} than in {path}: "
                    "publish into another folder, or remove the published one"
                )
    archived = published.members is not None
    found = {f"{head}/{name}": _content(path, name, digits, compact, brief, archived) for name in names}
    return {name: content for name, content in found.items() if published.get(name) != content}


def _content(path: Path, name: str, digits: int | None, compact: bool, brief: bool, archived: bool) -> bytes:
    """A run's file as it is published. In an archive arrays are not compressed: it does that itself, across files."""
    if name == DERIVED:
        return derived_file(read_json(path / "result.json"), path / PREDICTIONS)
    if name == HISTORY and digits is not None:
        return rounded(cleaned(path / name).decode(), digits, reported if brief else list).encode()
    if name.endswith(".npz") and (archived or compact):
        arrays = read_arrays(path / name)
        if compact:
            arrays = compact_predictions(arrays) if name == PREDICTIONS else compact_arrays(arrays)
        return _npz(arrays, compress=not archived)
    return with_short_lists(cleaned(path / name)) if compact and name.startswith("diagnostics/") else cleaned(path / name)


def _pair_files(study: Study, outputs: Path, into: Path, archive: bool, compact: bool) -> Iterator[tuple[Path, bytes]]:
    """What probes say of pairs of a study's runs: where it is published, and the content."""
    folder = PurePosixPath("studies", study.name, "diagnostics")
    for file in _probed(outputs / folder):
        packed = archive and file.suffix == ".json"
        target = into / folder / (f"{file.name}.xz" if packed else file.name)
        content = _pairs(file, target, compact)
        yield target, lzma.compress(content) if packed else content


def _pairs(file: Path, target: Path, compact: bool) -> bytes:
    """What a probe says of pairs of runs, these and those that are published there already; compact, its arrays are examples."""
    if file.suffix == ".npz":
        arrays = {**(read_arrays(target) if target.is_file() else {}), **read_arrays(file)}
        return _npz(example_arrays(arrays) if compact else arrays)
    content = with_short_lists(cleaned(file)) if compact else cleaned(file)
    if not target.is_file():
        return content
    before = target.read_bytes()
    published, new = json.loads(lzma.decompress(before) if target.suffix == ".xz" else before), json.loads(content)
    if published["settings"] != new["settings"]:
        raise InputError(f"{target} was measured with other settings than {file}: publish into another folder, or remove it")
    measured = {(pair["a"], pair["b"]) for pair in new["pairs"]}
    others = [pair for pair in published["pairs"] if (pair["a"], pair["b"]) not in measured]
    if not others:
        return content
    new["pairs"] = sorted([*others, *new["pairs"]], key=lambda pair: (pair["a"], pair["b"]))
    return json.dumps(new, separators=(",", ":"), allow_nan=False).encode()


def cleaned(file: Path) -> bytes:
    """The content of a run's file without this machine's paths and name. Files without any are as they were, to the byte."""
    if file.suffix == ".yaml":
        settings: Any = OmegaConf.to_container(read_config(file))
        return OmegaConf.to_yaml(OmegaConf.create(without_places(settings))).encode()
    if file.suffix == ".json":
        before = read_json(file, kind=list if file.name == "environment.json" else dict)
        after = without_places(before)
        if after != before:
            return (json.dumps(after, indent=2, allow_nan=False) + "\n").encode()
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def without_places(value: Any, key: str = "") -> Any:
    """Settings, or an environment, as anybody could have had them.

    >>> without_places({"outputs": "/home/me/runs", "data": {"root": "/data", "votes": "/data/votes.csv"}, "seed": 0})
    {'outputs': 'outputs', 'data': {'root': None, 'votes': 'votes.csv'}, 'seed': 0}
    >>> without_places([{"command": ["train.py", "outputs=/o/1", "data.root=/data"], "host": "mine", "python": "3.11"}])
    [{'command': ['train.py', 'outputs=outputs', 'data.root=null'], 'python': '3.11'}]
    """
    if key in PLACES:
        return PLACES[key]
    if isinstance(value, dict):
        kept = {name: entry for name, entry in value.items() if (key, name) != ("[]", "host")}
        if key == "logger" and "entity" in kept:  # a person or a team
            kept["entity"] = None
        return {name: without_places(entry, f"{key}.{name}" if key else str(name)) for name, entry in kept.items()}
    if isinstance(value, list):
        return [without_places(entry, f"{key}[]") for entry in value]
    if not isinstance(value, str):
        return value
    name, given, _ = value.partition("=")
    if given and name.lstrip("+") in PLACES:
        return f"{name}={PLACES[name.lstrip('+')] or 'null'}"
    if given and name.lstrip("+") == "logger.entity":
        return f"{name}=null"
    return without_folders(value)


def without_folders(text: str) -> str:
    """A path of this machine as the name of its last part; so also in an override, alone or in a list. Addresses stay.

    >>> without_folders("data.votes=/home/me/votes.csv"), without_folders("[~/a/x.csv,../y.csv]"), without_folders("https://a.org/b")
    ('data.votes=votes.csv', '[x.csv,y.csv]', 'https://a.org/b')
    """

    def last(match: re.Match[str]) -> str:
        return match["before"] + re.split(r"[/\\]", match["path"].rstrip("/\\"))[-1]

    return LOCAL.sub(last, text)


def _npz(arrays: Mapping[str, np.ndarray], compress: bool = True) -> bytes:
    out = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def _switch(cfg: DictConfig, name: str) -> bool:
    value = cfg[name]
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, got {value!r}")
    return value


def _into(cfg: DictConfig) -> Path:
    if OmegaConf.is_missing(cfg, "into"):
        raise InputError("into=FOLDER is needed: the folder for the copies, such as into=results/mine")
    if not isinstance(cfg.into, str):
        raise InputError(f"into must be a folder, got {cfg.into!r}")
    into, outputs = Path(cfg.into), Path(cfg.outputs)
    if outputs.resolve() in (into.resolve(), *into.resolve().parents):
        raise InputError(f"into must be a folder outside of outputs ({outputs}), got {into}")
    return into


def _probed(folder: Path) -> Iterator[Path]:
    """What probes wrote: numbers and arrays."""
    yield from sorted(file for file in folder.glob("[!.]*") if file.suffix in (".json", ".npz"))


@ends_with_its_reader()
def main() -> None:
    """The command: exit code 2 for bad input."""
    words = sys.argv[1:]
    others = [word for word in words if not word.startswith("study=")]
    studies = next((word.removeprefix("study=").split(",") for word in reversed(words) if word.startswith("study=")), ["main"])
    try:
        publish([compose_command("publish", [f"study={study}", *others]) for study in studies])
    except (*MISTAKES, StorageError) as error:
        refuse(error)


if __name__ == "__main__":
    main()
