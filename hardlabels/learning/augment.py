"""Random crop and flip of a whole batch at once, with the random numbers given."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from hardlabels.randomness import stream


def draw_crops(n: int, *, seed: int, epoch: int, padding: int, flip: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where each of n items is cropped in this epoch, and whether it is mirrored.

    The draw belongs to the item, not to the batch it lands in: another batch size, world size or method sees the same crops.

    Returns:
        shift: (n, 2) int64, top and left of the crop in the padded image, 0 .. 2 * padding.
        mirrored: (n,) bool.
    """
    rng = stream(seed, "augment", epoch)
    shift = rng.integers(0, 2 * padding + 1, size=(n, 2))
    return shift, (rng.random(n) < 0.5) & flip


def crop_and_flip(images: Tensor, shift: Tensor, mirrored: Tensor, padding: int) -> Tensor:
    """Zero-pad each image, cut the window of its original size at ``shift``, mirror where asked.

    Args:
        images: (B, H, W, C), any dtype.
        shift: (B, 2) int64, top and left, 0 .. 2 * padding.
        mirrored: (B,) bool.
        padding: zeros added on each side.

    Returns:
        (B, H, W, C).

    >>> image = torch.arange(1, 5).view(1, 2, 2, 1)
    >>> crop_and_flip(image, torch.tensor([[1, 2]]), torch.tensor([False]), padding=1).view(2, 2).tolist()
    [[2, 0], [4, 0]]
    """
    b, h, w, _ = images.shape
    padded = F.pad(images, (0, 0, padding, padding, padding, padding))
    row = shift[:, :1] + torch.arange(h, device=images.device)
    column = torch.arange(w, device=images.device).expand(b, w)
    column = shift[:, 1:] + torch.where(mirrored[:, None], w - 1 - column, column)
    batch = torch.arange(b, device=images.device)
    return padded[batch[:, None, None], row[:, :, None], column[:, None, :]]


def normalise(images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """uint8 (B, H, W, C) to float (B, C, H, W): (x / 255 - mean) / std per channel.

    The result is a permuted view, so its memory is channels-last: what convolutions prefer, at no cost.
    """
    return images.float().mul_(1 / (255 * std)).sub_(mean / std).permute(0, 3, 1, 2)
