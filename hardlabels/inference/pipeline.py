"""A trained network with its preprocessing as one module of plain tensor operations, which other runtimes can run."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hardlabels.errors import InputError
from hardlabels.inference.model import TrainedModel
from hardlabels.learning.encoders.images import ImageEncoder, frozen_encoder
from hardlabels.learning.encoders.preprocess import RGB, Preprocessing, windows


def resize_matrix(before: int, after: int, interpolation: str) -> Tensor:
    """(after, before): the matrix that antialiased resizing of one side is. It is linear, and the two sides are independent.

    >>> resize_matrix(4, 2, "bilinear").sum(1).tolist()
    [1.0, 1.0]
    """
    # The unit matrix as an image: what resizing its columns gives is the matrix itself.
    return F.interpolate(torch.eye(before)[None, None], (after, before), mode=interpolation, antialias=True)[0, 0]


class Fit(nn.Module):
    """:func:`~hardlabels.learning.encoders.preprocess.fit` for images of one size, as two products with fixed matrices.

    Runtimes other than torch have no antialiased resizing, or another one.

    Args:
        height: of the images.
        width: likewise.
        form: what the encoder expects.
    """

    def __init__(self, height: int, width: int, form: Preprocessing):
        super().__init__()
        for name, side, (after, start) in zip(("rows", "columns"), (height, width), windows(height, width, form), strict=True):
            self.register_buffer(name, resize_matrix(side, after, form.interpolation)[start : start + form.size].contiguous())

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to (B, 3, size, size)."""
        return self.rows @ images @ self.columns.T  # type: ignore[operator]


class Scale(nn.Module):
    """(x / unit - mean) / std by channel or feature.

    Args:
        mean: one per channel (images, (B, channels, H, W)) or feature (vectors, (B, d)).
        std: likewise.
        images: whether these are images.
        unit: 255 for bytes.
    """

    def __init__(self, mean: tuple[float, ...], std: tuple[float, ...], *, images: bool, unit: float = 1.0):
        super().__init__()
        shape = (1, -1, 1, 1) if images else (1, -1)
        self.register_buffer("factor", (1 / (unit * torch.tensor(std))).view(shape))
        self.register_buffer("shift", (torch.tensor(mean) / torch.tensor(std)).view(shape))

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return x * self.factor - self.shift  # type: ignore[operator]


class Pipeline(nn.Module):
    """Items to probabilities (B, C): bytes of images (B, H, W, channels), or vectors (B, d), as they come from a file.

    The encoder of an image network is part of it. A text network's is not: it takes the features that its sentence encoder gives.
    It is on the CPU, and takes network and encoder there: an export is traced with items on the CPU.

    Args:
        model: the trained network.
        calibrated: divide logits by the network's temperature.
    """

    def __init__(self, model: TrainedModel, *, calibrated: bool = False):
        super().__init__()
        how = model.preparation
        if how.takes == "tokens":
            raise InputError(
                "a network with a trained sentence encoder takes tokens, which no graph makes of texts: use --to safetensors"
            )
        if calibrated and model.temperature is None:
            raise InputError(f"{model.path} has no temperature: only the best checkpoint of a run has one")
        self.temperature = model.temperature if calibrated and model.temperature else 1.0
        self.images, self.crop = how.items == "images", how.crop
        steps: list[nn.Module] = []
        if self.images and how.takes == "vectors":
            encoder, _ = frozen_encoder(str((how.encoder or {})["name"]), (how.encoder or {}).get("weights"))
            steps += [Scale(encoder.form.mean, encoder.form.std, images=True, unit=255), *self._encode(encoder, how.shape)]
            steps.append(Scale(how.mean, how.std, images=False))
        else:
            steps.append(Scale(how.mean, how.std, images=self.images, unit=255 if self.images else 1))
        self.grey = self.images and how.encoder is not None and how.shape[2] != RGB
        self.steps = nn.Sequential(*steps, model.network).eval().to("cpu")

    def _encode(self, encoder: ImageEncoder, shape: tuple[int, ...]) -> list[nn.Module]:
        height, width = (self.crop or side for side in shape[:2])
        return [Fit(height, width, encoder.form), encoder.body]

    def forward(self, items: Tensor) -> Tensor:
        """Probabilities (B, C)."""
        x = items
        if self.images:
            if self.crop is not None:
                top, left = ((side - self.crop) // 2 for side in items.shape[1:3])
                x = x[:, top : top + self.crop, left : left + self.crop]
            x = x.permute(0, 3, 1, 2).float()
            x = x.expand(-1, RGB, -1, -1) if self.grey else x
        return torch.softmax(self.steps(x) / self.temperature, 1)
