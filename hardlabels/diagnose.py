"""Probe the finished runs of a study: ``python -m hardlabels.diagnose study=main probe=hessian,barrier,cka``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF, compose_command
from hardlabels.console import complain, say, stop_bars
from hardlabels.entry import MISTAKES, refuse
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.studies.absence import no_finished_run, refuse_unknown
from hardlabels.runs.studies.study import Study
from hardlabels.stopping import ends_with_its_reader

if TYPE_CHECKING:  # torch comes with it, and --help need not wait
    from hardlabels.diagnostics.probe import Probe


def diagnose(cfg: DictConfig) -> int:
    """Run the probes; returns how many failed. All of it is checked before the first one starts."""
    study = Study.from_config(cfg.study)
    names = list(study.probes if cfg.probe is None else cfg.probe)
    known = sorted(file.stem for file in (CONF / "diagnostic").glob("*.yaml"))
    for name in names:
        if name not in known:
            raise InputError(f"probe must be one of {', '.join(known)}, got {name!r}")
    outputs = Path(cfg.outputs)
    refuse_unknown(study, [outputs])
    folders = finished(study, outputs)
    if not folders:
        raise no_finished_run(study, [outputs])

    from hardlabels.diagnostics.driver import run_probes, told_once  # noqa: PLC0415 - torch comes in here
    from hardlabels.learning.devices import usable_device  # noqa: PLC0415

    probes = [probe for name in names for probe in at_checkpoints(cfg, name, study)]
    say(f"{', '.join(names)} on {len(folders)} of {len(study.cells())} runs of study {study.name}")
    tally = run_probes(probes, folders, outputs / "studies" / study.name, device=usable_device(cfg.device))
    say(f"{tally.computed} measured, {tally.skipped} measured already, {len(tally.failed)} failed")
    for line in told_once(tally.not_applicable):
        say(f"not applicable: {line}")
    for line in told_once(tally.lacking):
        say(f"not measured: {line}")
    for line in tally.failed:
        complain(f"failed: {line}")
    return len(tally.failed)


def at_checkpoints(cfg: DictConfig, name: str, study: Study) -> "list[Probe]":
    """A probe once for each checkpoint that is asked for; once where it reads no network.

    ``checkpoint=last`` goes for all probes; ``hessian.checkpoint=last`` for one, and before the other.
    """
    from hardlabels.diagnostics.probe import Probe  # noqa: PLC0415

    settings, own = cfg[name], study.settings.get(name)
    if settings.get("checkpoint") != "best":  # there is none, or this probe has one of its own
        return [Probe.from_config(settings, own)]
    if not cfg.checkpoint:
        raise InputError("checkpoint must be best, last or best,last, got none")
    each = (OmegaConf.merge(settings, {"checkpoint": checkpoint}) for checkpoint in dict.fromkeys(cfg.checkpoint))
    return [Probe.from_config(cast(DictConfig, one), own) for one in each]


def finished(study: Study, outputs: Path) -> dict[Cell, Path]:
    """The finished cells of a study and their folders; those that look finished and have no result are named."""
    folders = {cell: path for cell in study.cells() if RunDirectory(path := outputs / cell.folder).is_done()}
    failed = {cell: why for cell, path in folders.items() if (why := RunDirectory(path).failure()) is not None}
    for cell, why in failed.items():
        complain(f"left out: {cell}: {why} ({folders[cell]})")
    return {cell: path for cell, path in folders.items() if cell not in failed}


@ends_with_its_reader()
def main() -> None:
    """The command: exit code 2 for bad input, 1 when a probe failed."""
    try:
        failed = diagnose(compose_command("diagnose", sys.argv[1:], lists=("probe", "checkpoint")))
    except MISTAKES as error:
        refuse(error)
    finally:
        stop_bars()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
