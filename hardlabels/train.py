"""Train one cell, or with ``-m`` a grid of cells: ``python -m hardlabels.train -m method=sls,multipass 'seed=range(10)'``."""

import os
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF, refuse_hidden_changes
from hardlabels.console import complain, say, stop_bars
from hardlabels.entry import MISTAKES, refuse, run
from hardlabels.runs.cell import Cell
from hardlabels.runs.checks import check_config
from hardlabels.runs.data import own_content
from hardlabels.runs.directory import RunDirectory, training_config
from hardlabels.runs.files import StorageError, write_text
from hardlabels.runs.lock import Held
from hardlabels.runs.reading import read_json
from hardlabels.stopping import Stopped, stoppable


def train(cfg: DictConfig, overrides: list[str]) -> Path:
    """Check one cell's configuration, skip it when it is finished, train it otherwise. Returns its folder."""
    cell = Cell.from_config(cfg)
    check_config(cfg)
    refuse_hidden_changes(overrides, cfg.run.tag)
    directory = RunDirectory(Path(cfg.outputs) / cell.folder)
    directory.check(training_config(cfg), own_content(cfg))
    if directory.is_done():
        read_json(directory.result, ("best", "last", "items"))  # damaged since?
        say(f"finished already, skipped: {directory.path}")
        return directory.path

    from hardlabels.runs.execute import execute  # noqa: PLC0415 - torch comes in here, when there is something to train

    result = execute(cfg, cell, directory)
    if result:
        best = result["best"]
        say(f"{cell}: soft NLL {best['full']['soft_nll']:.4f} at epoch {best['epoch']} (best), {directory.path}")
    return directory.path


def uses_several_processes(cfg: DictConfig) -> bool:
    """Whether Lightning will start more processes for this cell (DDP).

    >>> uses_several_processes(DictConfig({"trainer": {"devices": 1, "num_nodes": 1}}))
    False
    """
    return cfg.trainer.devices not in (1, "1") or cfg.trainer.num_nodes != 1


def train_in_a_process_of_its_own(overrides: list[str]) -> None:
    """Train one cell of a grid as its own command: Lightning starts DDP's other processes by repeating the command line.

    Repeated from inside a multirun, each of them would run the whole grid.
    """
    code = subprocess.run([sys.executable, "-m", "hardlabels.train", *overrides], check=False).returncode
    if code:
        raise RuntimeError(f"the cell's own process ended with exit code {code}; its error is above")


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="train")
def launch(cfg: DictConfig) -> None:
    """One job of Hydra's: the single run, or one cell of a multirun."""
    hydra_cfg = HydraConfig.get()
    # Not resolved: what ${...} means in an override is a matter of the whole configuration.
    overrides: Any = OmegaConf.to_container(hydra_cfg.overrides.task, resolve=False)
    if hydra_cfg.mode is not RunMode.MULTIRUN:
        try:
            train(cfg, overrides)
        except MISTAKES as error:
            refuse(error)
        except Held as held:
            complain(f"{held}; leaving it to that process")
            sys.exit(1)
        except StorageError as error:
            complain(f"error: {error}. The same command goes on from there once this is put right")
            sys.exit(1)
        return
    os.chdir(hydra_cfg.runtime.cwd)  # workers of a Ray cluster start in the cluster's folder
    try:
        if uses_several_processes(cfg):
            train_in_a_process_of_its_own(overrides)
        else:
            train(cfg, overrides)
    except Held as held:
        complain(f"{held}; leaving it to that process")
    except Exception as error:
        # One failing cell must not stop the others. Its folder keeps the traceback (launchers on clusters lose it), and the
        # grid lists it at the end.
        cell = Cell.from_config(cfg)
        message = f"{type(error).__name__}: {error}"
        complain(f"{cell} failed: {message}")
        with suppress(OSError):  # the folder may be what failed
            write_text(RunDirectory(Path(cfg.outputs) / cell.folder).error, f"{message}\n\n{traceback.format_exc()}")


def main() -> None:
    """The command: one line and exit code 2 for bad input, 128 + n when signal n stopped it."""
    try:
        with stoppable():
            run(launch)
    except Stopped as stopped:
        stop_bars()
        complain(str(stopped))
        sys.exit(stopped.exit_code)
    finally:
        stop_bars()


if __name__ == "__main__":
    main()
