"""Delivery as Lightning sees it: a DataModule whose labels are reloaded at the start of every epoch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning import LightningDataModule
from torch import Tensor
from torch.utils.data import DataLoader

from hardlabels.delivery import Delivery
from hardlabels.errors import InputError
from hardlabels.guard import named_code
from hardlabels.learning.batches import Batch, Batches, Fetched, ReadAhead
from hardlabels.learning.inputs import Inputs
from hardlabels.learning.own_augmentation import OwnAugmentation, Transform, check_transform
from hardlabels.sources.source import Source
from hardlabels.votes import slice_masks


class Training(NamedTuple):
    """A training batch after transfer."""

    inputs: Tensor  # (B, channels, H, W) float; vectors: (B, d)
    target: Tensor  # (B,) int64 hard or (B, C) float soft
    total: int  # size of the batch over all processes


class Evaluation(NamedTuple):
    """A batch to be scored, after transfer."""

    inputs: Tensor
    items: Tensor  # (B,) int64, their positions in the data set


class DeliveryDataModule(LightningDataModule):
    """One source, delivered by one method: emits soft targets or the hard labels of the current epoch.

    The labels of an epoch are a pure function of (votes, seed, epoch). ``start_epoch`` loads them; the LightningModule calls it
    from its epoch-start hook. Labels never live in the data set: batches carry positions, and the target is gathered on the
    device after transfer, so a worker cannot serve an old one. Everything but the targets (split, order, crops) depends on the
    seed alone and is the same for all methods, so that comparisons of a seed are paired.

    Args:
        source: items and votes.
        delivery: the method: a subclass of :class:`~hardlabels.delivery.base.Delivery`, or its dotted name.
        seed: of split, K-subsample, labels, order and crops.
        K: votes per item that training sees, drawn by multinomial; ``None`` keeps them all. Evaluation always uses all.
        batch_size: of all processes together.
        split: protocol, ``paper`` or ``three_way``.
        train_items: train on this many of the training items, a random choice of the seed; ``None`` on all.
        workers: 0 keeps the inputs on the device as one tensor (those on disk are read by a thread); more reads them with that
            many persistent workers.
        evaluation_batch_size: affects speed and memory only.
        augment: a transform of torchvision for training images, beside what the source says; see
            :class:`~hardlabels.learning.own_augmentation.OwnAugmentation`.
        settings: of the method, such as ``hold=5``.

    Attributes:
        training_votes: what training sees: the K votes of each training item.
        views: the slices that are scored: name to (N,) which items are in it, and (N, C) what they are scored against.
    """

    def __init__(
        self,
        source: Source,
        delivery: str | Callable[..., Delivery],
        *,
        seed: int,
        K: int | None = None,  # noqa: N803 - the paper's symbol
        batch_size: int = 128,
        split: str = "paper",
        train_items: int | None = None,
        workers: int = 0,
        evaluation_batch_size: int = 500,
        augment: Transform | None = None,
        **settings: Any,
    ):
        super().__init__()
        self.source, self.seed, self.batch_size, self.workers = source, seed, batch_size, workers
        self.evaluation_batch_size = evaluation_batch_size
        self.split = source.split(seed=seed, protocol=split, train_items=train_items)
        votes = source.votes if K is None else source.votes.subsample(K, seed)
        self.training_votes = votes.take(self.split.train)
        build = named_code("method.delivery", delivery, Delivery) if isinstance(delivery, str) else delivery
        self.delivery: Delivery = build(self.training_votes, seed, **settings)
        if self.delivery.blends_inputs and source.kind == "tokens":
            raise InputError(
                f"{type(self.delivery).__name__} blends the inputs of a batch, and the items of {source.name!r} are token ids, "
                "which cannot be blended: recipe=text_head trains on the features of texts, which can"
            )
        # One example per item, unless the method says otherwise: then each has crops and a place in the order of its own.
        self.examples = self.split.train if self.delivery.items is None else self.split.train[self.delivery.items]
        self.views = {name: (mask, source.votes.p) for name, mask in slice_masks(source.votes).items()}
        if source.truth is not None:
            self.views["truth"] = (np.ones(len(source), dtype=bool), source.truth)
        self.augment = augment
        if augment is not None:
            check_transform(augment, source)
        self._epoch = -1

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The parts that are scored, by name; ``select`` only where it is a part of its own."""
        own = {} if self.split.select is self.split.evaluate else {"select": self.split.select}
        return {**own, "evaluate": self.split.evaluate}

    # ---- the epoch-start hook ----

    def start_epoch(self, epoch: int) -> None:
        """Load what this epoch shows: its targets and its crops."""
        n = len(self.examples)
        targets = self.delivery(epoch)
        if len(targets) != n:
            raise ValueError(
                f"{type(self.delivery).__name__} gave {len(targets)} targets in epoch {epoch} for {n} training examples"
            )
        self._epoch = epoch
        self._targets = torch.from_numpy(targets).to(self._device)
        self._inputs.start_epoch(n, seed=self.seed, epoch=epoch)

    # ---- what Lightning asks for ----

    def setup(self, stage: str) -> None:
        """Put the inputs (unless workers read them) and everything that is gathered by index on the device."""
        device = self._device
        items = {"train": self.examples, "select": self.split.select, "evaluate": self.split.evaluate}
        self._items = {part: torch.from_numpy(index).to(device) for part, index in items.items()}
        self._inputs = Inputs(self.source, device, resident=self._resident)

    def train_dataloader(self) -> object:
        """Batches of the epoch that the trainer is in when iteration starts."""
        return self._loader("train", self.examples, self.batch_size, self.seed)

    def val_dataloader(self) -> list[object]:
        """One loader for each entry of ``parts``, in that order."""
        return [self._loader(part, items, self.evaluation_batch_size, None) for part, items in self.parts.items()]

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        """Move the two tensors of a batch. Lightning's own method would search every entry of the batch for tensors."""
        return batch._replace(position=batch.position.to(device), inputs=batch.inputs.to(device))

    def on_after_batch_transfer(self, batch: Batch, dataloader_idx: int) -> Training | Evaluation:
        """Look up inputs and targets by position, on the device."""
        items = self._items[batch.part].index_select(0, batch.position)
        if batch.part != "train":
            return Evaluation(self._inputs.evaluation(batch, items), items)
        if batch.epoch != self._epoch:
            raise RuntimeError(f"a batch drawn for epoch {batch.epoch} arrived in epoch {self._epoch}: labels would be stale")
        inputs, target = self._inputs.training(batch, items), self._targets.index_select(0, batch.position)
        mixed = self.delivery.mix(inputs, target, epoch=batch.epoch, step=batch.step)
        return Training(*(tensor[batch.share] for tensor in mixed), batch.total)  # type: ignore[call-arg]

    # ---- machinery ----

    @property
    def _resident(self) -> bool:
        """Whether all inputs are held on the device. Those that are mapped from a file on disk do not fit there."""
        return self.workers == 0 and self.augment is None and not isinstance(self.source.inputs, np.memmap)

    @property
    def _device(self) -> torch.device:
        return self.trainer.strategy.root_device if self.trainer is not None else torch.device("cpu")

    def _loader(self, part: str, items: np.ndarray, batch_size: int, seed: int | None) -> object:
        rank, world = (self.trainer.global_rank, self.trainer.world_size) if self.trainer is not None else (0, 1)
        mixes = part == "train" and type(self.delivery).mix is not Delivery.mix
        batches = Batches(part, len(items), batch_size, epoch=self._current_epoch, seed=seed, rank=rank, world=world, whole=mixes)
        if self._resident:
            return batches
        own = self.augment if part == "train" else None
        change = None if own is None else OwnAugmentation(own, seed=self.seed, examples=len(items))
        fetched = Fetched(self.source.inputs, items, self.source.mirror, change)
        if (
            self.workers == 0 and own is None
        ):  # not in a thread: a transform draws from torch's generator, which all threads share
            return ReadAhead(fetched, batches)
        # batch_size=None: the sampler's elements are whole batches already.
        return DataLoader(
            fetched,
            sampler=batches,  # it yields batches, not indices
            batch_size=None,
            num_workers=self.workers,
            generator=torch.Generator(),  # it draws a seed for its workers, and must not draw it from everybody's
            persistent_workers=self.workers > 0,
            pin_memory=self._device.type == "cuda",
        )

    def _current_epoch(self) -> int:
        # Without a trainer the epoch is the one that was started last.
        return self.trainer.current_epoch if self.trainer is not None else max(self._epoch, 0)
