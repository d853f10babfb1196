"""A torch data set whose targets are those of the current epoch, also in workers that live longer than an epoch."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence, Sized
from operator import index as whole_number
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from hardlabels.adapters.items import TARGET_COLUMNS, old_class, with_target
from hardlabels.adapters.old_labels import MOST_CLASSES, NEARLY_ALL, disagreement
from hardlabels.delivery import Delivery
from hardlabels.delivery.base import checked_epoch
from hardlabels.errors import InputError
from hardlabels.votes.names import spelling


class Delivered(Dataset[Any]):
    """Items of any data set, with the targets that a method shows in this epoch.

    The targets are in shared memory. DataLoader workers get a copy of the data set but not of those: what :meth:`start_epoch`
    writes, they read, also with ``persistent_workers=True``. Start an epoch before its iteration (:meth:`epochs` does): workers
    fetch ahead from the moment that the loader's iterator is made. A process that starts epochs itself, after a fork or spawn
    (a rank, a run of its own), has targets of its own from then on.

    An item of the data set becomes, with target y (an int, or a (C,) float tensor of type
    :class:`~hardlabels.adapters.soft_targets.SoftTargets`, which no loss takes for several classes at once and no comparison
    for a class):

    * a mapping: the same with ``key`` set to y, and without old targets. ``label``, ``labels`` and ``label_ids`` are dropped;
      a column of another name that may be a target (``target``, ``y``, ``gold_label``, ...) is refused, unless it is ``key``;
    * a tuple or list (input,) or (input, old label): (input, y);
    * anything else, an input: (input, y).

    Row i of the data set is item i of the votes, and class c is class c. A data set that was shuffled, sorted or selected after
    the votes were collected has other rows; one that numbers its classes in another order has other classes. ``ids`` and
    ``classes`` make sure. Without them, the old labels that are dropped are compared with the majority of the votes: after the
    first pass a ``RuntimeWarning`` tells where they agree no better than by chance, or better with the classes in another order.

    Args:
        dataset: map-style, with as many items as there are votes, in the same order.
        labels: of ``hardlabels.deliver``. A method with examples of its own (``repeated``) makes the data set longer.
        key: where the target goes when items are mappings.
        ids: the id of each item that has votes, in their order (``.items`` of a file of votes). Each row's own id is compared
            with it when the row is read.
        id_key: where a row, a mapping, has its id.
        classes: the names of the votes' classes, in their order (``.class_names`` of a file of votes). A data set or a model of
            Hugging Face that names its classes must name these, in this order.

    >>> from hardlabels import Votes, deliver
    >>> data = Delivered(["first", "second"], deliver(Votes.from_counts([[4, 0], [0, 4]]), "sls", seed=0))
    >>> for epoch in data.epochs(2):
    ...     print(epoch, data[0], data[1])
    0 ('first', 0) ('second', 1)
    1 ('first', 0) ('second', 1)
    """

    def __init__(
        self,
        dataset: Any,
        labels: Delivery,
        *,
        key: str = "labels",
        ids: Sequence[Any] | None = None,
        id_key: str = "id",
        classes: Sequence[str] | None = None,
    ):
        if not isinstance(labels, Delivery):
            raise InputError(f"labels must be what hardlabels.deliver returns, got {type(labels).__name__}")
        if not isinstance(dataset, Sized) or not hasattr(dataset, "__getitem__"):
            raise InputError(f"expected a data set with a length and items by number, got {type(dataset).__name__}")
        if len(dataset) != len(labels.votes):
            raise InputError(
                f"expected a data set of {len(labels.votes)} items, as many as have votes, got {len(dataset)}: for a part of the "
                "items deliver votes.take(rows), the rows that are in it"
            )
        if ids is not None and len(ids) != len(labels.votes):
            raise InputError(f"expected {len(labels.votes)} ids, one for each item that has votes, got {len(ids)}")
        if type(labels).mix is not Delivery.mix:
            raise InputError(
                f"{type(labels).__name__} blends whole batches, which a data set cannot: in your loop, take labels(epoch) by "
                "position and pass each batch through labels.mix(inputs, targets, epoch=..., step=...)"
            )
        self.dataset: Any = dataset
        self.labels, self.key, self.ids, self.id_key = labels, key, ids, id_key
        self.num_classes, self.classes, self._majority = labels.votes.num_classes, classes, labels.votes.majority
        if classes is not None and len(classes) != self.num_classes:
            raise InputError(f"expected the names of {self.num_classes} classes, as many as the votes have, got {len(classes)}")
        self.check_classes(_named_classes(dataset), "the data set")
        self._shown = _Shown(torch.from_numpy(labels(0)), epoch=-1, classes=self.num_classes)
        self._length = len(self._shown.targets)

    @property
    def epoch(self) -> int:
        """The epoch whose targets are shown; -1 before the first."""
        return int(self._shown.epoch)

    @property
    def reads(self) -> int:
        """How many items were read so far, by all workers (a few less, where they read at the same time)."""
        return int(self._shown.reads)

    @property
    def soft(self) -> bool:
        """Whether a target is a distribution, not a class."""
        return self._shown.targets.ndim == 2

    # Not ``set_epoch``: Hugging Face's accelerate calls a data set's method of that name by itself, with its own count of
    # iterations, which is 0 again when an epoch goes on in its middle after a resume.
    def start_epoch(self, epoch: int) -> None:
        """Show the targets of this epoch from now on, in this process and in its workers."""
        epoch = checked_epoch(epoch)
        if self._shown.process != os.getpid():
            # Another run, or another rank, than the one that built the data set: it must not turn the page for both.
            self._shown = _Shown(self._shown.targets, self.epoch, classes=self.num_classes)
        if epoch != self.epoch:
            self._shown.targets.copy_(torch.from_numpy(self.labels(epoch)))
            self._shown.epoch.fill_(epoch)
        self._shown.reads_before.copy_(self._shown.reads)

    @property
    def transform(self) -> Any:
        """What the data set below makes of each item, where it has a transform.

        Some libraries set it on the data set that they are given, as timm's ``create_loader`` does: it has to arrive below.
        """
        return self.dataset.transform

    @transform.setter
    def transform(self, transform: Any) -> None:
        if not hasattr(self.dataset, "transform"):
            raise InputError(
                f"a transform was set on the delivered data set, and {type(self.dataset).__name__} below has none: set it on the "
                "data set that reads the items"
            )
        self.dataset.transform = transform

    def epochs(self, stop: int, start: int = 0) -> Iterator[int]:
        """``range(start, stop)``, with the targets of each epoch in place when it begins."""
        for epoch in range(start, stop):
            self.start_epoch(epoch)
            yield epoch

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Any:
        if self.epoch < 0:
            raise RuntimeError("no epoch was started: call start_epoch(epoch) before each epoch, or loop over epochs(stop)")
        example = self._checked_index(index)
        self._count_read()
        row = self._shown.targets[example]
        # A copy: a view of shared memory would change under a batch that is kept over the end of its epoch.
        target = row.clone() if row.ndim else int(row)
        number = example if self.labels.items is None else int(self.labels.items[example])
        item = self.dataset[number]
        if self.ids is not None:
            self._check_id(item, number)
        self._compare_old_label(item, number)
        return with_target(item, target, key=self.key, classes=self.num_classes, where=f"item {number}")

    def check_classes(self, names: Sequence[str] | None, whose: str) -> None:
        """Refuse classes with other names than ``classes``, or in another order; nothing where either has no names."""
        if names is None or self.classes is None:
            return
        if [spelling(str(name)) for name in names] != [spelling(str(name)) for name in self.classes]:
            raise InputError(
                f"{whose} has the classes {', '.join(map(str, names)):.200}, the votes have {', '.join(self.classes):.200}: "
                "expected the same ones in the same order; read the votes with that order (classes=..., or --classes)"
            )

    def _checked_index(self, index: Any) -> int:
        try:
            example = whole_number(index)
        except TypeError:  # a list of rows is one item for some data sets, many for others
            raise InputError(f"items are read one by one: expected a whole number, got {index!r}") from None
        if not -self._length <= example < self._length:
            raise IndexError(f"expected an index below {self._length}, got {example}")
        return example % self._length

    def _check_id(self, item: Any, number: int) -> None:
        if not isinstance(item, Mapping) or self.id_key not in item:
            raise InputError(f"item {number}: expected a mapping with its id as {self.id_key!r}, to compare with ids")
        found, expected = _id(item[self.id_key]), _id(self.ids[number])  # type: ignore[index]
        if found != expected:
            raise InputError(
                f"row {number} of the data set has id {found!r}, item {number} of the votes is {expected!r}: bring both into one "
                "order, for instance with votes.take(positions)"
            )

    def _compare_old_label(self, item: Any, number: int) -> None:
        """Count with which label of its own an item comes; late in the first pass, tell where these are not the votes'."""
        table = self._shown.old_labels
        if table is None or self._shown.compared or (old := old_class(item, key=self.key)) is None or not 0 <= old < len(table):
            return
        table[int(self._majority[number]), old] += 1
        if int(self._shown.reads) >= NEARLY_ALL * self._length:
            self._shown.compared.fill_(True)
            if (found := disagreement(table.numpy())) is not None:
                hint = "than those of the votes, or in another order? Delivered(ids=..., classes=...) makes sure"
                warnings.warn(f"{found} {hint}", RuntimeWarning, stacklevel=3)

    def _count_read(self) -> None:
        """Warn where the data are gone through for the third time in an epoch, and that epoch should show other labels."""
        reads = int(self._shown.reads.add_(1)) - int(self._shown.reads_before)
        whole_passes, begun = divmod(reads - 1, self._length)
        if begun == 0 and whole_passes >= 2:
            epoch = self.epoch
            if not np.array_equal(self.labels(epoch), self.labels(epoch + whole_passes)):
                warnings.warn(
                    f"all items were read {whole_passes} times in epoch {epoch}, with the same labels: call "
                    "start_epoch(epoch) before each epoch, or loop over epochs(stop)",
                    RuntimeWarning,
                    stacklevel=3,
                )


