"""Random crops and mirroring of a whole batch at once, with the random numbers given.

What happens to an item in an epoch is drawn for all items at once from (seed, epoch): the draw belongs to the item, not to the
batch that it lands in, so another batch size, world size, method or a resumed run sees the same images.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from hardlabels.randomness import stream

ASPECTS = (3 / 4, 4 / 3)
"""Width over height of a random resized crop, as torchvision draws it."""
ATTEMPTS = 10


def draw_crops(n: int, *, seed: int, epoch: int, padding: int, flip: bool, slack: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Where each of n items is cropped in this epoch, and whether it is mirrored.

    Args:
        n: number of items.
        seed: of the run.
        epoch: that is about to start.
        padding: zeros on each side of the image before it is cropped.
        flip: whether items may be mirrored.
        slack: how much smaller the window is than the image, in pixels a side.

    Returns:
        shift: (n, 2) int64, top and left of the crop in the padded image, 0 .. slack + 2 * padding.
        mirrored: (n,) bool.
    """
    rng = stream(seed, "augment", epoch)
    shift = rng.integers(0, slack + 2 * padding + 1, size=(n, 2))
    return shift, (rng.random(n) < 0.5) & flip


def draw_boxes(n: int, *, seed: int, epoch: int, side: int, scale: tuple[float, float]) -> np.ndarray:
    """The window of each of n square images in this epoch for a random resized crop, drawn by the law of torchvision's.

    A share of the area, uniform in ``scale``, and an aspect ratio, log-uniform in 3/4 .. 4/3, are drawn until a window of that
    area and aspect fits; after ten attempts it is the whole image. Its place is uniform.

    Returns:
        (n, 4) int64: top, left, height, width.

    >>> top, left, height, width = draw_boxes(1000, seed=0, epoch=0, side=32, scale=(0.25, 1.0)).T
    >>> bool((top + height).max() <= 32), bool((left + width).max() <= 32), bool((height * width).min() > 0.2 * 32**2)
    (True, True, True)
    """
    rng = stream(seed, "resized crop", epoch)
    area = side**2 * rng.uniform(*scale, size=(n, ATTEMPTS))
    aspect = np.exp(rng.uniform(math.log(ASPECTS[0]), math.log(ASPECTS[1]), size=(n, ATTEMPTS)))
    widths, heights = (np.rint(np.sqrt(value)).astype(np.int64) for value in (area * aspect, area / aspect))
    fits = (widths >= 1) & (widths <= side) & (heights >= 1) & (heights <= side)
    first = (np.arange(n), fits.argmax(1))  # of the attempts that fit
    height, width = (np.where(fits.any(1), sizes[first], side) for sizes in (heights, widths))
    top, left = (rng.integers(0, side - size + 1) for size in (height, width))
    return np.stack([top, left, height, width], axis=1)


def crop_and_flip(images: Tensor, shift: Tensor, mirrored: Tensor, padding: int, window: tuple[int, int] | None = None) -> Tensor:
    """Zero-pad each image, cut a window at ``shift``, mirror where asked.

    Args:
        images: (B, H, W, C), any dtype.
        shift: (B, 2) int64, top and left.
        mirrored: (B,) bool.
        padding: zeros added on each side.
        window: its height and width; None cuts one of the images' own size.

    Returns:
        (B, height, width, C).

    >>> image = torch.arange(1, 5).view(1, 2, 2, 1)
    >>> crop_and_flip(image, torch.tensor([[1, 2]]), torch.tensor([False]), padding=1).view(2, 2).tolist()
    [[2, 0], [4, 0]]
    """
    padded = F.pad(images, (0, 0, padding, padding, padding, padding))
    rows = torch.arange(len(images), device=images.device)
    cropped = _cut(padded, rows, shift, window or (images.shape[1], images.shape[2]))
    return _where_item(mirrored, cropped.flip(2), cropped)


