"""One LightningModule for all methods: it never asks which one runs."""

import math
from collections.abc import Callable, Iterable
from typing import cast

import torch
from lightning import LightningModule
from torch import Tensor, nn
from torch.nn import functional as F
from torchmetrics import MetricCollection

from hardlabels.learning.datamodule import DeliveryDataModule, Evaluation, Training


def cosine(epoch: int, epochs: int) -> float:
    r"""Share of the peak learning rate in this epoch: :math:`\tfrac12 (1 + \cos(\pi t / T))`, stepped per epoch.

    A function of the epoch, not a scheduler with a state: a resumed run has the right rate without loading one.

    >>> [round(cosine(t, 4), 3) for t in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """
    return (1 + math.cos(math.pi * epoch / epochs)) / 2


class Classifier(LightningModule):
    """A network trained with cross-entropy on whatever the delivery emits, scored against the annotators every epoch.

    ``cross_entropy`` takes (B,) hard labels and (B, C) distributions alike.

    Args:
        network: inputs to logits (B, C).
        optimizer: builds the optimizer from the parameters.
        epochs: T of the cosine schedule.
        metrics: builds the collection of metrics; called once for each part and slice.
        scored: the (part, slice) pairs to score, such as ("evaluate", "full").

    Attributes:
        epoch_metrics: name to value, of the epoch that just ended. One dictionary an epoch instead of ``self.log``, which costs
            more than a millisecond a name.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer],
        *,
        epochs: int,
        metrics: Callable[[], MetricCollection],
        scored: Iterable[tuple[str, str]],
    ):
        super().__init__()
        self.network = network
        self.epochs = epochs
        self._make_optimizer = optimizer
        # ModuleDict keys may not hold a dot, and slashes keep them readable: "evaluate/high_disagreement".
        self.scores = nn.ModuleDict({f"{part}/{name}": metrics() for part, name in scored})
        self._parts = list(dict.fromkeys(part for part, _ in scored))
        self.epoch_metrics: dict[str, float] = {}

    def forward(self, inputs: Tensor) -> Tensor:
        """Inputs to logits."""
        return self.network(inputs)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The optimizer; its learning rate is set at every epoch start."""
        optimizer = self._make_optimizer(self.network.parameters())
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
        return optimizer

    def on_train_epoch_start(self) -> None:
        """The epoch-start hook: reload the labels, set the learning rate."""
        datamodule: DeliveryDataModule = self.trainer.datamodule  # type: ignore[attr-defined]
        datamodule.start_epoch(self.current_epoch)
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = group["initial_lr"] * cosine(self.current_epoch, self.epochs)
        self._loss_sum, self._seen = torch.zeros((), device=self.device), 0

    def training_step(self, batch: Training, batch_idx: int) -> Tensor:
        """H(target, q), averaged over the batch of all processes: their gradients are averaged, so a share counts by its size."""
        loss_sum = F.cross_entropy(self.network(batch.inputs).float(), batch.target, reduction="sum")
        # Summed on the device and logged once an epoch: a per-step log would wait for the device at every step.
        self._loss_sum += loss_sum.detach()
        self._seen += len(batch.inputs)
        return loss_sum / (batch.total / self.trainer.world_size)

    def on_train_epoch_end(self) -> None:
        """Mean training loss of the epoch, over examples."""
        total = torch.stack([self._loss_sum, self._loss_sum.new_tensor(self._seen)])
        loss_sum, seen = self.trainer.strategy.reduce(total, reduce_op="sum").tolist()
        self.epoch_metrics["train/loss"] = loss_sum / seen

    def validation_step(self, batch: Evaluation, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Accumulate predictions; nothing is averaged over batches."""
        logits, part = self.network(batch.inputs).float(), self._parts[dataloader_idx]
        for name, (mask, target) in batch.views.items():
            cast(MetricCollection, self.scores[f"{part}/{name}"]).update(logits[mask], target[mask])

    def on_validation_epoch_end(self) -> None:
        """Score every part and slice on all of its predictions: ``evaluate/soft_nll``, ``evaluate/non_unanimous/soft_nll``."""
        for where, scores in self.scores.items():
            collection, prefix = cast(MetricCollection, scores), where.removesuffix("/full")
            self.epoch_metrics |= {f"{prefix}/{name}": float(value) for name, value in collection.compute().items()}
            collection.reset()
