"""Train one cell, or with ``-m`` a grid of cells: ``python -m hardlabels.train -m method=sls,multipass 'seed=range(10)'``."""

import os
import subprocess
import sys
import traceback
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import hydra
from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF
from hardlabels.console import advance_grid, complain, say, silent, stop_bars
from hardlabels.entry import MISTAKES, hydra_is_done, refuse, run
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import content_of_own_files
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.identity import training_config
from hardlabels.runs.lock import HeldByAnotherProcess
from hardlabels.runs.method import name_method
from hardlabels.runs.settings.checks import check_config
from hardlabels.runs.settings.hidden import refuse_hidden_changes
from hardlabels.runs.training.divergence import DivergenceError
from hardlabels.runs.training.notices import doubts
from hardlabels.runs.writing import StorageError, write_text
from hardlabels.stopping import Stopped, ends_with_its_reader, stoppable


def train(cfg: DictConfig, hydra_cfg: HydraConf | None = None) -> Path:
    """Check one cell's configuration, skip it when it is finished, train it otherwise. Returns its folder.

    Args:
        cfg: the cell's configuration.
        hydra_cfg: Hydra's own part of it; None where it was composed by hand: then no setting asks for a tag.
    """
    cell = Cell.from_config(cfg)
    check_config(cfg)
    refuse_hidden_changes(cfg, hydra_cfg)
    directory = RunDirectory(Path(cfg.outputs) / cell.folder)
    directory.check(training_config(cfg), content_of_own_files(cfg))
    if directory.is_done():
        directory.read_result(("best", "last", "items"))  # damaged since?
        if (failure := directory.failure()) is not None:
            raise DivergenceError(f"{failure} ({directory.path})")
        say(f"finished already, skipped: {directory.path}")
        return directory.path

    from hardlabels.runs.training.execute import execute  # noqa: PLC0415 - torch comes in here, when there is something to train

    result = execute(cfg, cell, directory)
    if result:
        best = result["best"]
        prior = f", prior {result['prior']['full']['soft_nll']:.4f}" if "prior" in result else ""
        say(f"{cell}: soft NLL {best['full']['soft_nll']:.4f} at epoch {best['epoch']} (best){prior}, {directory.path}")
        if found := doubts(result):
            complain(f"warning: {cell}: {'; '.join(found)}")
    return directory.path


def uses_several_processes(cfg: DictConfig) -> bool:
    """Whether Lightning will start more processes for this cell (DDP).

    >>> uses_several_processes(DictConfig({"trainer": {"devices": 1, "num_nodes": 1}}))
    False
    """
    return cfg.trainer.get("devices", "auto") not in (1, "1") or cfg.trainer.get("num_nodes", 1) != 1


def train_in_a_process_of_its_own(overrides: list[str], hydra_cfg: HydraConf, error: Path) -> None:
    """Train one cell of a grid as its own command: Lightning starts DDP's other processes by repeating the command line.

    Repeated from inside a multirun, each of them would run the whole grid.

    Args:
        overrides: of the cell.
        hydra_cfg: Hydra's own part of the configuration; it knows the user's folder of yaml files (``--config-dir``).
        error: the file in which the command may say why it failed.
    """
    error.unlink(missing_ok=True)
    sources = [source for source in hydra_cfg.runtime.config_sources if source.provider == "command-line"]
    words = [*(f"--config-dir={source.path}" for source in sources), *overrides]
    code = subprocess.run([sys.executable, "-m", "hardlabels.train", *words], check=False).returncode
    if code and error.is_file():
        raise DivergenceError(error.read_text().strip())
    if code:
        raise RuntimeError(f"the cell's own process ended with exit code {code}; its error is above")


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="train")
def launch(cfg: DictConfig) -> None:
    """One job of Hydra's: the single run, or one cell of a multirun."""
    hydra_is_done()
    hydra_cfg = HydraConfig.get()
    name_method(cfg, hydra_cfg.runtime.choices)
    # Not resolved: what ${...} means in an override is a matter of the whole configuration.
    overrides: Any = OmegaConf.to_container(hydra_cfg.overrides.task, resolve=False)
    if hydra_cfg.mode is not RunMode.MULTIRUN:
        try:
            train(cfg, hydra_cfg)
        except MISTAKES as error:
            refuse(error)
        except HeldByAnotherProcess as held:
            complain(f"{held}; leaving it to that process")
            sys.exit(1)
        except DivergenceError as error:
            complain(f"error: {Cell.from_config(cfg)}: {error}")
            sys.exit(1)
        except StorageError as error:
            complain(f"error: {error}. The same command goes on from there once this is put right")
            sys.exit(1)
        return
    os.chdir(hydra_cfg.runtime.cwd)  # workers of a Ray cluster start in the cluster's folder
    cell = Cell.from_config(cfg)
    directory = RunDirectory(Path(cfg.outputs) / cell.folder)
    try:
        if uses_several_processes(cfg):
            train_in_a_process_of_its_own(overrides, hydra_cfg, directory.error)
        else:
            train(cfg, hydra_cfg)
    except HeldByAnotherProcess as held:
        complain(f"{held}; leaving it to that process")
    except DivergenceError as error:  # its folder says so already
        complain(f"{cell} failed: {error}")
    except Exception as error:
        # One failing cell must not stop the others. Its folder keeps the traceback (launchers on clusters lose it), and the
        # grid lists it at the end.
        message = f"{type(error).__name__}: {error}"
        complain(f"{cell} failed: {message}")
        with suppress(OSError):  # the folder may be what failed
            write_text(directory.error, f"{message}\n\n{traceback.format_exc()}")
    finally:
        advance_grid()


@ends_with_its_reader()
def main() -> None:
    """The command: one line and exit code 2 for bad input, 128 + n when signal n stopped it."""
    # Of the processes that Lightning starts on a machine, the first one says what was read and done for all of them.
    speaks = os.environ.get("LOCAL_RANK", "0") == "0"
    try:
        with stoppable(), nullcontext() if speaks else silent():
            run(launch)
    except Stopped as stopped:
        stop_bars()
        complain(str(stopped))
        sys.exit(stopped.exit_code)
    finally:
        stop_bars()


if __name__ == "__main__":
    main()
