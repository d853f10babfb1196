"""One cell, from its configuration to its result."""

import logging
import warnings
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from omegaconf import DictConfig

from hardlabels.console import say
from hardlabels.learning.memory import keep_freed_memory
from hardlabels.learning.threads import number_of_threads, threads_to_train
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import OWN
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.environment import describe_environment
from hardlabels.runs.lock import hold
from hardlabels.runs.reading import read_json
from hardlabels.runs.training.compose import compose_run
from hardlabels.runs.training.divergence import DivergenceError
from hardlabels.runs.training.notices import few_pixels, few_steps
from hardlabels.runs.training.result import write_result
from hardlabels.runs.views.loggers import close_loggers
from hardlabels.runs.writing import write_text


def execute(cfg: DictConfig, cell: Cell, directory: RunDirectory) -> dict[str, Any]:
    """Train one cell, or go on where it was interrupted, and write its folder. Returns what ``result.json`` holds."""
    _quiet_lightning()
    keep_freed_memory()
    run = compose_run(cfg, cell, directory)
    trainer, network, datamodule = run.trainer, run.classifier.network, run.datamodule
    result: dict[str, Any] = {}
    threads = threads_to_train(network, cfg.recipe.batch_size)
    with hold(directory.lock) if trainer.is_global_zero else nullcontext(), number_of_threads(threads):
        if directory.is_done():  # by another process, since we looked
            return read_json(directory.result, ("best", "last", "items"))
        try:
            run.keeper.prepare(network, cfg.recipe.epochs)
            if trainer.is_global_zero:
                described = describe_environment(str(trainer.strategy.root_device), threads, trainer.world_size)
                directory.start(cfg, run.training, run.content, described)
                _say_once(few_steps(len(datamodule.examples), cfg.recipe.batch_size, cfg.recipe.epochs))
                if cfg.data.get("_target_") == OWN:  # other images have one size, which is all there is of them
                    _say_once(few_pixels(run.classifier.hparams["preprocessing"]))
            trainer.fit(run.classifier, datamodule=datamodule)
            if trainer.is_global_zero:
                # Lightning has taken it to the CPU, where it may be slower at predicting than a GPU is at training.
                network.to(trainer.strategy.root_device)
                result = write_result(directory, run.keeper, network, datamodule)
        except DivergenceError as error:
            if trainer.is_global_zero:  # it speaks for all processes, which saw the same numbers
                write_text(directory.error, f"{error}\n")
                raise
        finally:
            close_loggers(trainer.loggers, result)
    return result


@lru_cache
def _say_once(notice: str | None) -> None:
    """Once a process: the cells of a grid have the same number of steps, and the same items."""
    if notice is not None:
        say(notice)


def _quiet_lightning() -> None:
    """Silence what Lightning says to a person who writes a Trainer by hand; our own lines say what matters here."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*The `srun` command is available.*")  # a login node; our launcher submits
    warnings.filterwarnings("ignore", message=".*It is recommended to use `self.log.*")  # the metrics gather by themselves
    warnings.filterwarnings("ignore", message=".*in eval mode at the start of training.*")  # an encoder without dropout
    warnings.filterwarnings("ignore", message=".*`isinstance\\(treespec, LeafSpec\\)` is deprecated.*")
