"""Networks for images with a pretrained encoder: a perceptron on its frozen features, and the encoder trained with it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from torch import Tensor, nn

from hardlabels.errors import InputError
from hardlabels.learning.encoders import Prepared
from hardlabels.learning.encoders.features import encode_images, encoded_images, scaled_images
from hardlabels.learning.encoders.image_encoder import DEFAULT, ImageEncoder
from hardlabels.learning.encoders.images import frozen_encoder, open_encoder
from hardlabels.learning.encoders.preprocess import Preprocessing, as_rgb
from hardlabels.learning.mlp import MLP
from hardlabels.sources.source import Source


class ImageHead(MLP):
    """A perceptron on the features of a frozen encoder, which are computed once for a data set: seconds per run.

    Args:
        num_classes: C.
        in_features: d, of the encoder.
        encoder: ``efficientnet-lite``, ``torchvision/NAME``, or a model of timm; see
            :func:`~hardlabels.learning.encoders.images.open_encoder`.
        weights: a file of the encoder's weights; None takes the pretrained ones.
        mirror: encode mirrored images too, where the data allow it: an epoch shows one of the two. False is half of the encoding.
        width: hidden layers have 8 times as many units.
        depth: hidden layers, at least 1.

    >>> ImageHead(num_classes=3, in_features=8, width=1).fc.out_features
    3
    """

    def __init__(
        self,
        num_classes: int,
        in_features: int,
        encoder: str = DEFAULT,
        weights: str | None = None,
        mirror: bool = True,
        width: int = 16,
        depth: int = 1,
    ):
        super().__init__(num_classes, in_features, width, depth)
        self.encoder, self.weights, self.mirror = encoder, weights, mirror

    @staticmethod
    def prepare(source: Source, settings: dict[str, Any]) -> Prepared:
        """The source as this network takes it: vectors, and where images may be mirrored those of the mirrored images."""
        return encoded_images(source, *_chosen(settings), mirror=settings.get("mirror", True))

    @staticmethod
    def encode(images: np.ndarray, settings: dict[str, Any]) -> np.ndarray:
        """(n, d) features of other images by the same encoder."""
        return encode_images(images, *_chosen(settings), what=f"{len(images):,} other images")

    @staticmethod
    def identify(settings: dict[str, Any]) -> str:
        """The encoder's digest."""
        return frozen_encoder(*_chosen(settings))[1]

    @staticmethod
    def describe_encoder(settings: dict[str, Any]) -> dict[str, Any]:
        """Name, file of weights, and the size, crop and scale that the encoder brings images to, as plain values."""
        name, weights = _chosen(settings)
        form = asdict(frozen_encoder(name, weights)[0].form)
        return {"name": name, "weights": weights, **form, "mean": list(form["mean"]), "std": list(form["std"])}


class ImageFinetune(nn.Module):
    """The image encoder, trained with its head.

    Weights of the encoder start from the pretrained ones for every seed; those of the head follow from the seed.

    Args:
        num_classes: C.
        encoder: ``efficientnet-lite``, ``torchvision/NAME``, or a model of timm; see
            :func:`~hardlabels.learning.encoders.images.open_encoder`. Or the encoder itself.
        weights: a file of the encoder's weights; None takes the pretrained ones.
        head_epochs: for so many epochs, from the first one on, only the head is trained.
        width: hidden layers of the head have 8 times as many units.
        depth: hidden layers of the head.
    """

    takes = "images"

    def __init__(
        self,
        num_classes: int,
        encoder: str | ImageEncoder = DEFAULT,
        weights: str | None = None,
        head_epochs: int = 0,
        width: int = 16,
        depth: int = 1,
    ):
        super().__init__()
        if not isinstance(head_epochs, int) or head_epochs < 0:
            raise InputError(f"model.head_epochs must be a whole number of at least 0, got {head_epochs!r:.60}")
        self.encoder = encoder if isinstance(encoder, ImageEncoder) else open_encoder(encoder, weights)
        self.head_epochs = head_epochs
        self.head = MLP(num_classes, in_features=self.encoder.num_features, width=width, depth=depth)

    @classmethod
    def reopen(cls, settings: dict[str, Any], encoder: Mapping[str, Any]) -> "ImageFinetune":
        """The network for weights of a checkpoint, which holds those of the encoder too: nothing else is read or downloaded.

        Args:
            settings: the arguments of the constructor.
            encoder: what :meth:`describe_encoder` said of the encoder when it was trained.
        """
        opened = open_encoder(_chosen(settings)[0], pretrained=False)
        opened.form = Preprocessing.from_plain(encoder)  # timm's own may have changed since
        return cls(**{**settings, "encoder": opened})

    @property
    def fc(self) -> nn.Linear:
        """The last layer."""
        return self.head.fc

    @staticmethod
    def prepare(source: Source, settings: dict[str, Any]) -> Prepared:
        """The source as this network takes it: images of three channels, with the mean and std that the encoder expects."""
        return scaled_images(source, *_chosen(settings))

    @staticmethod
    def encode(images: np.ndarray, settings: dict[str, Any]) -> np.ndarray:
        """(n, H, W, 3) uint8: other images as this network takes them."""
        return as_rgb(images, "other images")

    identify = staticmethod(ImageHead.identify)
    describe_encoder = staticmethod(ImageHead.describe_encoder)

    def map_layer(self) -> str:
        """The layer for Grad-CAM: the encoder's last maps."""
        return f"encoder.{self.encoder.map_layer()}"

    @property
    def trains_in_parts(self) -> bool:
        """Whether some epochs train the head alone."""
        return self.head_epochs > 0

    def start_epoch(self, epoch: int) -> None:
        """Train the encoder too, or only the head."""
        self.encoder.requires_grad_(epoch >= self.head_epochs)

    def train(self, mode: bool = True) -> "ImageFinetune":
        """As every module's, but for the encoder, which stays as it is used: its batch norms keep their statistics.

        Dropout and the like would draw from torch's own generator, so that neither a seed nor an interrupted run would give the
        same result again.
        """
        super().train(mode)
        self.encoder.eval()
        return self

    def features(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to the penultimate features (B, 8 * width)."""
        return self.head.features(self.encoder(images))

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to logits (B, C)."""
        return self.head.fc(self.features(images))


def _chosen(settings: dict[str, Any]) -> tuple[str, str | None]:
    return settings.get("encoder", DEFAULT), settings.get("weights")
