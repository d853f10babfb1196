"""Probe the finished runs of a study: ``python -m hardlabels.diagnose study=main probe=hessian,barrier,cka``."""

import sys
from pathlib import Path

from omegaconf import DictConfig

from hardlabels.configuration import CONF, compose_command
from hardlabels.console import complain, say, stop_bars
from hardlabels.entry import MISTAKES, refuse
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.study import Study


def diagnose(cfg: DictConfig) -> int:
    """Run the probes; returns how many failed. All of it is checked before the first one starts."""
    study = Study.from_config(cfg.study)
    names = list(study.probes if cfg.probe is None else cfg.probe)
    known = sorted(file.stem for file in (CONF / "diagnostic").glob("*.yaml"))
    for name in names:
        if name not in known:
            raise InputError(f"probe must be one of {', '.join(known)}, got {name!r}")
    outputs = Path(cfg.outputs)
    folders = finished(study, outputs)
    if not folders:
        raise InputError(f"{outputs} has no finished run of study {study.name!r}; first: {study.commands()[0]}")

    from hardlabels.diagnostics.driver import run_probes  # noqa: PLC0415 - torch comes in here
    from hardlabels.diagnostics.probe import Probe  # noqa: PLC0415

    probes = [Probe.from_config(cfg[name], study.settings.get(name)) for name in names]
    say(f"{', '.join(names)} on {len(folders)} of {len(study.cells())} runs of study {study.name}")
    tally = run_probes(probes, folders, outputs / "studies" / study.name, device=_device(cfg.device))
    say(f"{tally.computed} measured, {tally.skipped} measured already, {len(tally.lacking)} without what it takes")
    for line in tally.lacking:
        say(f"  {line}")
    for line in tally.failed:
        complain(f"failed: {line}")
    return len(tally.failed)


def finished(study: Study, outputs: Path) -> dict[Cell, Path]:
    """The finished cells of a study and their folders."""
    folders = {cell: outputs / cell.folder for cell in study.cells()}
    return {cell: path for cell, path in folders.items() if RunDirectory(path).is_done()}


def _device(name: str) -> str:
    import torch  # noqa: PLC0415

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device must be one that torch can use here (auto, cpu, cuda, ...), got {name!r}: {error}") from error
    return name


def main() -> None:
    """The command: exit code 2 for bad input, 1 when a probe failed."""
    try:
        failed = diagnose(compose_command("diagnose", sys.argv[1:], lists=("probe",)))
    except MISTAKES as error:
        refuse(error)
    finally:
        stop_bars()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
