"""What we compare with: the pipeline of a Lightning tutorial. PIL transforms, DataLoader workers, NCHW, per-step logs."""

import numpy as np
import torch
from lightning import LightningModule
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import MulticlassAccuracy
from torchvision import transforms

from hardlabels.sources.source import Source


class Images(Dataset):
    """Images as PIL through torchvision's transforms, with a fixed label."""

    def __init__(self, source: Source, items: np.ndarray):
        self.images, self.labels = source.inputs[items], source.votes.majority[items]
        self.transform = transforms.Compose(
            [
                transforms.RandomCrop(source.inputs.shape[1], padding=source.crop_padding),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize(source.mean, source.std),
            ]
        )

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.transform(Image.fromarray(self.images[index])), int(self.labels[index])


def loader(source: Source, items: np.ndarray, batch_size: int) -> DataLoader:
    """Two persistent workers, shuffled."""
    return DataLoader(Images(source, items), batch_size, shuffle=True, num_workers=2, persistent_workers=True)


class Tutorial(LightningModule):
    """A module that logs its loss and accuracy at every step."""

    def __init__(self, network: nn.Module, classes: int):
        super().__init__()
        self.network, self.accuracy = network, MulticlassAccuracy(classes)

    def training_step(self, batch: tuple[Tensor, Tensor], batch_idx: int) -> Tensor:
        inputs, target = batch
        logits = self.network(inputs)
        loss = F.cross_entropy(logits, target)
        self.log("train/loss", loss, on_step=True, on_epoch=True)
        self.log("train/accuracy", self.accuracy(logits, target), on_step=True, on_epoch=True)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
