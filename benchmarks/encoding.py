"""Encoding images with a frozen encoder: how well the cores are used.

The yardstick is one process per core, each held to its core and to a share of the images of its own: nothing is shared, so the
machine gives no more. Two cores need not be twice as fast as one, since they share caches, memory and sometimes the arithmetic.
"""

import multiprocessing
import os
import tempfile
from multiprocessing.synchronize import Barrier
from unittest import mock

import numpy as np

from benchmarks.ratio import Row, seconds
from hardlabels.learning.encoders.features import BLOCK, encode_images

ENCODER = "efficientnet-lite1"
BLOCKS_PER_CORE = 3


def processes_against_threads(repeats: int = 3) -> Row:
    """In turns: one process per core, each with a share of the images; one process with all of them, as a run encodes them."""
    cores = sorted(os.sched_getaffinity(0))
    images = np.random.default_rng(0).integers(0, 256, (BLOCKS_PER_CORE * BLOCK * len(cores), 32, 32, 3), dtype=np.uint8)
    encode_anew(images[:BLOCK])  # the encoder is loaded, and torch has chosen its ways
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(cores) + 1)
    shares = zip(cores, np.array_split(images, len(cores)), strict=True)
    processes = [context.Process(target=encode_a_share, args=(core, share, barrier, repeats)) for core, share in shares]
    for process in processes:
        process.start()

    def by_processes() -> None:
        barrier.wait()  # all begin
        barrier.wait()  # all have ended

    try:
        barrier.wait(300)  # all have loaded the encoder
        ratios = [seconds(by_processes) / seconds(lambda: encode_anew(images)) for _ in range(repeats)]
    finally:
        for process in processes:
            process.join(10)
            process.kill()
    return Row(f"encoding {len(images)} images, a process for each of {len(cores)} cores / one run", ratios, 0.9, at_most=False)


def encode_a_share(core: int, images: np.ndarray, barrier: Barrier, repeats: int) -> None:
    """A process of its own: encode these images on one core, whenever all processes are told to begin."""
    os.sched_setaffinity(0, {core})
    encode_anew(images[:BLOCK])
    barrier.wait(300)
    for _ in range(repeats):
        barrier.wait()
        encode_anew(images)
        barrier.wait()


def encode_anew(images: np.ndarray) -> None:
    """Encode images of which nothing is kept yet, and keep nothing."""
    with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, {"HARDLABELS_CACHE": cache}):
        encode_images(images, ENCODER)
