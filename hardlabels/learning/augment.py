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
    b, h, w, c = images.shape
    padded = F.pad(images, (0, 0, padding, padding, padding, padding))
    # Every window as a view: (B, top, left, H, W * C), rows of W * C neighbours in memory.
    windows = padded.view(b, h + 2 * padding, -1).unfold(1, h, 1).unfold(2, w * c, c)
    place = (torch.arange(b, device=images.device), shift[:, 0], shift[:, 1])
    if images.device.type == "cpu":
        # numpy copies whole rows, torch one element after the other: five times slower for bytes.
        cropped = torch.from_numpy(windows.numpy()[tuple(index.numpy() for index in place)])
    else:
        cropped = windows[place]
    cropped = cropped.view(b, h, w, c)
    return _where_item(mirrored, cropped.flip(2), cropped)


def _where_item(mask: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """``torch.where`` by item, (B,) against (B, ...): eight bytes at a time where the items' size allows it, which is faster."""
    a, b = first.reshape(len(mask), -1), second.reshape(len(mask), -1)
    if a.shape[1] * a.element_size() % 8 == 0:
        a, b = a.view(torch.int64), b.view(torch.int64)
    return torch.where(mask[:, None], a, b).view(first.dtype).view(first.shape)


def normalise(images: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """uint8 (B, H, W, C) to float (B, C, H, W): (x / 255 - mean) / std per channel. Vectors (B, d): (x - mean) / std per feature.

    Token ids (B, parts, L) stay as they are.

    The result is a permuted view, so its memory is channels-last: what convolutions prefer, at no cost.

    >>> normalise(torch.tensor([[5.0, 1.0]]), torch.tensor([1.0, 1.0]), torch.tensor([2.0, 1.0])).tolist()
    [[2.0, 0.0]]
    """
    if images.ndim == 3:
        return images
    if images.ndim == 2:
        return (images - mean.to(images.dtype)) / std.to(images.dtype)
    b, h, w, c = images.shape
    # Row by row, with the constants repeated: vectorised, which a last dimension of 3 would not be.
    rows = images.reshape(b * h, w * c).float().mul_((1 / (255 * std)).repeat(w)).sub_((mean / std).repeat(w))
    return rows.view(b, h, w, c).permute(0, 3, 1, 2)
