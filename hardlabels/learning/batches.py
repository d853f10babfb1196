"""Which items make up which batch, in an order that depends on nothing but (seed, epoch)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from hardlabels.randomness import stream


class Batch(NamedTuple):
    """What travels to the device: never a label. The target is looked up by position after the batch has arrived.

    ``epoch`` says for which epoch the batch was drawn, so that a stale one is noticed; ``inputs`` is empty when the inputs are
    on the device already.
    """

    part: str
    epoch: int
    step: int
    total: int  # size of the batch over all processes
    share: slice  # of ``position``: what this process trains on
    position: Tensor  # (B,) int64, place in the part (train, select or evaluate)
    inputs: Tensor  # (B, ...) or (0,)


class Batches:
    """The batches of one part, in order: an iterable of ``Batch`` without inputs, and the sampler of a DataLoader.

    Args:
        part: train, select or evaluate.
        n: number of items of the part.
        batch_size: of all processes together. The last, partial batch is kept.
        epoch: asked when iteration starts. Lightning calls ``iter()`` before its epoch-start hooks, in the first epoch and
            after a resume: a stored number would be stale there.
        seed: of the shuffled order; ``None`` keeps the order of the items.
        rank: of this process; it takes its share of every batch, so the global batches are those of a single process.
        world: number of processes.
        whole: give every process all positions of a batch, since its items are mixed with each other before they are shared.
    """

    def __init__(
        self,
        part: str,
        n: int,
        batch_size: int,
        *,
        epoch: Callable[[], int],
        seed: int | None,
        rank: int = 0,
        world: int = 1,
        whole: bool = False,
    ):
        self.part, self.n, self.batch_size = part, n, batch_size
        self.epoch, self.seed, self.rank, self.world, self.whole = epoch, seed, rank, world, whole

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        epoch = self.epoch()
        order = np.arange(self.n) if self.seed is None else stream(self.seed, "order", epoch).permutation(self.n)
        for step, start in enumerate(range(0, self.n, self.batch_size)):
            batch = order[start : start + self.batch_size]
            first, last = (len(batch) * rank // self.world for rank in (self.rank, self.rank + 1))
            position, share = (batch, slice(first, last)) if self.whole else (batch[first:last], slice(None))
            yield Batch(self.part, epoch, step, len(batch), share, torch.from_numpy(position), torch.empty(0))


class Fetched(Dataset[Batch]):
    """Inputs read batch by batch in DataLoader workers: for sets that do not fit on the device. Indexed by a ``Batch``."""

    def __init__(self, inputs: np.ndarray, items: np.ndarray):
        self.inputs, self.items = inputs, items

    def __getitem__(self, batch: Batch) -> Batch:
        return batch._replace(inputs=torch.from_numpy(self.inputs[self.items[batch.position.numpy()]]))
