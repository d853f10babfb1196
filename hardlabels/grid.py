"""A grid of cells: checked before the first run, counted by a bar, summed up after the last. Hydra's sweeper calls it."""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.launcher import Launcher
from omegaconf import DictConfig, OmegaConf

from hardlabels.console import complain, console, grid_bar, say, stop_bars
from hardlabels.entry import MISTAKES, hydra_is_done, refuse
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import content_of_own_files
from hardlabels.runs.directory import RunDirectory, differences
from hardlabels.runs.identity import training_config
from hardlabels.runs.method import name_method
from hardlabels.runs.settings.checks import check_config
from hardlabels.runs.settings.hidden import refuse_hidden_changes
from hardlabels.runs.settings.jobs import product_of, set_numbers, split_numbers


def run_grid(
    config: DictConfig, overrides: list[str], loader: ConfigLoader, launcher: Launcher, max_batch_size: int | None
) -> list[Any]:
    """Check every cell, launch them all, show what came of them. Works with every launcher: it reads run folders.

    Args:
        config: the configuration of the multirun.
        overrides: what was asked for, sweeps included.
        loader: composes the configuration of one cell.
        launcher: runs the cells.
        max_batch_size: cells that the launcher gets at once; None for all of them.

    Returns:
        What the launcher returns, one entry for each batch.
    """
    hydra_is_done()
    try:
        jobs = product_of(OverridesParser.create(config_loader=loader).parse_overrides(overrides))
        cells = checked_cells(jobs, config, loader)
    except MISTAKES as error:
        refuse(error)
    finished = sum(RunDirectory(folder).has_result() for folder in cells)
    say(f"grid of {len(cells)} cells, {finished} finished already")
    Path(config.hydra.sweep.dir).mkdir(parents=True, exist_ok=True)
    if "submitit_folder" in config.hydra.launcher and finished < len(cells):
        say(f"jobs: `squeue` shows them, their logs are in {config.hydra.sweep.dir}/.submitit")
        say("this command waits for them; stopped, it leaves them running (`scancel` ends them), and the same command goes on")
    size, returned = max_batch_size or len(jobs), []
    with grid_bar(len(cells)):
        for start in range(0, len(jobs), size):
            try:
                returned.append(launcher.launch(jobs[start : start + size], initial_job_idx=start))
            except Exception as error:
                if not (said := refusal_of_slurm(error)):
                    raise
                refuse(InputError(said))
            for job in returned[-1]:
                _ = job.return_value  # raises what ended the job, if something did that it could not handle by itself
    show_results(cells)
    failed = failures(cells)
    if failed:
        unfinished = sum(map(len, failed.values()))
        complain(f"{unfinished} of {len(cells)} cells did not finish; the same command runs only these:")
        for reason, those in failed.items():
            complain(f"  {those[0]}{f' and {len(those) - 1} more' if len(those) > 1 else ''}: {reason}")
        sys.exit(1)
    return returned


def checked_cells(jobs: Iterable[Sequence[str]], config: DictConfig, loader: ConfigLoader) -> dict[Path, Cell]:
    """The cells of a multirun, by folder, each checked: a mistake in the last cell is found before the first one runs."""
    alike: dict[tuple[str, ...], Alike] = {}
    cells: dict[Path, Cell] = {}
    trainings: dict[Path, dict[str, Any]] = {}
    for overrides in jobs:
        numbers, others = split_numbers(overrides)
        if others in alike:
            checked = alike[others]
            set_numbers(checked.cfg, numbers)
            cell = Cell.from_config(checked.cfg)
        else:
            cfg = loader.load_sweep_config(config, list(overrides))
            name_method(cfg, cfg.hydra.runtime.choices)
            cell = Cell.from_config(cfg)
            check_config(cfg)
            refuse_hidden_changes(cfg, cfg.hydra)
            checked = Alike(cfg, training_config(cfg), content_of_own_files(cfg))
            if not refers_to_numbers(cfg):
                alike[others] = checked
        folder, training = Path(checked.cfg.outputs) / cell.folder, {**checked.training, "K": cell.K, "seed": cell.seed}
        if changes := differences(trainings.setdefault(folder, training), training):
            between = "; ".join(changes).replace(" there, ", " and ").replace(" now", "")
            raise InputError(f"two cells of the grid would be one folder, {folder} ({between}): give each its own run.tag=NAME")
        RunDirectory(folder).check(training, checked.content)
        cells[folder] = cell
    return cells


