"""More images than memory: batches from the file of pixels against torchvision's ``ImageFolder``, and the memory that they take.

``python -m benchmarks.images --items 40000`` shows it at a size of which the pixels do not fit under the memory limit.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader

from benchmarks.ratio import Row, alternate, seconds
from hardlabels.delivery.sls import SLS
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.randomness import stream
from hardlabels.sources.files import files
from hardlabels.sources.source import Source

SIZE, BATCH, CLASSES, PADDING = 96, 128, 10, 4
ALLOWED = 500e6
"""Bytes of memory that a process may take beside its batches."""
SLACK = 256 << 20
"""Bytes that the process may allocate once it has loaded its libraries, where the system can limit that."""


def make_folder(folder: Path, items: int) -> None:
    """JPEG files in a folder per class, as ``ImageFolder`` wants them, and ten votes for each in ``counts.csv``."""
    rng = stream(0, "benchmark images")
    votes = rng.multinomial(10, rng.dirichlet(np.ones(CLASSES), items))
    for name in range(CLASSES):
        (folder / "images" / str(name)).mkdir(parents=True)
    lines = ["id," + ",".join(f"class {name}" for name in range(CLASSES))]
    for item in range(items):
        coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8))
        name = f"{votes[item].argmax()}/{item:06d}.jpg"
        coarse.resize((128, SIZE), Image.Resampling.BICUBIC).save(folder / "images" / name, quality=85)
        lines.append(f"{name}," + ",".join(map(str, votes[item])))
    (folder / "counts.csv").write_text("\n".join(lines) + "\n")


def open_source(folder: Path, storage: str = "disk") -> Source:
    """The images of :func:`make_folder`, with their pixels in the cache folder inside it."""
    settings = {"size": SIZE, "crop_padding": PADDING, "flip": True, "equal": "ignore"}
    with mock.patch.dict(os.environ, {"HARDLABELS_CACHE": str(folder / "cache")}):  # not for the comparisons that follow
        return files(folder / "counts.csv", folder / "images", storage=storage, **settings)  # type: ignore[arg-type]


def epoch_of(source: Source, epoch: int = 0) -> int:
    """All batches of an epoch, ready for the network; returns how many."""
    data = _datamodule(source)
    data.start_epoch(epoch)
    return sum(len(data.on_after_batch_transfer(batch, 0).inputs) > 0 for batch in data.train_dataloader())  # type: ignore[attr-defined]


@lru_cache(maxsize=1)
def _datamodule(source: Source) -> DeliveryDataModule:
    data = DeliveryDataModule(source, SLS, seed=0, batch_size=BATCH)
    data.setup("fit")
    return data


def image_folder_loader(source: Source, folder: Path) -> DataLoader:
    """The conventional way for the same images: decoded from their files in every epoch, by two workers."""
    from torchvision import datasets, transforms

    steps = [
        transforms.Resize(SIZE),
        transforms.CenterCrop(SIZE),
        transforms.RandomCrop(SIZE, padding=PADDING),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(source.mean, source.std),
    ]
    items = datasets.ImageFolder(str(folder / "images"), transforms.Compose(steps))
    chosen = torch.utils.data.Subset(items, range(len(_datamodule(source).examples)))
    return DataLoader(chosen, BATCH, shuffle=True, num_workers=2, persistent_workers=True)


def batches_against_image_folder(items: int = 3000, repeats: int = 3) -> Row:
    """Batches ready for the network, the same images in both; ours were decoded once before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder, items)
        source = open_source(folder)
        loader = image_folder_loader(source, folder)

        def loaded() -> None:
            for _ in loader:
                pass

        loaded()
        epoch_of(source)
        ratios = alternate(loaded, lambda: [epoch_of(source, epoch) for epoch in range(5)], repeats)
    return Row("ImageFolder with 2 workers / our batches from disk, time per epoch", [5 * r for r in ratios], 5, at_most=False)


def memory_from_disk(items: int = 3000) -> Row:
    """Peak memory of a process that makes an epoch of batches from disk, beyond one batch and what its libraries take."""
    with tempfile.TemporaryDirectory() as name:
        make_folder(Path(name), items)
        shown = measured_in_a_process(Path(name))
    return Row(
        "memory of batches from disk, beyond one batch and the libraries / 500 MB",
        [shown["beside_the_batch"] / ALLOWED],
        1,
        at_most=True,
    )


def measured_in_a_process(folder: Path) -> dict[str, float]:
    """What :func:`show_memory` measures, in a process of its own."""
    code = f"from pathlib import Path; from benchmarks.images import show_memory; show_memory(Path({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def show_memory(folder: Path) -> None:
    """An epoch of batches under a limit on what may be allocated; prints peak memory and sizes as JSON.

    Counted is what belongs to the process alone. Pages of the mapped file are the system's, which takes them back when it needs
    them; they are no part of the limit either.
    """
    libraries = _status("RssAnon")  # torch and Lightning, as they were imported
    epoch_of(open_source(folder))  # decodes, and loads what is loaded late
    limit = _status("VmData") + SLACK
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    source = open_source(folder)
    data, peak = _datamodule(source), _status("RssAnon")
    batch_bytes = BATCH * SIZE * SIZE * 3 * 4
    data.start_epoch(1)
    for batch in data.train_dataloader():  # type: ignore[attr-defined]
        data.on_after_batch_transfer(batch, 0)
        peak = max(peak, _status("RssAnon"))
    beside = peak - libraries - batch_bytes
    print(json.dumps({"pixels": source.inputs.nbytes, "limit": SLACK, "peak": peak, "beside_the_batch": beside}))


def _status(name: str) -> int:
    """A number of this process, in bytes, from Linux's ``/proc``."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def main() -> None:
    """Make many images, then read an epoch of them under the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.images", description=__doc__)
    parser.add_argument("--items", type=int, default=40_000, help="images of 96 x 96 pixels")
    items = parser.parse_args().items
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{items:,} JPEG files made in {seconds(lambda: make_folder(folder, items)):.0f} s")
        first, again = (seconds(lambda: open_source(folder)) for _ in range(2))
        print(f"decoded in {first:.0f} s, opened again in {again:.2f} s")
        shown = measured_in_a_process(folder)
        print(
            f"an epoch of {shown['pixels'] / 1e6:,.0f} MB of pixels with at most {shown['limit'] / 1e6:.0f} MB to allocate: peak "
            f"{shown['peak'] / 1e6:.0f} MB, {shown['beside_the_batch'] / 1e6:.0f} MB of it beyond one batch and the libraries"
        )


if __name__ == "__main__":
    main()
