"""Delivery as Lightning sees it: a DataModule whose labels are reloaded at the start of every epoch."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from lightning import LightningDataModule
from torch import Tensor
from torch.utils.data import DataLoader

from hardlabels.delivery import Delivery
from hardlabels.learning.augment import crop_and_flip, draw_crops, normalise
from hardlabels.learning.batches import Batch, Batches, Fetched
from hardlabels.sources.source import Source
from hardlabels.votes import Votes, slice_masks, split_items


class Training(NamedTuple):
    """A training batch after transfer."""

    inputs: Tensor  # (B, channels, H, W) float; vectors: (B, d)
    target: Tensor  # (B,) int64 hard or (B, C) float soft
    total: int  # size of the batch over all processes


class Evaluation(NamedTuple):
    """A batch to be scored, after transfer."""

    inputs: Tensor
    views: dict[str, tuple[Tensor, Tensor]]  # slice -> (B,) mask, (B, C) distribution to score against


class DeliveryDataModule(LightningDataModule):
    """One source, delivered by one method: emits soft targets or the hard labels of the current epoch.

    The labels of an epoch are a pure function of (votes, seed, epoch). ``start_epoch`` loads them; the LightningModule calls it
    from its epoch-start hook. Labels never live in the data set: batches carry positions, and the target is gathered on the
    device after transfer, so a worker cannot serve an old one. Everything but the targets (split, order, crops) depends on the
    seed alone and is the same for all methods, so that comparisons of a seed are paired.

    Args:
        source: items and votes.
        method: builds the delivery from the training votes and the seed, for instance ``functools.partial(SLS, hold=5)``.
        seed: of split, K-subsample, labels, order and crops.
        K: votes an item that training sees, drawn by multinomial; ``None`` keeps them all. Evaluation always uses all.
        batch_size: of all processes together.
        split: protocol, ``paper`` or ``three_way``.
        train_items: train on this many of the training items, a random choice of the seed; ``None`` on all.
        workers: 0 keeps the inputs on the device as one tensor; more reads them with that many persistent workers.
        evaluation_batch_size: affects speed and memory only.
    """

    def __init__(
        self,
        source: Source,
        method: Callable[[Votes, int], Delivery],
        *,
        seed: int,
        K: int | None = None,  # noqa: N803 - the paper's symbol
        batch_size: int = 128,
        split: str = "paper",
        train_items: int | None = None,
        workers: int = 0,
        evaluation_batch_size: int = 500,
    ):
        super().__init__()
        self.source, self.seed, self.batch_size, self.workers = source, seed, batch_size, workers
        self.evaluation_batch_size = evaluation_batch_size
        self.split = split_items(source.labels, seed=seed, protocol=split, train_items=train_items)
        votes = source.votes if K is None else source.votes.subsample(K, seed)
        self.delivery = method(votes.take(self.split.train), seed)
        # One example an item, unless the method says otherwise: then each has crops and a place in the order of its own.
        self.examples = self.split.train if self.delivery.items is None else self.split.train[self.delivery.items]
        self.views = {name: (mask, source.votes.p) for name, mask in slice_masks(source.votes).items()}
        if source.truth is not None:
            self.views["truth"] = (np.ones(len(source), dtype=bool), source.truth)
        self._epoch = -1

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The parts that are scored, by name; ``select`` only where it is a part of its own."""
        own = {} if self.split.select is self.split.evaluate else {"select": self.split.select}
        return {**own, "evaluate": self.split.evaluate}

    # ---- the epoch-start hook ----

    def start_epoch(self, epoch: int) -> None:
        """Load what this epoch shows: its targets and its crops."""
        n, source = len(self.examples), self.source
        targets = self.delivery(epoch)
        if len(targets) != n:
            raise ValueError(
                f"{type(self.delivery).__name__} gave {len(targets)} targets in epoch {epoch} for {n} training examples"
            )
        shift, mirrored = draw_crops(n, seed=self.seed, epoch=epoch, padding=source.crop_padding, flip=source.flip)
        device = self._device
        self._epoch = epoch
        self._targets = torch.from_numpy(targets).to(device)
        self._shift, self._mirrored = torch.from_numpy(shift).to(device), torch.from_numpy(mirrored).to(device)

    # ---- what Lightning asks for ----

    def setup(self, stage: str) -> None:
        """Put the inputs (unless workers read them) and everything that is gathered by index on the device."""
        device = self._device
        items = {"train": self.examples, "select": self.split.select, "evaluate": self.split.evaluate}
        self._items = {part: torch.from_numpy(index).to(device) for part, index in items.items()}
        self._views = {
            # float32: enough for a distribution, and every accelerator has it.
            name: (torch.from_numpy(mask).to(device), torch.from_numpy(target).float().to(device))
            for name, (mask, target) in self.views.items()
        }
        self._inputs = torch.from_numpy(self.source.inputs).to(device) if self.workers == 0 else None
        self._mean, self._std = torch.tensor(self.source.mean, device=device), torch.tensor(self.source.std, device=device)

    def train_dataloader(self) -> object:
        """Batches of the epoch that the trainer is in when iteration starts."""
        return self._loader("train", self.examples, self.batch_size, self.seed)

    def val_dataloader(self) -> list[object]:
        """One loader for each entry of ``parts``, in that order."""
        return [self._loader(part, items, self.evaluation_batch_size, None) for part, items in self.parts.items()]

    def on_after_batch_transfer(self, batch: Batch, dataloader_idx: int) -> Training | Evaluation:
        """Look up inputs and targets by position, on the device."""
        items = self._items[batch.part][batch.position]
        inputs = self._inputs.index_select(0, items) if self._inputs is not None else batch.inputs
        if batch.part != "train":
            views = {name: (mask[items], target[items]) for name, (mask, target) in self._views.items()}
            return Evaluation(normalise(inputs, self._mean, self._std), views)
        if batch.epoch != self._epoch:
            raise RuntimeError(f"a batch drawn for epoch {batch.epoch} arrived in epoch {self._epoch}: labels would be stale")
        position = batch.position
        if self.source.has_images:
            inputs = crop_and_flip(inputs, self._shift[position], self._mirrored[position], self.source.crop_padding)
        mixed = self.delivery.mix(
            normalise(inputs, self._mean, self._std), self._targets[position], epoch=batch.epoch, step=batch.step
        )
        return Training(*(tensor[batch.share] for tensor in mixed), batch.total)  # type: ignore[call-arg]

    # ---- machinery ----

    @property
    def _device(self) -> torch.device:
        return self.trainer.strategy.root_device if self.trainer is not None else torch.device("cpu")

    def _loader(self, part: str, items: np.ndarray, batch_size: int, seed: int | None) -> object:
        rank, world = (self.trainer.global_rank, self.trainer.world_size) if self.trainer is not None else (0, 1)
        mixes = part == "train" and type(self.delivery).mix is not Delivery.mix
        batches = Batches(part, len(items), batch_size, epoch=self._current_epoch, seed=seed, rank=rank, world=world, whole=mixes)
        if self.workers == 0:
            return batches
        # batch_size=None: the sampler's elements are whole batches already.
        return DataLoader(
            Fetched(self.source.inputs, items),
            sampler=batches,  # it yields batches, not indices
            batch_size=None,
            num_workers=self.workers,
            persistent_workers=True,
            pin_memory=self._device.type == "cuda",
        )

    def _current_epoch(self) -> int:
        # Without a trainer the epoch is the one that was started last.
        return self.trainer.current_epoch if self.trainer is not None else max(self._epoch, 0)