class Views(NamedTuple):
    """All images of a data set, padded, with the mirrored ones behind: a crop is then a copy, and nothing is computed for it."""

    pixels: Tensor  # (N or 2 N, H + 2 padding, W + 2 padding, C)
    items: int  # N
    padding: int

    @classmethod
    def of(cls, images: Tensor, padding: int, flip: bool) -> "Views":
        """Those of (N, H, W, C) images."""
        both = torch.cat([images, images.flip(2)]) if flip else images
        return cls(F.pad(both, (0, 0, padding, padding, padding, padding)) if padding else both, len(images), padding)

    def crop_and_flip(self, items: Tensor, shift: Tensor, mirrored: Tensor, window: tuple[int, int]) -> Tensor:
        """(B, height, width, C): what the function of this name makes of the images of these items."""
        top, left = shift.unbind(1)
        # What is mirrored after it was cut is cut from the mirrored image, at the place that mirrors its own.
        left = torch.where(mirrored, self.pixels.shape[2] - window[1] - left, left)
        return _cut(self.pixels, items + self.items * mirrored, torch.stack([top, left], 1), window)

    def middle(self, items: Tensor, window: tuple[int, int]) -> Tensor:
        """(B, height, width, C): the middle of the images of these items, upright."""
        top, left = ((self.pixels.shape[axis] - window[axis - 1]) // 2 for axis in (1, 2))
        return self.pixels.index_select(0, items)[:, top : top + window[0], left : left + window[1]]


def resized_crop(images: Tensor, boxes: Tensor, mirrored: Tensor, size: int) -> Tensor:
    """Cut each image's own window, resize it (bilinear, antialiased, by torchvision), mirror where asked.

    Args:
        images: (B, H, W, C) uint8.
        boxes: (B, 4) int64: top, left, height, width.
        mirrored: (B,) bool.
        size: pixels a side of the result.

    Returns:
        (B, size, size, C) uint8.
    """
    from torchvision.transforms.v2 import functional as TF  # noqa: PLC0415 - a second, for those who ask for it

    if not len(images):  # of several processes, one may have nothing of a small last batch
        return images.new_empty(0, size, size, images.shape[3])
    upright = images.permute(0, 3, 1, 2)  # still channels last in memory, for which torchvision's kernel is fastest
    windows = zip(upright, boxes.tolist(), strict=True)
    resized = [TF.resized_crop(image, *box, size=[size, size], antialias=True) for image, box in windows]
    cropped = torch.stack(resized).permute(0, 2, 3, 1).contiguous()
    return _where_item(mirrored, cropped.flip(2), cropped)


def _cut(images: Tensor, rows: Tensor, shift: Tensor, window: tuple[int, int]) -> Tensor:
    """(B, height, width, C): a window of each of these rows, its top left corner at ``shift``."""
    (height, width), channels = window, images.shape[3]
    # Every window as a view: (N, top, left, height, width * C), rows of width * C neighbours in memory.
    windows = images.flatten(2).unfold(1, height, 1).unfold(2, width * channels, channels)
    place = (rows, shift[:, 0], shift[:, 1])
    if images.device.type == "cpu":
        # numpy copies whole rows, torch one element after the other: five times slower for bytes.
        cropped = torch.from_numpy(windows.numpy()[tuple(index.numpy() for index in place)])
    else:
        cropped = windows[place]
    return cropped.view(len(rows), height, width, channels)


def _where_item(mask: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """``torch.where`` by item, (B,) against (B, ...): eight bytes at a time where the items' size allows it, which is faster."""
    a, b = first.flatten(1), second.flatten(1)
    if a.shape[1] * a.element_size() % 8 == 0:
        a, b = a.view(torch.int64), b.view(torch.int64)
    return torch.where(mask[:, None], a, b).view(first.dtype).view(first.shape)


def row_constants(mean: Tensor, std: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """What a row of ``width`` pixels is multiplied by, and what is then taken away, (width * C,) each: see :func:`normalise`."""
    return (1 / (255 * std)).repeat(width), (mean / std).repeat(width)


def normalise(images: Tensor, mean: Tensor, std: Tensor, constants: tuple[Tensor, Tensor] | None = None) -> Tensor:
    """uint8 (B, H, W, C) to float (B, C, H, W): (x / 255 - mean) / std per channel. Vectors (B, d): (x - mean) / std per feature.

    Token ids (B, parts, L) stay as they are.

    The result is a permuted view, so its memory is channels-last: what convolutions prefer, at no cost. ``constants`` are the
    :func:`row_constants` of images of this width, where somebody has them already.

    >>> normalise(torch.tensor([[5.0, 1.0]]), torch.tensor([1.0, 1.0]), torch.tensor([2.0, 1.0])).tolist()
    [[2.0, 0.0]]
    """
    if images.ndim == 3:
        return images
    if images.ndim == 2:
        return (images - mean.to(images.dtype)) / std.to(images.dtype)
    b, h, w, c = images.shape
    # Row by row, with the constants repeated: vectorised, which a last dimension of 3 would not be.
    factor, offset = constants or row_constants(mean, std, w)
    rows = images.reshape(b * h, w * c).float().mul_(factor).sub_(offset)
    return rows.view(b, h, w, c).permute(0, 3, 1, 2)
