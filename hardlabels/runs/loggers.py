"""Views of a run elsewhere: W&B, TensorBoard. The run's folder stays the source of truth."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lightning.fabric.loggers.logger import rank_zero_experiment
from lightning.pytorch.loggers import Logger, TensorBoardLogger
from lightning.pytorch.utilities import rank_zero_only

from hardlabels.console import complain
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.wandb_run import check_project, chosen_mode, final_metrics, open_run, run_config, said


class WandbRun(Logger):
    """Rows of ``history.csv`` by epoch while the run trains, its result in the summary at the end.

    The step is the epoch. A resumed run has the same id and goes on at the next epoch: online in the same W&B run, offline in
    a folder of its own, and ``wandb sync`` joins the folders of one id in the order of their start. An epoch that a kill made
    the run train twice has the same step and the same numbers both times.

    A failure of W&B costs the view and never the run: it is said once, and the run goes on without.

    Args:
        run_id: of the run at W&B.
        arguments: of ``wandb.init``.
    """

    def __init__(self, run_id: str, **arguments: Any):
        super().__init__()
        self._id, self._arguments = run_id, arguments
        self._run: Any = None
        self._failed = False

    name = property(lambda self: self._arguments.get("project"))
    version = property(lambda self: self._id)

    @property
    @rank_zero_experiment
    def experiment(self) -> Any:
        """The W&B run. Lightning asks for it when training starts, which opens it."""
        self._attempt(lambda run: None)
        return self._run

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:  # type: ignore[override]
        """One row; it has the epoch it is of."""
        self._attempt(lambda run: run.log(metrics, step=int(metrics["epoch"]), commit=True))

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing: the configuration is there from the start."""

    @rank_zero_only
    def finish(self, result: dict[str, Any]) -> None:
        """The result in the summary (where there is one), and the end of the W&B run."""
        if self._run is None:
            return
        if result:
            self._attempt(lambda run: run.summary.update(final_metrics(result)))
        self._attempt(lambda run: run.finish(exit_code=0 if result else 1))
        if self._failed:  # what is still open must not stay so until the process ends
            with suppress(Exception):
                self._run.finish(exit_code=1)

    def _attempt(self, what: Callable[[Any], object]) -> None:
        if self._failed:
            return
        try:
            if self._run is None:
                self._run = _open_by_epoch(id=self._id, **self._arguments)
            what(self._run)
        except Exception as error:  # whatever it is: a full disk, no network, a service that died
            self._failed = True
            complain(f"W&B failed, the run goes on without it ({said(error)})")


def _open_by_epoch(**arguments: Any) -> Any:
    run = open_run(resume="allow", **arguments)
    run.define_metric("epoch")
    run.define_metric("*", step_metric="epoch")
    return run


def wandb_logger(
    folder: Path,
    cell: Cell,
    run_id: str,
    config: dict[str, Any],
    *,
    project: str,
    mode: str,
    entity: str | None = None,
    group: str | None = None,
) -> WandbRun:
    """A W&B run whose id is the run's fingerprint, so that a resumed run continues there.

    Args:
        folder: of the run; W&B writes to ``wandb`` in it.
        cell: gives name and tags.
        run_id: the fingerprint.
        config: the whole configuration.
        project: at W&B.
        mode: online, offline or disabled.
        entity: user or team; None for W&B's default.
        group: the study; None for ``<data>/<recipe>``.
    """
    check_project(project)
    return WandbRun(
        run_id[:32],
        mode=chosen_mode(mode),
        dir=str(folder),
        project=project,
        entity=entity,
        # W&B takes names of at most 128 characters, and tags of 64.
        name=str(cell)[:128],
        group=str(group or f"{cell.data}/{cell.recipe}")[:128],
        job_type="train",
        tags=[cell.method[:64], f"K={cell.K or 'all'}"],
        config=run_config(cell, run_id, config),
    )


def tensorboard_logger(folder: Path, cell: Cell, run_id: str, config: dict[str, Any]) -> TensorBoardLogger:
    """TensorBoard event files in the run's own folder: ``tensorboard --logdir outputs``."""
    return TensorBoardLogger(folder, name="", version="tensorboard")


def make_loggers(settings: dict[str, Any], folder: Path, cell: Cell, run_id: str, config: dict[str, Any]) -> list[Logger]:
    """The loggers that ``logger=...`` asks for, beside the CSV that every run writes."""
    makers = {"csv": None, "wandb": wandb_logger, "tensorboard": tensorboard_logger}
    name = settings.get("name")
    if name not in makers:
        raise InputError(f"logger must be one of {', '.join(makers)}, got {name!r}")
    maker: Any = makers[name]
    options = {key: value for key, value in settings.items() if key != "name"}
    known = inspect.getfullargspec(maker).kwonlyargs if maker else []
    for key in options:
        if key not in known:
            raise InputError(f"logger={name} has the settings {', '.join(known) or 'none'}, got {key!r}")
    return [] if maker is None else [maker(folder, cell, run_id, config, **options)]


def close_loggers(loggers: list[Logger], result: dict[str, Any]) -> None:
    """Hand over the result (where there is one) and end each logger's run.

    W&B keeps a run open until the process ends, and a grid has many in one process.
    """
    for logger in loggers:
        if isinstance(logger, WandbRun):
            logger.finish(result)
            continue
        if result:
            best = {name: value for name, value in final_metrics(result).items() if name.startswith("best/")}
            logger.log_metrics(best)
        logger.finalize("success" if result else "failed")
