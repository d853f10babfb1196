"""The callback that keeps a run: metrics by epoch, best and last checkpoint, and going on after an interruption."""

import io
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.callbacks import Checkpoint

from hardlabels.errors import InputError
from hardlabels.learning.module import Classifier
from hardlabels.runs.checkpoint import load_checkpoint, network_state, resume_state
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.files import write_atomically

__all__ = ["Keeper", "load_checkpoint"]

Row = dict[str, float]


class Keeper(Checkpoint):
    """Writes ``history.csv``, ``best.ckpt`` and ``last.ckpt`` after every epoch; resumes from ``last.ckpt``.

    Checkpoints are taken between epochs only. Labels, order and crops are functions of the epoch, so weights, optimizer state
    and the number of finished epochs are the whole state of a run, and a resumed run repeats the interrupted epoch exactly.
    (Lightning's own resume restores the state of its loops, and with it the place inside an epoch, the stale iterator of the
    first epoch and a scheduler that is one step behind; none of it is needed here.)

    The files are written by a thread of their own, from a copy of the state, while the next epoch trains. Their order makes
    every crash harmless: an epoch that is in ``history.csv`` or ``best.ckpt`` but not yet in ``last.ckpt`` is trained again, to
    the same bits.

    Args:
        directory: the run's folder.
        monitor: the metric of which the lowest value is best.
    """

    def __init__(self, directory: RunDirectory, monitor: str):
        self.directory, self.monitor = directory, monitor
        self.rows: list[Row] = []
        self._resumed: dict[str, Any] | None = None
        self._optimizer: dict[str, Any] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keeper")
        self._writing: Future[None] | None = None

    @property
    def best_epoch(self) -> int:
        """The epoch with the lowest monitored value; the first of them when tied."""
        return int(min(self.rows, key=lambda row: row[self.monitor])["epoch"])

    def prepare(self, network: torch.nn.Module, epochs: int) -> None:
        """Read what an interrupted run left behind, all of it, before anything is written.

        Args:
            network: that will take the weights.
            epochs: of the whole run.
        """
        if not self.directory.last.is_file():
            return
        self._resumed = resume_state(self.directory.last, network, epochs)
        network_state(self.directory.best, network)
        rows, done = self.directory.read_history((self.monitor,)), self._resumed["epochs"]
        if len(rows) < done:
            raise InputError(f"{self.directory.history}: expected at least the {done} epochs of last.ckpt, found {len(rows)}")
        self.rows = rows[:done]

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take up the weights and the epoch of ``last.ckpt``. Here, since Lightning draws its first batches right after."""
        state, self._resumed = self._resumed, None
        if state is None:
            return
        cast(Classifier, pl_module).network.load_state_dict(state["network"])
        self._optimizer = state["optimizer"]
        _set_finished_epochs(trainer, state["epochs"], state["steps"])

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take up the optimizer's state, now that there is an optimizer."""
        if self._optimizer is not None:
            trainer.optimizers[0].load_state_dict(self._optimizer)
            self._optimizer = None

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Hand what this epoch changed to the writing thread and to the loggers."""
        module, epoch = cast(Classifier, pl_module), trainer.current_epoch
        row = {"epoch": epoch, "lr": trainer.optimizers[0].param_groups[0]["lr"], **module.epoch_metrics}
        self.rows.append(row)
        for logger in trainer.loggers:
            logger.log_metrics(row, step=trainer.global_step)
        if not trainer.is_global_zero:
            return
        network = _copy(module.network.state_dict())
        optimizer = _copy(trainer.optimizers[0].state_dict())
        last = {"network": network, "optimizer": optimizer, "epochs": epoch + 1, "steps": trainer.global_step}
        best = {"network": network, "epoch": epoch} if self.best_epoch == epoch else None
        self.wait()
        self._writing = self._thread.submit(self._write, list(self.rows), best, last)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Everything is on disk before the run counts as trained."""
        self.wait()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """An interrupted run keeps its last whole epoch."""
        self.wait()

    def wait(self) -> None:
        """Wait for the writing thread; raises what went wrong there."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _write(self, rows: list[Row], best: dict[str, Any] | None, last: dict[str, Any]) -> None:
        self.directory.write_history(rows)
        if best is not None:
            _save(self.directory.best, best)
        _save(self.directory.last, last)


def _save(path: Path, state: dict[str, Any]) -> None:
    # To memory first: torch's own writer turns a full disk into an error about the position in a zip file.
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, lambda file: file.write(buffer.getbuffer()))


def _copy(state: Any) -> Any:
    """The state as it is now, on the CPU: training goes on while it is written."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: _copy(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_copy(value) for value in state]
    return state


def _set_finished_epochs(trainer: Trainer, epochs: int, steps: int) -> None:
    """Make Lightning's fit loop believe that it has run this many epochs, as if it had."""
    loop = trainer.fit_loop
    for progress in (loop.epoch_progress.current, loop.epoch_progress.total):
        progress.ready = progress.started = progress.processed = progress.completed = epochs  # type: ignore[attr-defined]
    loop.epoch_loop._batches_that_stepped = steps  # the step that loggers see
    loop.epoch_loop.automatic_optimization.optim_progress.optimizer.step.total.completed = steps  # trainer.global_step
