"""What a person sees while runs are made: a bar for the run, a bar for the grid; plain lines where there is no terminal."""

from typing import cast

from lightning import Callback, LightningModule, Trainer
from rich.progress import TaskID

from hardlabels.console import bars, say
from hardlabels.learning.module import Classifier
from hardlabels.runs.cell import Cell
from hardlabels.runs.training.keeper import Keeper


class RunProgress(Callback):
    """A bar over the epochs of one run, with the monitored metric beside it.

    Args:
        cell: what is being trained.
        monitor: the metric to show.
    """

    def __init__(self, cell: Cell, monitor: str):
        self.cell, self.monitor = cell, monitor
        self.best = float("inf")

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin at the epoch where training begins, with the best value of the epochs before it."""
        keepers = (callback for callback in trainer.callbacks if isinstance(callback, Keeper))  # type: ignore[attr-defined]
        self.best = min((row[self.monitor] for keeper in keepers for row in keeper.rows), default=self.best)
        self._task: TaskID | None = None
        if trainer.is_global_zero:
            if trainer.current_epoch:
                say(f"resumed {self.cell} at epoch {trainer.current_epoch} of {trainer.max_epochs}")
            self._task = bars().add_task(str(self.cell), total=trainer.max_epochs, completed=trainer.current_epoch, note="")

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """One step of the bar."""
        value = cast(Classifier, pl_module).epoch_metrics[self.monitor]
        self.best = min(self.best, value)
        if self._task is not None:
            note = f"{self.monitor} {value:.4f}, best {self.best:.4f}"
            bars().update(self._task, advance=1, note=note)

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Say where a run was when it was stopped."""
        if trainer.is_global_zero and not isinstance(exception, Exception):
            say(f"{self.cell}: stopped in epoch {trainer.current_epoch} of {trainer.max_epochs}")

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Take the bar away; the line that says what came out stays."""
        if getattr(self, "_task", None) is not None:
            bars().remove_task(self._task)  # type: ignore[arg-type]
            self._task = None