def refusal_of_slurm(error: Exception) -> str:
    r"""What SLURM says where it takes no jobs (no such partition, more cores than a node has); empty for every other error.

    >>> refusal_of_slurm(RuntimeError("sbatch: error: no such partition\n"))
    'SLURM refused the jobs (sbatch: error: no such partition): hydra.launcher.partition and its neighbours say what they ask for'
    >>> refusal_of_slurm(RuntimeError("out of memory"))
    ''
    """
    lines = [line.strip() for line in str(error).splitlines() if line.startswith("sbatch: error:")]
    asked = "hydra.launcher.partition and its neighbours say what they ask for"
    return f"SLURM refused the jobs ({'; '.join(lines)}): {asked}" if lines else ""


class Alike(NamedTuple):
    """What was checked once for all cells that differ in K and seed only."""

    cfg: DictConfig
    training: dict[str, Any]
    content: str | None


def refers_to_numbers(cfg: DictConfig) -> bool:
    """Whether another setting follows from K or seed, so that cells which differ in these differ in more.

    >>> refers_to_numbers(OmegaConf.create({"K": 5, "recipe": {"width": "${K}"}}))
    True
    """
    ours = OmegaConf.masked_copy(cfg, [str(name) for name in cfg if name != "hydra"])
    return re.search(r"\$\{[^}]*\b(K|seed)\b", OmegaConf.to_yaml(ours)) is not None


def show_results(cells: dict[Path, Cell]) -> None:
    """The table of a grid, and the picture of all finished runs beside it, for each data set and recipe.

    Args:
        cells: of the grid, by folder.
    """
    from hardlabels.reporting.grid_summary import (  # noqa: PLC0415 - matplotlib takes a second
        draw_summary,
        draw_table,
        prepare_summary,
        read_doubts,
        read_priors,
        read_results,
    )

    stop_bars()
    groups: dict[Path, list[Path]] = {}
    for folder in cells:
        groups.setdefault(folder.parents[2], []).append(folder)
    for place, folders in groups.items():
        results = read_results(folders)
        if results.empty:
            continue
        title = f"{cells[folders[0]].data}, recipe {cells[folders[0]].tagged_recipe}"
        at_the_end = prepare_summary(read_results(folders, "last"))
        console.print(draw_table(prepare_summary(results), title, prepare_summary(read_priors(folders)), at_the_end))
        everything = read_results(sorted(place.glob("*/K=*/seed=*")))  # the picture is the folder's, the table this grid's
        draw_summary(prepare_summary(everything), title, place / "summary.png")
        say(f"picture: {place / 'summary.png'}")
    for doubt, found in read_doubts(cells).items():
        names = ", ".join([*map(str, found[:3]), *(["..."] if len(found) > 3 else [])])
        complain(f"warning: {len(found)} of {len(cells)} cells: {doubt}: {names}")


def failures(cells: dict[Path, Cell]) -> dict[str, list[Cell]]:
    """The cells that did not finish, by the reason, which is most often the same for many; it names the first one's own file."""
    found: dict[str, tuple[str, list[Cell]]] = {}
    for folder, cell in cells.items():
        run = RunDirectory(folder)
        if not run.has_result():
            reason = run.first_error()
            found.setdefault(reason.replace(str(folder), ""), (reason, []))[1].append(cell)
    return dict(found.values())
