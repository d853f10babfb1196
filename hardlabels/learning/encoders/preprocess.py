"""What an image encoder expects of an image: its size, the crop, the scale of its pixels."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from hardlabels.errors import InputError

INTERPOLATIONS = ("bicubic", "bilinear")
"""Those that are antialiased on tensors; another one (nearest, lanczos, or a random choice) is read as bicubic."""
RGB = 3


@dataclass(frozen=True)
class Preprocessing:
    """How images are brought to the form that an encoder was trained on.

    Args:
        size: side of the square that the encoder sees, in pixels.
        resize: length that the shorter side is brought to before the square is cut out of the middle; at least ``size``.
        mean: of ``pixels / 255``, one per channel.
        std: likewise.
        interpolation: ``bicubic`` or ``bilinear``.
    """

    size: int
    resize: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str = "bicubic"

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Preprocessing":
        """From a mapping that has these values among others, as checkpoints do."""
        taken = {field.name: values[field.name] for field in fields(cls)}
        return cls(**taken | {"mean": tuple(taken["mean"]), "std": tuple(taken["std"])})


def fit(images: Tensor, form: Preprocessing) -> Tensor:
    """Bring images to the encoder's size: shorter side to ``resize``, antialiased, then the square in the middle; no stretching.

    Args:
        images: (B, channels, H, W) float.
        form: what the encoder expects.

    Returns:
        (B, channels, size, size) float.

    >>> import torch
    >>> form = Preprocessing(size=4, resize=4, mean=(0.0,), std=(1.0,))
    >>> wide = torch.arange(8.0).expand(1, 1, 4, 8)
    >>> fit(wide, form)[0, 0, 0].tolist()
    [2.0, 3.0, 4.0, 5.0]
    """
    before = int(images.shape[-2]), int(images.shape[-1])  # TorchScript traces them as tensors
    (height, top), (width, left) = windows(*before, form)
    if (height, width) != before:
        images = F.interpolate(images, (height, width), mode=form.interpolation, antialias=True)
    return images[..., top : top + form.size, left : left + form.size]


def windows(height: int, width: int, form: Preprocessing) -> list[tuple[int, int]]:
    """For each side of an image, the length that it is brought to and where the square begins, rounded as torchvision does it.

    timm and torchvision score their encoders so: a longer side is rounded down, and half of an odd rest to the even number.

    >>> windows(100, 150, Preprocessing(size=224, resize=235, mean=(), std=()))
    [(235, 6), (352, 64)]
    """
    lengths = [form.resize * side // min(height, width) for side in (height, width)]
    return [(length, round((length - form.size) / 2)) for length in lengths]


def as_rgb(images: np.ndarray, name: str) -> np.ndarray:
    """(N, H, W, 3) uint8: images of three channels as they are, those of one channel (grey) repeated.

    >>> as_rgb(np.zeros((2, 4, 4, 1), dtype=np.uint8), "toy").shape
    (2, 4, 4, 3)
    """
    channels = images.shape[-1]
    if channels not in (1, RGB):
        raise InputError(f"image encoders take images of 1 or 3 channels, those of {name!r} have {channels}")
    return images if channels == RGB else np.broadcast_to(images, (*images.shape[:-1], RGB))
