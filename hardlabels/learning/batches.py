"""Which items make up which batch, in an order that depends on nothing but (seed, epoch)."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from hardlabels.randomness import stream
from hardlabels.sources.mapped import read_rows


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
    """Inputs read batch by batch: for sets that do not fit on the device, or in memory. Indexed by a ``Batch``.

    Args:
        inputs: of all items; in memory, or mapped from a file.
        items: those of the part, by position.
        mirror: a second view of each item; a batch's inputs are then (B, 2, d), and which one is shown is decided later.
        change: what is done to the inputs of a batch once they are read.
    """

    def __init__(
        self,
        inputs: np.ndarray,
        items: np.ndarray,
        mirror: np.ndarray | None = None,
        change: Callable[[np.ndarray, Batch], np.ndarray] | None = None,
    ):
        self.inputs, self.items, self.mirror, self.change = inputs, items, mirror, change

    def __getitem__(self, batch: Batch) -> Batch:
        items = self.items[batch.position.numpy()]
        rows = read_rows(self.inputs, items)
        rows = rows if self.change is None else self.change(rows, batch)
        return batch._replace(inputs=torch.from_numpy(rows if self.mirror is None else np.stack([rows, self.mirror[items]], 1)))

    def __getstate__(self) -> dict[str, Any]:
        """For a worker that is started anew: a mapped array is opened there again, where pickling would copy all of it."""
        mapped = isinstance(self.inputs, np.memmap)
        return {**self.__dict__, "inputs": Path(self.inputs.filename) if mapped else self.inputs}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.inputs, Path):
            self.inputs = np.load(self.inputs, mmap_mode="r", allow_pickle=False)


class ReadAhead:
    """The batches of one part with their inputs, read by a thread while the batches before them are trained on.

    Args:
        fetched: reads the inputs of a batch.
        batches: what to read, in order.
        ahead: batches that are read before they are asked for; as many are in memory.
    """

    def __init__(self, fetched: Fetched, batches: Batches, ahead: int = 2):
        self.fetched, self.batches, self.ahead = fetched, batches, ahead

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        with ThreadPoolExecutor(1, thread_name_prefix="reader") as reader:
            waiting: deque[Future[Batch]] = deque()
            for batch in self.batches:
                waiting.append(reader.submit(self.fetched.__getitem__, batch))
                if len(waiting) > self.ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
