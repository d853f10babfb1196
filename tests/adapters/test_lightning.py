"""The Lightning callback under a real Trainer: fresh, resumed at the end or in the middle of an epoch, persistent workers."""

import numpy as np
import pytest
import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch.utils.data import DataLoader

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.adapters.lightning import EpochCallback

N = 30
VOTES = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.4, 0.3, 0.3], size=N))
LABELS = deliver(VOTES, "sls", seed=1)


class Recorder(LightningModule):
    """Somebody's own module: knows nothing of us. Writes down what reaches the loss."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen = []

    def configure_optimizers(self):
        return torch.optim.SGD([self.weight], lr=0.1)

    def training_step(self, batch, batch_idx):
        index, target = batch
        self.seen.append((self.current_epoch, index.tolist(), target.tolist()))
        return self.weight * 0

    def validation_step(self, batch, batch_idx):
        self.log("loss", float(self.current_epoch))


class Stop(Callback):
    """A crash at this step."""

    def __init__(self, step):
        self.step = step

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step == self.step:
            raise KeyboardInterrupt


def fit(folder, *, workers, epochs=4, ckpt=None, with_callback=True, stop=None, validate=False, save=None, **settings):
    module, data = Recorder(), Delivered(range(N), LABELS)
    workers_settings = {"num_workers": 2, "persistent_workers": True, "prefetch_factor": 3} if workers else {}
    loader = DataLoader(data, batch_size=10, shuffle=True, **workers_settings)
    callbacks = [EpochCallback(data)] if with_callback else []
    if save:
        callbacks.append(ModelCheckpoint(folder, **save))
    if stop is not None:
        callbacks.append(Stop(stop))
    if not with_callback:
        data.start_epoch(0)
    trainer = Trainer(
        accelerator="cpu", max_epochs=epochs, logger=False, enable_checkpointing=bool(save), enable_progress_bar=False,
        enable_model_summary=False, callbacks=callbacks, num_sanity_val_steps=2 if validate else 0, **settings,
    )  # fmt: skip
    extra = {"val_dataloaders": DataLoader(torch.arange(4))} if validate else {}
    try:
        trainer.fit(module, loader, ckpt_path=ckpt, **extra)
    except (KeyboardInterrupt, SystemExit):
        assert stop is not None
    return module.seen


def stale(seen):
    return sorted({epoch for epoch, index, target in seen if LABELS(epoch)[index].tolist() != target})


@pytest.mark.parametrize("workers", [False, True], ids=["no workers", "persistent workers"])
@pytest.mark.parametrize("settings", [{}, {"reload_dataloaders_every_n_epochs": 1}], ids=["kept", "reloaded"])
def test_every_target_is_that_of_its_epoch(tmp_path, workers, settings):
    seen = fit(tmp_path, workers=workers, **settings)
    assert [epoch for epoch, *_ in seen] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert stale(seen) == []


def test_without_the_callback_labels_stay_those_of_the_first_epoch(tmp_path):
    assert stale(fit(tmp_path, workers=True, with_callback=False)) == [1, 2, 3]


@pytest.mark.parametrize("workers", [False, True], ids=["no workers", "persistent workers"])
@pytest.mark.parametrize(
    ("save", "validate", "stop", "first"),
    [
        ({"save_on_train_epoch_end": True}, False, None, 2),  # after two whole epochs
        ({"save_on_train_epoch_end": False, "monitor": "loss", "mode": "max"}, True, None, 2),  # by a validation metric
        ({"every_n_train_steps": 4, "save_on_train_epoch_end": False}, False, 5, 1),  # a crash in the middle of epoch 1
        ({"every_n_train_steps": 3, "save_on_train_epoch_end": False}, False, 4, 1),  # saved at the last batch of epoch 0
    ],
    ids=["epoch end", "validation end", "middle", "last batch"],
)
def test_a_resumed_fit_shows_the_labels_of_its_own_epochs(tmp_path, workers, save, validate, stop, first):
    before = fit(tmp_path, workers=workers, epochs=2, validate=validate, stop=stop, save=save)
    [checkpoint] = tmp_path.glob("*.ckpt")
    seen = fit(tmp_path, workers=workers, epochs=4, ckpt=checkpoint, validate=validate)
    assert seen[0][0] == first
    assert seen[-1][0] == 3
    assert stale(before) == []
    assert stale(seen) == []


def test_a_second_fit_of_one_trainer_goes_on(tmp_path):
    module, data = Recorder(), Delivered(range(N), LABELS)
    loader = DataLoader(data, batch_size=10, num_workers=1, persistent_workers=True)
    trainer = Trainer(
        accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[EpochCallback(data)],
    )  # fmt: skip
    trainer.fit(module, loader)
    trainer.fit_loop.max_epochs = 4
    trainer.fit(module, loader)
    assert [epoch for epoch, *_ in module.seen] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert stale(module.seen) == []


def test_a_loader_of_other_data_is_refused(tmp_path):
    """Somebody adds the callback, and leaves the old loader in its place: old labels in every epoch."""
    trainer = Trainer(
        accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[EpochCallback(Delivered(range(N), LABELS))],
    )  # fmt: skip
    with pytest.raises(InputError, match="epoch 0 read nothing from the delivered data set"):
        trainer.fit(Recorder(), DataLoader([(i, 0) for i in range(N)], batch_size=10))
