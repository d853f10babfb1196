"""Augmentations of one's own: any transform of torchvision, seeded for each item and epoch."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from hardlabels.errors import InputError
from hardlabels.learning.batches import Batch
from hardlabels.randomness import stream
from hardlabels.sources.source import Source

Transform = Callable[[Tensor], Tensor]
"""(C, H, W) uint8 to the same, drawing from torch's own generator: what the transforms of ``torchvision.transforms.v2`` do."""


class OwnAugmentation:
    """A transform for the training images, applied to each as it is stored, before it is cropped and mirrored.

    What happens to an item in an epoch follows from (seed, epoch) alone: torch's generator is seeded for every single image, and
    given back as it was. So another batch size, other workers and a resumed run see the same images.

    Args:
        transform: such as ``torchvision.transforms.v2.RandAugment()``.
        seed: of the run.
        examples: number of training examples.
    """

    def __init__(self, transform: Transform, *, seed: int, examples: int):
        self.transform, self.seed, self.examples = transform, seed, examples

    def __call__(self, images: np.ndarray, batch: Batch) -> np.ndarray:
        """(B, H, W, C) uint8: the images of a training batch, transformed."""
        seeds = draw_seeds(self.examples, seed=self.seed, epoch=batch.epoch)[batch.position.numpy()]
        return transform_each(images, self.transform, seeds)


@lru_cache(maxsize=1)
def draw_seeds(n: int, *, seed: int, epoch: int) -> np.ndarray:
    """(n,) a seed of torch's generator for each of n items in this epoch.

    >>> bool((draw_seeds(3, seed=0, epoch=1) == draw_seeds(3, seed=0, epoch=1)).all())
    True
    """
    return stream(seed, "own augmentation", epoch).integers(2**63 - 1, size=n)


def transform_each(images: np.ndarray, transform: Transform, seeds: np.ndarray) -> np.ndarray:
    """Each image by the transform, with torch's generator at its own seed; afterwards the generator is where it was.

    >>> images = np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1)
    >>> transform_each(images, lambda image: image.flip(-1), np.array([7]))[0, 0, :, 0].tolist()
    [3, 2, 1, 0]
    """
    if not len(images):  # of several processes, one may have nothing of a small last batch
        return images
    with torch.random.fork_rng(devices=[]):
        shown = []
        for image, seed in zip(torch.from_numpy(images).permute(0, 3, 1, 2), seeds.tolist(), strict=True):
            torch.default_generator.manual_seed(seed)
            shown.append(transform(image.contiguous()))
    return np.ascontiguousarray(torch.stack(shown).permute(0, 2, 3, 1).numpy())


def check_transform(transform: Transform, source: Source) -> None:
    """Refuse a transform that does not give an image like the one it was given, or not the same one for the same seed."""
    if not source.has_images:
        instead = "; a frozen encoder sees each image once: recipe=image_finetune" if source.kind == "vectors" else ""
        raise InputError(f"recipe.augment is for images, and the items of {source.name!r} are {source.kind}{instead}")
    image, seeds = np.array(source.inputs[:1]), np.array([0])
    name = type(transform).__name__
    try:
        first, again = (transform_each(image, transform, seeds) for _ in range(2))
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise InputError(f"recipe.augment: {name} does not take an image of the data: {' '.join(str(error).split())}") from error
    if first.shape != image.shape or first.dtype != np.uint8:
        raise InputError(
            f"recipe.augment: {name} must give an image like the one it is given, {image.shape[1:]} uint8, got {first.shape[1:]} "
            f"{first.dtype} (data.crop and data.scale cut windows; pixels are normalised later)"
        )
    if not np.array_equal(first, again):
        raise InputError(f"recipe.augment: {name} must draw from torch's generator alone, and gave two images for one seed")