class _Shown:
    """What is shown now, in memory that a process shares with its workers."""

    def __init__(self, targets: torch.Tensor, epoch: int, classes: int):
        self.process = os.getpid()
        self.targets = targets.clone().share_memory_()
        self.epoch = torch.tensor(epoch).share_memory_()
        self.reads = torch.tensor(0).share_memory_()
        self.reads_before = torch.tensor(0).share_memory_()  # when the epoch was started
        square = (classes, classes)
        self.old_labels = torch.zeros(square, dtype=torch.int64).share_memory_() if classes <= MOST_CLASSES else None
        self.compared = torch.tensor(False).share_memory_()

    def __setstate__(self, state: dict) -> None:
        """A deep copy or a pickle has memory of its own, which is not shared yet; what a worker gets is."""
        self.__dict__.update(state)
        for tensor in (self.targets, self.epoch, self.reads, self.reads_before, self.old_labels, self.compared):
            if tensor is not None:
                tensor.share_memory_()


def _id(value: Any) -> str:
    """Ids are compared as text: 7, ``tensor(7)`` and ``"7"`` of a file are one."""
    return str(value.item() if hasattr(value, "item") else value)


def _named_classes(dataset: Any) -> Sequence[str] | None:
    """The names of the classes in a data set of Hugging Face whose label is a ``ClassLabel``; else None."""
    features = getattr(dataset, "features", None)
    named = [
        getattr(features[name], "names", None) for name in TARGET_COLUMNS if isinstance(features, Mapping) and name in features
    ]
    return next((names for names in named if names), None)
