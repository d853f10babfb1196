"""Views of a run elsewhere: W&B, TensorBoard. The run's folder stays the source of truth."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lightning.fabric.loggers.logger import rank_zero_experiment
from lightning.pytorch.loggers import Logger, TensorBoardLogger
from lightning.pytorch.utilities import rank_zero_only

from hardlabels.console import complain, say
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.spelling import write_votes
from hardlabels.runs.views.wandb_result import log_checkpoint, log_predictions, summary_metrics, sync_command
from hardlabels.runs.views.wandb_run import check_project, chosen_mode, final_metrics, open_run, run_config, short_message


class WandbRun(Logger):
    """Rows of ``history.csv`` by epoch while the run trains, its result in the summary at the end.

    The step is the epoch. A resumed run has the same id and goes on at the next epoch: online in the same W&B run, offline in
    a folder of its own, and ``wandb sync`` joins the folders of one id in the order of their start. An epoch that a kill made
    the run train twice has the same step and the same numbers both times.

    A failure of W&B costs the view and never the run: it is said once, and the run goes on without.

    Args:
        run_id: of the run at W&B.
        at_the_end: what is done with the W&B run and the result of a run that was trained to its end, one after the other.
        arguments: of ``wandb.init``.
    """

    def __init__(self, run_id: str, *at_the_end: Callable[[Any, dict[str, Any]], object], **arguments: Any):
        super().__init__()
        self._id, self._at_the_end, self._arguments = run_id, at_the_end, arguments
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
        """Send one row of ``history.csv``; its epoch is among its columns."""
        self._attempt(lambda run: run.log(metrics, step=int(metrics["epoch"]), commit=True))

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing: W&B has the configuration from the start."""

    @rank_zero_only
    def finish(self, result: dict[str, Any]) -> None:
        """Write the result into the summary (where there is one) and end the W&B run."""
        if self._run is None:
            return
        for hand_over in self._at_the_end if result else ():
            self._attempt(lambda run, hand_over=hand_over: hand_over(run, result))  # type: ignore[misc]
        self._attempt(lambda run: run.finish(exit_code=0 if result else 1))
        offline = self._arguments.get("mode") == "offline" and not self._failed
        if offline and (command := sync_command(Path(self._arguments["dir"]), self._id)):
            say(f"W&B: `{command}` sends this run")
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
            complain(f"W&B failed, the run goes on without it ({short_message(error)})")


def _open_by_epoch(**arguments: Any) -> Any:
    run = open_run(resume="allow", **arguments)
    run.define_metric("epoch")
    run.define_metric("*", step_metric="epoch", summary="none")  # or every number of the last epoch would be in the summary
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
    predictions: int = 100,
    checkpoint: bool = False,
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
        predictions: rows of the table of predictions; 0 for none.
        checkpoint: whether the best checkpoint is kept there, as an artifact.
    """
    check_project(project)
    if predictions < 0:
        raise InputError(f"logger.predictions must be a whole number of at least 0, got {predictions}")

    def summarise(run: Any, result: dict[str, Any]) -> None:
        run.summary.update(summary_metrics(result))

    def show_predictions(run: Any, result: dict[str, Any]) -> None:
        log_predictions(run, folder, predictions)

    def keep_checkpoint(run: Any, result: dict[str, Any]) -> None:
        log_checkpoint(run, folder, cell, result)

    return WandbRun(
        run_id[:32],
        summarise,
        *([show_predictions] if predictions else []),
        *([keep_checkpoint] if checkpoint else []),
        mode=chosen_mode(mode),
        dir=str(folder),
        project=project,
        entity=entity,
        # W&B takes names of at most 128 characters, and tags of 64.
        name=str(cell)[:128],
        group=str(group or f"{cell.data}/{cell.tagged_recipe}")[:128],
        job_type="train",
        tags=[cell.variant[:64], f"K={write_votes(cell.K)}"],
        config=run_config(cell, run_id, config),
    )


def tensorboard_logger(folder: Path, cell: Cell, run_id: str, config: dict[str, Any]) -> TensorBoardLogger:
    """TensorBoard event files in the run's own folder: ``tensorboard --logdir outputs``."""
    return TensorBoardLogger(folder, name="", version="tensorboard")


def close_loggers(loggers: list[Logger], result: dict[str, Any]) -> None:
    """Hand over the result (where there is one) and end each logger's run.

    W&B keeps a run open until the process ends, and a grid has many in one process.
    """
    for logger in loggers:
        if isinstance(logger, WandbRun):
            logger.finish(result)
            continue
        if result:
            logger.log_metrics(final_metrics({"best": result["best"]}))
        logger.finalize("success" if result else "failed")
