"""A torch data set whose targets are those of the current epoch, also in workers that live longer than an epoch."""

from collections.abc import Iterator, Mapping, Sized
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from hardlabels.delivery import Delivery
from hardlabels.errors import InputError


class Delivered(Dataset[Any]):
    """Items of any data set, with the targets that a method shows in this epoch.

    The targets are in shared memory. DataLoader workers get a copy of the data set but not of those: what :meth:`start_epoch`
    writes, they read, also with ``persistent_workers=True``. Start an epoch before its iteration (:meth:`epochs` does): workers
    fetch ahead from the moment that the loader's iterator is made.

    An item of the data set becomes, with target y (an int, or a (C,) float tensor):

    * a mapping: the same with ``key`` set to y (Hugging Face: ``labels``);
    * a tuple or list (input,) or (input, old label): (input, y);
    * anything else, an input: (input, y).

    Args:
        dataset: map-style, with as many items as there are votes, in the same order.
        labels: of ``hardlabels.deliver``. A method with examples of its own (``repeated``) makes the data set longer.
        key: where the target goes when items are mappings.

    >>> from hardlabels import Votes, deliver
    >>> data = Delivered(["first", "second"], deliver(Votes.from_counts([[4, 0], [0, 4]]), "sls", seed=0))
    >>> for epoch in data.epochs(2):
    ...     print(epoch, data[0], data[1])
    0 ('first', 0) ('second', 1)
    1 ('first', 0) ('second', 1)
    """

    def __init__(self, dataset: Any, labels: Delivery, *, key: str = "labels"):
        if not isinstance(labels, Delivery):
            raise InputError(f"labels must be what hardlabels.deliver returns, got {type(labels).__name__}")
        if not isinstance(dataset, Sized) or not hasattr(dataset, "__getitem__"):
            raise InputError(f"expected a data set with a length and items by number, got {type(dataset).__name__}")
        if len(dataset) != len(labels.votes):
            raise InputError(f"expected a data set of {len(labels.votes)} items, as many as have votes, got {len(dataset)}")
        if type(labels).mix is not Delivery.mix:
            raise InputError(
                f"{type(labels).__name__} blends whole batches, which a data set cannot: in your loop, take labels(epoch) by "
                "position and pass each batch through labels.mix(inputs, targets, epoch=..., step=...)"
            )
        self.dataset, self.labels, self.key = dataset, labels, key
        self._targets = torch.from_numpy(labels(0)).clone().share_memory_()
        self._epoch = torch.full((), -1, dtype=torch.int64).share_memory_()

    @property
    def epoch(self) -> int:
        """The epoch whose targets are shown; -1 before the first."""
        return int(self._epoch)

    # Not ``set_epoch``: Hugging Face's accelerate calls a data set's method of that name by itself, with its own count of
    # iterations, which is 0 again when an epoch goes on in its middle after a resume.
    def start_epoch(self, epoch: int) -> None:
        """Show the targets of this epoch from now on, in every process that has this data set."""
        if isinstance(epoch, bool) or not isinstance(epoch, (int, np.integer)) or epoch < 0:
            raise InputError(f"epoch must be a whole number, at least 0, got {epoch!r}")
        if epoch != self.epoch:
            self._targets.copy_(torch.from_numpy(self.labels(int(epoch))))
            self._epoch.fill_(int(epoch))

    def epochs(self, stop: int, start: int = 0) -> Iterator[int]:
        """``range(start, stop)``, with the targets of each epoch in place when it begins."""
        for epoch in range(start, stop):
            self.start_epoch(epoch)
            yield epoch

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, index: int) -> Any:
        if self.epoch < 0:
            raise RuntimeError("no epoch was started: call start_epoch(epoch) before each epoch, or loop over epochs(stop)")
        row = self._targets[index]
        # A copy: a view of shared memory would change under a batch that is kept over the end of its epoch.
        target = row.clone() if row.ndim else int(row)
        item = self.dataset[index if self.labels.items is None else int(self.labels.items[index])]
        if isinstance(item, Mapping):
            return {**item, self.key: target}
        if not isinstance(item, (tuple, list)):
            return item, target
        if len(item) > 2:
            raise InputError(f"item {index}: expected an input, (input,), (input, label) or a mapping, got {len(item)} parts")
        return item[0], target
