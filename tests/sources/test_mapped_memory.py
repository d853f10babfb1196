"""More images than memory: a process that may not hold them all trains on them from disk, and shows the bits of memory.

The analog for CI of 300,000 images of 224 x 224: a limit of nine tenths of their pixels. ``python -m benchmarks.images`` shows it
with 40,000 images of 96 x 96.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

ITEMS, SIZE = 2500, 128
PIXELS = ITEMS * SIZE * SIZE * 3

CODE = """
import hashlib, resource, sys
from pathlib import Path
import torch
from hardlabels.delivery.sls import SLS
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.sources.files import files

storage, allowed, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.ones(8).sum()  # threads and libraries that are loaded late
if allowed:
    here = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    limit = int(here["VmData"].split()[0]) * 1024 + allowed
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
source = files("votes.json", "images", size=size, crop=size - 16, flip=True, storage=storage, equal="ignore")
data = DeliveryDataModule(source, SLS, seed=3, batch_size=32)
data.setup("fit")
data.start_epoch(1)
seen = hashlib.sha256()
for batch in data.train_dataloader():
    ready = data.on_after_batch_transfer(batch, 0)
    seen.update(ready.inputs.numpy().tobytes())
    seen.update(ready.target.numpy().tobytes())
print(seen.hexdigest(), source.fingerprint, source.mean)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """2,500 names of 30 pictures of several sizes: links, which are written and decoded as any others."""
    place, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(0)
    (place / "images").mkdir()
    for i in range(30):
        coarse = Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8))
        coarse.resize((SIZE + i, SIZE), Image.Resampling.BICUBIC).save(place / f"{i}.jpg", quality=80)
    for i in range(ITEMS):
        os.link(place / f"{i % 30}.jpg", place / f"images/{i:04d}.jpg")
    (place / "votes.json").write_text(json.dumps({f"{i:04d}": {"w1": i % 3, "w2": i % 2} for i in range(ITEMS)}))
    return place


def epoch(folder, storage, allowed=0):
    environment = {**os.environ, "HARDLABELS_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    words = [sys.executable, "-c", CODE, storage, str(allowed), str(SIZE)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout.splitlines()[-1:], done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_an_epoch_of_more_images_than_memory_shows_the_bits_of_memory(folder):
    code, in_memory, said = epoch(folder, "memory")
    assert code == 0, said
    code, from_disk, said = epoch(folder, "disk", 9 * PIXELS // 10)
    assert code == 0, said
    assert from_disk == in_memory
    code, _, said = epoch(folder, "memory", 9 * PIXELS // 10)
    assert code != 0, "the limit is one that images in memory do not keep"
