"""The callback that keeps a run: metrics by epoch, best and last checkpoint, and going on after an interruption."""

from typing import Any, cast

import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.callbacks import Checkpoint

from hardlabels.errors import InputError
from hardlabels.learning.module import Classifier
from hardlabels.lightning_internals import set_finished_epochs
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.checkpoint import Resumed, network_state, resume_state
from hardlabels.runs.training.divergence import check_finite
from hardlabels.runs.training.writer import PAUSE, Beside, EpochWriter

Row = dict[str, float]


class Keeper(Checkpoint):
    """Writes ``history.csv``, ``best.ckpt`` and ``last.ckpt`` as epochs end; resumes from ``last.ckpt``.

    Checkpoints are taken between epochs only. Labels, order and crops are functions of the epoch, so weights, the state of the
    optimizer and of the callbacks, and the number of finished epochs are the whole state of a run, and a resumed run repeats the
    interrupted epoch exactly.

    Args:
        directory: the run's folder.
        monitor: the metric of which the lowest value is best.
        pause: seconds from one writing of the state to the next: epochs shorter than that are not all written, and a run that is
            killed repeats them.

    Attributes:
        writer: the trainer's plugin for checkpoints; ``Trainer(callbacks=[keeper], plugins=[keeper.writer])``.
    """

    def __init__(self, directory: RunDirectory, monitor: str, pause: float = PAUSE):
        self.directory, self.monitor = directory, monitor
        self.rows: list[Row] = []
        self._lines: list[str] = []  # of history.csv, as they were written
        self.writer = EpochWriter(pause)
        self._resumed: Resumed | None = None
        self._stopped = False

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
        rows, done = self.directory.read_history((self.monitor,)), self._resumed.epochs
        if len(rows) < done:
            raise InputError(f"{self.directory.history}: expected at least the {done} epochs of last.ckpt, found {len(rows)}")
        self.rows = rows[:done]
        for epoch, row in enumerate(self.rows):  # an earlier version went on after an epoch without finite numbers
            check_finite(row, self.rows[:epoch])

    def state_dict(self) -> dict[str, Any]:
        """Whether a callback has asked for the end of training: a run that dies after its last epoch trains no further one."""
        return {"stopped": self._stopped}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The inverse of ``state_dict``."""
        self._stopped = bool(state_dict.get("stopped"))

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take up weights, callbacks and epoch of ``last.ckpt``. Here, since Lightning draws its first batches right after."""
        resumed = self._resumed
        if resumed is None:
            return
        cast(Classifier, pl_module).network.load_state_dict(resumed.network)
        for callback in trainer.callbacks:  # type: ignore[attr-defined]
            callback.on_load_checkpoint(trainer, pl_module, resumed.checkpoint)
            if callback.state_key in resumed.callbacks:
                callback.load_state_dict(resumed.callbacks[callback.state_key])
        set_finished_epochs(trainer, resumed.epochs, resumed.steps)
        trainer.should_stop = self._stopped

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take up the state of the optimizer, now that there is one, and of the scale of 16-bit gradients."""
        resumed, self._resumed = self._resumed, None
        if resumed is None:
            return
        trainer.optimizers[0].load_state_dict(resumed.optimizer)
        scale = resumed.checkpoint.get(type(trainer.precision_plugin).__qualname__)
        if scale is not None:
            trainer.precision_plugin.load_state_dict(scale)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Hand what this epoch changed to the writing thread and to the loggers."""
        module, epoch = cast(Classifier, pl_module), trainer.current_epoch
        row = {"epoch": epoch, "lr": trainer.optimizers[0].param_groups[0]["lr"], **module.epoch_metrics}
        check_finite(row, self.rows)  # before anything of this epoch is kept: the same command ends at the same epoch again
        self.rows.append(row)
        for logger in trainer.loggers:
            logger.log_metrics(row, step=trainer.global_step)
        rows, best = list(self.rows), self.directory.best if self.best_epoch == epoch else None
        beside = Beside(lambda: self.directory.write_history(rows, self._lines), best)
        self._stopped = trainer.should_stop
        trainer.save_checkpoint(self.directory.last, weights_only=False, storage_options=beside)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Everything is on disk before the run counts as trained."""
        self.writer.wait()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """An interrupted run keeps its last whole epoch."""
        self.writer.wait()
