"""One LightningModule for all methods: it never asks which one runs."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import torch
from lightning import LightningModule
from torch import Tensor, nn
from torch.nn import functional as F
from torchmetrics import Metric

from hardlabels.errors import InputError
from hardlabels.learning.datamodule import DeliveryDataModule, Evaluation, Training
from hardlabels.learning.networks import build_network, unpack_lists

Function = TypeVar("Function", bound=Callable[..., Any])


def cosine(epoch: int, epochs: int) -> float:
    r"""Share of the peak learning rate in this epoch: :math:`\tfrac12 (1 + \cos(\pi t / T))`, stepped per epoch.

    A function of the epoch, and no ``LambdaLR``, which is the same function with a state: checkpoints are taken at the end of an
    epoch, before Lightning steps its schedulers, and a resumed run would begin with the rate of the epoch before.

    >>> [round(cosine(t, 4), 3) for t in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """
    return (1 + math.cos(math.pi * epoch / epochs)) / 2


@runtime_checkable
class ByEpoch(Protocol):
    """A network of which not all is trained in every epoch.

    Where its attribute ``trains_in_parts`` is there and false, all of it is. A network without ``start_epoch`` may have this
    attribute too: true says that some of its weights never have a gradient, which several processes must know.
    """

    def start_epoch(self, epoch: int) -> None:
        """Called before the first batch of the epoch. What it does must follow from the epoch alone: a run may be resumed."""


@dataclass
class LossSoFar:
    """The training loss of an epoch, summed over the examples that were seen."""

    total: Tensor  # () on the device
    examples: int = 0


def signed(function: Function) -> Function:
    """The function, with its signature looked up once: Lightning asks for it at every step."""
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return function


class Classifier(LightningModule):
    """A network trained with cross-entropy on whatever the delivery emits, scored against the annotators every epoch.

    ``cross_entropy`` takes (B,) hard labels and (B, C) distributions alike.

    A checkpoint of a run holds the arguments from ``class_names`` on, and what the network was built from, so that
    ``Classifier.load_from_checkpoint(path)`` needs nothing else. They are in ``hparams``.

    Args:
        network: inputs to logits (B, C); or what :func:`~hardlabels.learning.networks.build_network` builds it from.
        optimizer: builds the optimizer from the parameters; None for a network that is not trained.
        epochs: T of the cosine schedule.
        scores: what scores the predictions of each part, in the order of the loaders, such as
            :class:`~hardlabels.metrics.accumulate.Scores`: it takes logits and items, and computes a value for each of its names.
        logged: names in ``epoch_metrics`` that go through ``self.log``, so that callbacks such as ``EarlyStopping`` see them.
        built_from: ``_target_`` and settings of a network that was built already.
        class_names: C names, in the order of the logits.
        preprocessing: what :func:`~hardlabels.learning.networks.describe_items` says.
        temperature: by which logits are divided to fit the annotators best; None where none was fitted.
        temperature_from: the part whose items it was fitted on: ``select``, or ``evaluate`` where a split has no other.
        trained_as: what the run was: its coordinates and fingerprint.

    Attributes:
        epoch_metrics: name to value, of the epoch that just ended. One dictionary per epoch; ``self.log`` costs more than a
            millisecond for each name.
    """

    def __init__(
        self,
        network: nn.Module | Mapping[str, Any],
        optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] | None = None,
        *,
        epochs: int = 1,
        scores: Mapping[str, Metric] | None = None,
        logged: Iterable[str] = (),
        built_from: Mapping[str, Any] | None = None,
        class_names: Sequence[str] = (),
        preprocessing: Mapping[str, Any] | None = None,
        temperature: float | None = None,
        temperature_from: str | None = None,
        trained_as: Mapping[str, Any] | None = None,
    ):
        super().__init__()
        if not isinstance(network, nn.Module):
            built_from, network = network, build_network(network)
        carried = {
            "network": None if built_from is None else dict(built_from),
            "class_names": list(class_names),
            "preprocessing": None if preprocessing is None else unpack_lists(preprocessing),
            "temperature": temperature,
            "temperature_from": temperature_from,
            "trained_as": None if trained_as is None else dict(trained_as),
        }
        self.save_hyperparameters(carried, logger=False)  # loggers are given the whole configuration
        self.network = network
        self.epochs = epochs
        self._make_optimizer = optimizer
        self._logged = tuple(logged)
        self.scores = nn.ModuleDict(scores or {})
        self._parts = list(self.scores)
        self.epoch_metrics: dict[str, float] = {}
        self._so_far = LossSoFar(torch.zeros(()))

    def __setattr__(self, name: str, value: Any) -> None:
        """As every module's, but quick for a text or None in an attribute that is a plain one already.

        Lightning notes before and after each of its hooks which one runs, twenty times per step, and torch would look each time
        whether that is a weight.
        """
        if (value is None or type(value) is str) and name in self.__dict__:
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    def forward(self, inputs: Tensor) -> Tensor:
        """Inputs to logits."""
        return self.network(inputs)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimizer; its learning rate is set at every epoch start."""
        if self._make_optimizer is None:
            raise InputError("this network has no optimizer: Classifier(..., optimizer=...) trains it")
        optimizer = self._make_optimizer(self.network.parameters())
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
        return optimizer

    def on_train_epoch_start(self) -> None:
        """The epoch-start hook: reload the labels, set the learning rate."""
        datamodule: DeliveryDataModule = self.trainer.datamodule  # type: ignore[attr-defined]
        datamodule.start_epoch(self.current_epoch)
        if isinstance(self.network, ByEpoch):
            self.network.start_epoch(self.current_epoch)
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = group["initial_lr"] * cosine(self.current_epoch, self.epochs)
        self._so_far = LossSoFar(torch.zeros((), device=self.device))

    @signed
    def training_step(self, batch: Training, batch_idx: int) -> Tensor:
        """H(target, q), averaged over the batch of all processes: their gradients are averaged, so a share counts by its size."""
        loss_sum = F.cross_entropy(self.network(batch.inputs).float(), batch.target, reduction="sum")
        # Summed on the device and logged once per epoch: a per-step log would wait for the device at every step.
        self._so_far.total += loss_sum.detach()
        self._so_far.examples += len(batch.inputs)
        return loss_sum / (batch.total / self.trainer.world_size)

    def on_train_epoch_end(self) -> None:
        """Mean training loss of the epoch, over examples."""
        so_far = self._so_far
        total = torch.stack([so_far.total, so_far.total.new_tensor(so_far.examples)])
        loss_sum, seen = self.trainer.strategy.reduce(total, reduce_op="sum").tolist()
        self.epoch_metrics["train/loss"] = loss_sum / seen

    @signed
    def validation_step(self, batch: Evaluation, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Accumulate predictions; nothing is averaged over batches."""
        cast(Metric, self.scores[self._parts[dataloader_idx]]).update(self.network(batch.inputs).float(), batch.items)

    def on_validation_epoch_end(self) -> None:
        """Score every part and slice on all of its predictions: ``evaluate/soft_nll``, ``evaluate/non_unanimous/soft_nll``."""
        for part, scores in self.scores.items():
            metric = cast(Metric, scores)
            values = zip(cast(list[str], metric.names), metric.compute().tolist(), strict=True)
            self.epoch_metrics |= {f"{part}/{name}": value for name, value in values}
            metric.reset()
        for name in self._logged:
            self.log(name, self.epoch_metrics[name], logger=False)  # loggers get the whole row
