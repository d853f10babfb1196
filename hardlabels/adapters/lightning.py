"""A Lightning callback for your own LightningModule and loaders: every epoch has its own labels, also after a resume."""

from typing import Any

from lightning import Callback, LightningModule, Trainer

from hardlabels.adapters.dataset import Delivered
from hardlabels.errors import InputError
from hardlabels.lightning_internals import draw_batches_anew


class EpochCallback(Callback):
    """Tells ``data`` the trainer's epoch: ``Trainer(callbacks=[EpochCallback(data)])``.

    Lightning makes the loader's iterator before ``on_train_start``, and uses it for the first epoch of a fit; workers have
    fetched batches by then. So the epoch is told in ``setup``. After a resume it is known only in ``on_train_start``: where it is
    another one, the iterator is made anew, and what was fetched is dropped.
    """

    def __init__(self, data: Delivered):
        self.data = data
        self._trained, self._reads = False, data.reads

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Tell the epoch before Lightning makes any iterator."""
        if stage == "fit":
            self.data.start_epoch(trainer.current_epoch)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Tell the epoch again, now that a checkpoint, if there is one, was loaded; the training may go on in another epoch."""
        if self.data.epoch != trainer.current_epoch:
            self.data.start_epoch(trainer.current_epoch)
            draw_batches_anew(trainer)

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Tell the epoch of every later epoch, whose iterator is made after this hook."""
        self.data.start_epoch(trainer.current_epoch)

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Note that this epoch trains: one that a resumed fit only has to end has no batch."""
        self._trained = True

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Refuse a trainer that was given another data set: it has trained on other labels."""
        if self._trained and self.data.reads == self._reads:
            raise InputError(f"epoch {self.data.epoch} read nothing from the delivered data set: the training loader needs it")
        self._trained, self._reads = False, self.data.reads
