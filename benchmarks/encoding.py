"""Encoding images with a frozen encoder: how well the cores are used."""

import os
import tempfile
from unittest import mock

import numpy as np

from benchmarks.ratio import Row, seconds
from hardlabels.learning.encoders.features import BLOCK, encode_images

ENCODER = "efficientnet-lite1"
BLOCKS_PER_CORE = 2


def one_core_against_all(repeats: int = 3) -> Row:
    """In turns: the same images on one core, and on all that this process may use; perfect use of every core is 1."""
    cores = os.sched_getaffinity(0)
    images = np.random.default_rng(0).integers(0, 256, (BLOCKS_PER_CORE * BLOCK * len(cores), 32, 32, 3), dtype=np.uint8)
    encode_images_on(cores, images[:BLOCK])  # the encoder is loaded, and torch has chosen its ways

    def ratio() -> float:
        return encode_images_on({min(cores)}, images) / (len(cores) * encode_images_on(cores, images))

    name = f"encoding {len(images)} images, one core / all {len(cores)} together, per core"
    return Row(name, [ratio() for _ in range(repeats)], 0.8, at_most=False)


def encode_images_on(cores: set[int], images: np.ndarray) -> float:
    """Seconds of encoding images of which nothing is kept yet, on these cores of the machine."""
    before = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, {"HARDLABELS_CACHE": cache}):
        os.sched_setaffinity(0, cores)  # threads that begin now, as those that encode do, have these cores
        try:
            return seconds(lambda: encode_images(images, ENCODER))
        finally:
            os.sched_setaffinity(0, before)
