"""What Hugging Face's ``Trainer`` needs to train on delivered labels: their epoch, batches with soft targets, and the loss."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
import torch.nn.functional as F

from hardlabels.adapters.dataset import Delivered
from hardlabels.adapters.items import TARGET_COLUMNS
from hardlabels.adapters.soft_targets import SoftTargets
from hardlabels.errors import InputError

TrainerCallback: Any = None
default_data_collator: Any = None
with suppress(ImportError):  # an extra: this module can be read without it
    from transformers import TrainerCallback, default_data_collator


def trainer_parts(data: Delivered, *, collator: Callable[[list], Any] | None = None) -> dict[str, Any]:
    """The arguments of a ``Trainer`` that deliver ``data``: ``Trainer(..., train_dataset=data, **trainer_parts(data))``.

    With them soft and hard labels have one loss, the cross-entropy, so that they can be compared. They are
    ``compute_loss_func`` (:class:`CrossEntropy`), ``data_collator`` (:class:`TargetCollator`) and ``callbacks``
    (:class:`EpochCallback`; ``trainer.add_callback`` takes those of your own). Needs transformers 4.46.

    Args:
        data: what the trainer trains on, whole or as a part (``Subset``); its ``key`` must be ``labels``, or
            ``label`` for a collator of one's own that reads it there and writes ``labels``.
        collator: what makes a batch of items, such as ``DataCollatorWithPadding(tokenizer)``; by default
            ``default_data_collator``.
    """
    callback = EpochCallback(data, loss=(loss := CrossEntropy(data.labels.votes.num_classes)))
    return {
        "data_collator": TargetCollator(default_data_collator if collator is None else collator, key=data.key),
        "compute_loss_func": loss,
        "callbacks": [callback],
    }


class CrossEntropy:
    r"""The mean of :math:`H(p_i, q_i) = -\sum_c p_{ic} \log q_{ic}` over items, as ``Trainer(compute_loss_func=...)``.

    ``Trainer`` calls it with the model's outputs, the labels ((B, C) soft, or (B,) hard as in an ordinary evaluation set) and
    ``num_items_in_batch``: how many entries of the labels all batches have that make one step of the optimizer. The sum is
    divided by that number of items, so that accumulated batches, a smaller last one too, have the gradient of one large batch.

    >>> logits = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
    >>> CrossEntropy(2)({"logits": logits}, torch.tensor([[0.75, 0.25], [1.0, 0.0]]))
    tensor(0.6931)
    """

    def __init__(self, num_classes: int):
        self.num_classes = num_classes

    def __call__(self, outputs: Any, labels: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """The loss of a batch."""
        if labels is None:
            raise InputError(
                "the batch has no 'labels': where the model's forward does not name them, Trainer drops them unless "
                "TrainingArguments(label_names=['labels']) says that they are needed"
            )
        logits = outputs["logits"] if isinstance(outputs, Mapping) else outputs[0]
        if logits.ndim != 2 or logits.shape[1] != self.num_classes:
            raise InputError(
                f"expected logits of shape (batch, {self.num_classes}), as many classes as the votes have, got "
                f"{tuple(logits.shape)}: set num_labels={self.num_classes} in the model's configuration"
            )
        labels = labels.as_subclass(torch.Tensor).to(logits.device)
        soft = labels.is_floating_point()
        if labels.shape != (logits.shape if soft else logits.shape[:1]):
            raise InputError(
                f"expected labels for logits of shape {tuple(logits.shape)}, got {tuple(labels.shape)} {labels.dtype}"
            )
        if num_items_in_batch is None:
            return F.cross_entropy(logits.float(), labels)
        # Trainer counts entries, and a soft target has C of them.
        items = num_items_in_batch / (self.num_classes if soft else 1)
        return F.cross_entropy(logits.float(), labels, reduction="sum") / items


class TargetCollator:
    """Makes batches with another collator and puts the soft targets into them as they are.

    Collators that pad cannot take tensors beside lists of tokens, and those of others make a tensor of ``example["label"]``.
    So the other one sees each item's place in the batch as its label. In the batch these places tell which item is where, also
    after a collator that sorts by length or leaves items out. Items with hard labels are left to the other one altogether.

    Args:
        collator: makes a batch, a mapping with ``labels``, of items with classes as labels.
        key: where items have their target, the ``key`` of ``Delivered``; a batch of ``Trainer`` has it as ``labels``.
    """

    def __init__(self, collator: Callable[[list], Any], *, key: str = "labels"):
        self.collator, self.key = collator, key

    def __call__(self, items: Sequence[Any]) -> Any:
        """The batch, a mapping with ``labels``."""
        soft = isinstance(items[0], Mapping) and isinstance(items[0].get(self.key), SoftTargets)
        batch = self._collated([{**item, self.key: place} for place, item in enumerate(items)] if soft else list(items))
        if soft:
            name = "labels" if isinstance(batch, Mapping) and "labels" in batch else self.key
            batch[name] = torch.stack([items[place][self.key] for place in self._places(batch, name, len(items))])
        return batch

    def _collated(self, items: list[Any]) -> Any:
        try:
            return self.collator(items)
        except KeyError as error:
            if error.args[0] not in TARGET_COLUMNS:
                raise
            raise InputError(
                f"the collator reads {error.args[0]!r}, and the delivered target is {self.key!r}: expected "
                f"Delivered(..., key={error.args[0]!r})"
            ) from error
        except ValueError as error:
            if self.collator is not default_data_collator or not _ragged(items):
                raise
            raise InputError(
                "items have different lengths, which default_data_collator cannot put into one tensor: expected "
                "trainer_parts(data, collator=DataCollatorWithPadding(tokenizer))"
            ) from error

    def _places(self, batch: Any, name: str, items: int) -> list[int]:
        """Where each row of the batch comes from; refused where the collator has made something else of the labels."""
        labels = batch.get(name) if isinstance(batch, Mapping) else None
        places = [] if labels is None else torch.as_tensor(labels).flatten().tolist()
        if labels is None or len(places) != len(labels) or any(place not in range(items) for place in places):
            shown = f"of type {type(batch).__name__} {list(batch)!r:.200}" if labels is None else f"with {name!r} {labels!r:.100}"
            raise InputError(
                f"expected a collator that gives a mapping with the class of each item as 'labels', got one {shown}: what "
                "blends, encodes or drops labels cannot be used with soft ones"
            )
        return [int(place) for place in places]


class EpochCallback(TrainerCallback or object):  # type: ignore[misc]
    """Tells ``data`` the trainer's epoch: ``Trainer(..., train_dataset=data, callbacks=[EpochCallback(data)])``.

    ``Trainer`` calls ``on_epoch_begin`` before it makes the loader's iterator. Hard labels need nothing else: a classification
    model takes them as ``labels``. Soft ones need :func:`trainer_parts` and are refused without, since such models take float
    labels for several classes at once.

    Args:
        data: what the trainer trains on.
        loss: the trainer's ``compute_loss_func``; ``None``: the model's own loss.
    """

    def __init__(self, data: Delivered, *, loss: CrossEntropy | None = None):
        if TrainerCallback is None:
            raise InputError("EpochCallback is for Hugging Face's Trainer, not installed here: pip install 'transformers[torch]'")
        if data.soft and loss is None:
            raise InputError(
                f"{type(data.labels).__name__} shows soft targets, which a model's own loss takes for several classes at once: "
                "use Trainer(..., train_dataset=data, **trainer_parts(data)), which has the cross-entropy H(p, q)"
            )
        if data.key not in ("labels", "label"):
            raise InputError(f"Trainer reads the target from 'labels': expected Delivered(..., key='labels'), got {data.key!r}")
        self.data, self.loss = data, loss
        self._next, self._reads = 0, data.reads

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Samplers that group items by length read them before the training begins."""
        self.data.start_epoch(max(self.data.epoch, 0))

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The first epoch, after a resume too. Some versions fetch batches before it begins, to find their place."""
        if self.loss is not None and args.label_smoothing_factor:
            raise InputError(
                "label_smoothing_factor has no effect on compute_loss_func: leave it 0, or deliver 'label_smoothing'"
            )
        model = kwargs.get("model")
        config = getattr(getattr(model, "module", model), "config", None)
        if self.loss is None and config is not None and _regression(config):
            raise InputError(
                "the model is set to regression (num_labels=1 or problem_type='regression') and would take class numbers for "
                f"quantities: expected num_labels={self.data.labels.votes.num_classes}"
            )
        if config is not None:
            self._check_model(config)
        self._next, self._reads = epoch_of(state.epoch), self.data.reads
        self.data.start_epoch(self._next)

    def _check_model(self, config: Any) -> None:
        """Refuse a model for another number of classes than the votes have, or that names them in another order."""
        found, expected = getattr(config, "num_labels", None), self.data.num_classes
        if found is not None and found != expected:
            raise InputError(f"the model has num_labels={found}: expected {expected}, as many classes as the votes have")
        names = getattr(config, "id2label", None)
        # Scripts name classes by their numbers where a data set has no names: these say no more than LABEL_0 does.
        if names and not all(str(name) in (f"LABEL_{place}", str(place)) for place, name in names.items()):
            self.data.check_classes([names[place] for place in sorted(names, key=int)], "the model's id2label")

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Epochs are counted here: ``state.epoch`` is short of the next one when an epoch was stopped early."""
        self.data.start_epoch(self._next)
        self._next += 1

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A trainer that was given other data has trained on other labels."""
        if state.is_world_process_zero and self.data.reads == self._reads:
            raise InputError(
                f"epoch {self.data.epoch} read nothing from the delivered data set: expected Trainer(train_dataset=data)"
            )
        self._reads = self.data.reads


def _ragged(items: Sequence[Any]) -> bool:
    """Whether a column has texts, or lists of tokens, of different lengths."""
    return any(
        len({len(item[name]) for item in items if hasattr(item.get(name), "__len__")}) > 1
        for name in items[0]
        if isinstance(items[0], Mapping)
    )


def _regression(config: Any) -> bool:
    return getattr(config, "problem_type", None) == "regression" or getattr(config, "num_labels", None) == 1


def epoch_of(progress: float | None) -> int:
    """The epoch that begins or goes on, of ``state.epoch``: epochs done, with a fraction after a resume in the middle of one.

    >>> [epoch_of(progress) for progress in (None, 0, 1.0, 2.5, 2.9999999996)]
    [0, 0, 1, 2, 3]
    """
    return int((progress or 0) + 1e-6)  # a sum of fractions may fall short of a whole number by a rounding
