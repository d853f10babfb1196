"""A Lightning callback for your own LightningModule and loaders: every epoch has its own labels, also after a resume."""

from lightning import Callback, LightningModule, Trainer

from hardlabels.adapters.dataset import Delivered


class EpochCallback(Callback):
    """Tells ``data`` the trainer's epoch: ``Trainer(callbacks=[EpochCallback(data)])``.

    Lightning makes the loader's iterator before ``on_train_start``, and uses it for the first epoch of a fit; workers have
    fetched batches by then. So the epoch is told in ``setup``. After a resume it is known only in ``on_train_start``: where it is
    another one, the iterator is made anew, and what was fetched is dropped.
    """

    def __init__(self, data: Delivered):
        self.data = data

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Before any iterator."""
        if stage == "fit":
            self.data.start_epoch(trainer.current_epoch)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """After the checkpoint, if any, was loaded; also before an epoch that goes on in its middle."""
        if self.data.epoch != trainer.current_epoch:
            self.data.start_epoch(trainer.current_epoch)
            iter(trainer.fit_loop._data_fetcher)  # type: ignore[arg-type]

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Later epochs: their iterator is made after this hook."""
        self.data.start_epoch(trainer.current_epoch)
