"""A grid of cells, as Hydra's multirun sees it: checked before the first run, counted by a bar, summed up after the last."""

import copy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, read_write

from hardlabels.configuration import refuse_hidden_changes
from hardlabels.console import bars, complain, console, say, stop_bars
from hardlabels.entry import MISTAKES, refuse
from hardlabels.runs.cell import Cell
from hardlabels.runs.checks import check_config
from hardlabels.runs.data import own_content
from hardlabels.runs.directory import RunDirectory, training_config

Compose = Callable[[DictConfig, list[str]], DictConfig]


def compose_once(compose: Compose, parser: OverridesParser) -> Compose:
    """Hydra's ``load_sweep_config``, kept: composing takes a fifth of a second, and most cells differ in K and seed only."""
    kept: dict[tuple[str, ...], DictConfig] = {}

    def load_sweep_config(master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        numbers = [override for override in sweep_overrides if override.startswith(("K=", "seed="))]
        others = tuple(override for override in sweep_overrides if override not in numbers)
        if others not in kept:
            kept[others] = compose(master_config, list(others))
        cfg = copy.deepcopy(kept[others])
        for number in parser.parse_overrides(numbers):
            OmegaConf.update(cfg, number.key_or_group, number.value())
        with read_write(cfg.hydra):
            cfg.hydra.overrides.task = list(sweep_overrides)
        return cfg

    return load_sweep_config


def expand(config: DictConfig) -> dict[Path, Cell]:
    """The cells of a multirun, by folder, each checked: a mistake in the last cell is found before the first one runs."""
    loader = GlobalHydra.instance().config_loader()
    parser = OverridesParser.create(config_loader=loader)
    # The launcher asks the same loader again, twice for every cell.
    loader.load_sweep_config = compose_once(loader.load_sweep_config, parser)  # type: ignore[method-assign, assignment]
    asked: Any = OmegaConf.to_container(config.hydra.overrides.task, resolve=False)
    [jobs] = BasicSweeper.split_arguments(parser.parse_overrides(asked), max_batch_size=None)
    cells = {}
    for overrides in jobs:
        cfg = loader.load_sweep_config(config, list(overrides))
        cell = Cell.from_config(cfg)
        check_config(cfg)
        refuse_hidden_changes(overrides, cfg.run.tag)
        folder = Path(cfg.outputs) / cell.folder
        RunDirectory(folder).check(training_config(cfg), own_content(cfg))
        cells[folder] = cell
    return cells


class Grid(Callback):
    """The Hydra callback of a multirun; ``conf/train.yaml`` registers it. Works with every launcher: it reads run folders."""

    def __init__(self) -> None:
        self.cells: dict[Path, Cell] = {}
        self._bar: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """What travels into a launcher's jobs: the bar and the list of cells stay with the command."""
        return {"cells": {}, "_bar": None}

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Check all cells, then show how many there are."""
        try:
            self.cells = expand(config)
        except MISTAKES as error:
            refuse(error)
        except Exception:  # Hydra would turn it into a warning and go on
            traceback.print_exc()
            sys.exit(1)
        finished = sum(RunDirectory(folder).is_done() for folder in self.cells)
        say(f"grid of {len(self.cells)} cells, {finished} finished already")
        self._bar = bars().add_task("grid", total=len(self.cells), note="")

    def on_job_end(self, config: DictConfig, job_return: Any, **kwargs: Any) -> None:
        """One step of the bar, where the jobs run in this process."""
        if self._bar is not None:
            bars().update(self._bar, advance=1)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """The table, the picture, and what failed."""
        from hardlabels.reporting.summary import draw_summary, draw_table, prepare_summary, read_results  # noqa: PLC0415

        stop_bars()
        groups: dict[Path, list[Path]] = {}
        for folder in self.cells:
            groups.setdefault(folder.parents[2], []).append(folder)
        for place, folders in groups.items():
            results = read_results(folders)
            if results.empty:
                continue
            title = f"{place.parent.name}, recipe {place.name}"
            console.print(draw_table(prepare_summary(results), title))
            everything = read_results(sorted(place.glob("*/K=*/seed=*")))  # the picture is the folder's, the table this grid's
            draw_summary(prepare_summary(everything), title, place / "summary.png")
            say(f"picture: {place / 'summary.png'}")
        failed = {folder: cell for folder, cell in self.cells.items() if not RunDirectory(folder).is_done()}
        if failed:
            complain(f"{len(failed)} of {len(self.cells)} cells did not finish; the same command runs only these:")
            for folder, cell in failed.items():
                complain(f"  {cell}: {RunDirectory(folder).first_error()}")
            sys.exit(1)
