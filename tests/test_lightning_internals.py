"""What we expect of Lightning beyond what it promises. A new version that breaks this breaks resuming."""

import torch
from lightning import Callback, LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from hardlabels.lightning_internals import draw_batches_anew, set_finished_epochs


class _Plain(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).square().sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class _Begin(Callback):
    """Begins at epoch 3 after 12 steps, and notes where each epoch is."""

    def __init__(self):
        self.seen = []

    def on_fit_start(self, trainer, pl_module):
        set_finished_epochs(trainer, 3, 12)

    def on_train_epoch_start(self, trainer, pl_module):
        self.seen.append((trainer.current_epoch, trainer.global_step))


def test_a_trainer_begins_at_the_epoch_and_step_that_it_is_told(tmp_path):
    begin = _Begin()
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False, "enable_checkpointing": False}
    trainer = Trainer(accelerator="cpu", max_epochs=5, callbacks=[begin], default_root_dir=tmp_path, **quiet)
    trainer.fit(_Plain(), DataLoader(TensorDataset(torch.ones(4, 2))))
    assert begin.seen == [(3, 12), (4, 16)]
    assert (trainer.current_epoch, trainer.global_step) == (5, 20)


class _Numbers(torch.utils.data.IterableDataset):
    """Counts how often its iterator was made."""

    made = 0

    def __iter__(self):
        self.made += 1
        return iter(torch.full((4, 2), float(self.made)))


class _Anew(Callback):
    """Draws the batches of the first epoch again, and notes what the network is shown."""

    def __init__(self):
        self.shown = []

    def on_train_start(self, trainer, pl_module):
        draw_batches_anew(trainer)

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self.shown.append(float(batch[0, 0]))


class _Vectors(_Plain):
    def training_step(self, batch, batch_idx):
        return self.layer(batch).square().sum()


def test_batches_that_were_fetched_before_training_starts_can_be_drawn_again(tmp_path):
    anew, numbers = _Anew(), _Numbers()
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False, "enable_checkpointing": False}
    trainer = Trainer(accelerator="cpu", max_epochs=1, callbacks=[anew], default_root_dir=tmp_path, **quiet)
    trainer.fit(_Vectors(), DataLoader(numbers))
    assert anew.shown == [2.0] * 4  # of the second iterator, all of them
