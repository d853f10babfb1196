"""More images than memory: decoded once into one file of pixels in the cache folder, which is read by position like an array."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from hardlabels.console import bars, say
from hardlabels.errors import InputError
from hardlabels.sources.digests import JOURNAL, block_rows, digests_of_rows, read_journal
from hardlabels.sources.download import cache_folder
from hardlabels.sources.folder import channel_sums, decoders, read_image, statistics_of_sums
from hardlabels.whole_files import whole_file

READER = "hardlabels images 1"
"""The way from a file to pixels; another number means that the same files give other pixels."""
SETTLED = 2.0  # seconds after its last change, a file's size and time of change are taken to identify its content


def map_images(folder: Path, names: Sequence[str], size: int, channels: int, fit: str = "crop") -> np.memmap:
    """(N, size, size, channels) uint8 on disk, read-only: the bits that :func:`~hardlabels.sources.folder.read_images` gives.

    The file of pixels is kept by the content of the images and the way that they are read, so a folder that was moved or copied
    is not decoded again. It is made in blocks, and a journal beside it says which are there: a process that was killed at any
    moment has lost the blocks that it was making, and the same call makes only what is missing. Of several processes that want
    the same images one makes them, and the others wait.

    Args:
        folder: of the images.
        names: paths in the folder, in the order of the rows.
        size: pixels a side.
        channels: 3, or 1 for grey.
        fit: see :func:`~hardlabels.sources.folder.square`.

    Raises:
        InputError: an image that cannot be read, a cache folder that cannot be written, or a disk with too little space.
    """
    shape = (len(names), size, size, channels)
    key = hashlib.sha256(f"{READER} {shape} {fit}\n".encode())
    key.update("\n".join(file_digests(folder, names)).encode())
    place = cache_folder() / "images" / key.hexdigest()
    pixels = place / "pixels.npy"
    if not pixels.is_file():
        with _writable(place):
            place.mkdir(parents=True, exist_ok=True)
            with FileLock(place / "lock"):
                if not pixels.is_file():  # another process may have made it while this one waited
                    _decode(place, folder, names, shape, fit)
    return np.load(pixels, mmap_mode="r", allow_pickle=False)


def mapped_statistics(images: np.memmap) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """:func:`~hardlabels.sources.folder.channel_statistics` of images from :func:`map_images`; no pixel is read for it."""
    sums = [
        (np.array(entry["sum"]), np.array(entry["squares"])) for entry in read_journal(Path(str(images.filename)).parent).values()
    ]
    return statistics_of_sums(sums, images[..., 0].size)


def read_rows(inputs: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rows at these positions, as an array in memory. Of a mapped array the system is told first which parts are needed.

    It then reads all of them at once, where touching row after row would wait for the disk at each.
    """
    if isinstance(inputs, np.memmap) and hasattr(os, "posix_fadvise"):
        length = inputs.strides[0]
        file = os.open(str(inputs.filename), os.O_RDONLY)
        try:
            for row in rows.tolist():
                os.posix_fadvise(file, inputs.offset + row * length, length, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(file)
    return np.take(np.asarray(inputs), rows, axis=0)  # take lets other threads run meanwhile, and inputs[rows] would not


def file_digests(folder: Path, names: Sequence[str]) -> list[str]:
    """The sha256 of each file's content. Those of files that did not change since the last call are not read again.

    A file of the same path, size and time of change counts as unchanged, unless it was changed just before it was read.
    """
    index = cache_folder() / "images" / f"files-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]}.json"
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # none yet, or half of one
        known = json.loads(index.read_text())
    states = {name: list(_state(folder / name)) for name in names}
    changed = [name for name in states if known.get(name, [None] * 3)[:2] != states[name]]
    found: dict[str, list[Any]] = {}
    if changed:
        now = time.time()

        def digest(name: str) -> str:
            with (folder / name).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()

        with _bar(f"looking at {len(changed):,} images", len(changed)) as advance, decoders() as pool:
            for name, answer in zip(changed, pool.map(digest, changed), strict=True):
                found[name] = [*states[name], answer]
                advance(1)
        settled = {name: entry for name, entry in found.items() if now - entry[1] / 1e9 > SETTLED}
        with _writable(index):
            kept = {name: entry for name, entry in {**known, **settled}.items() if name in states}
            with whole_file(index) as file:
                file.write(json.dumps(kept).encode())
    return [(found.get(name) or known[name])[2] for name in names]


def _decode(place: Path, folder: Path, names: Sequence[str], shape: tuple[int, ...], fit: str) -> None:
    """Write ``pixels.npy``, block by block, beside the journal of the blocks that are there."""
    part, needed = place / "pixels.part", int(np.prod(shape))
    journal = read_journal(place) if part.is_file() else {}
    rows = block_rows(np.broadcast_to(np.uint8(0), shape))
    blocks = range(-(-len(names) // rows))
    missing = [block for block in blocks if block not in journal]
    left, free = len(missing) * rows * needed // len(names), shutil.disk_usage(place).free
    if left > free:
        raise InputError(
            f"{folder}: {len(names):,} images of {shape[1]} x {shape[2]} pixels take {left / 1e9:.1f} GB of disk, and "
            f"{free / 1e9:.1f} GB are free in {place.parent}: HARDLABELS_CACHE=FOLDER names another folder, a smaller data.size "
            "takes less"
        )
    if not part.is_file():
        (place / JOURNAL).unlink(missing_ok=True)
        np.lib.format.open_memmap(part, mode="w+", dtype=np.uint8, shape=shape).flush()
    offset = part.stat().st_size - needed
    already = len(names) - sum(min(rows, len(names) - block * rows) for block in missing)
    before = f" ({already:,} of them are there from before)" if already else ""
    say(f"decoding {len(names):,} images into {place} ({needed / 1e9:.1f} GB), once{before}")

    def make(block: int) -> dict[str, Any]:
        chosen = names[block * rows : (block + 1) * rows]
        pixels = np.stack([read_image(folder / name, shape[1], shape[3], fit) for name in chosen])
        with part.open("r+b") as file:
            file.seek(offset + block * rows * pixels[0].nbytes)
            file.write(pixels.data)
            file.flush()
            os.fsync(file.fileno())  # what the journal says must be on the disk, also when the machine stops
        sums = dict(zip(("sum", "squares"), (values.tolist() for values in channel_sums(pixels)), strict=True))
        rows_digests = b"".join(digests_of_rows(pixels)).hex()
        digest = hashlib.sha256(pixels.data).hexdigest()
        return {"block": block, "images": len(chosen), "sha256": digest, "rows": rows_digests, **sums}

    with _bar("decoding images", len(names), already) as advance, decoders() as pool, (place / JOURNAL).open("a") as log:
        log.write("\n" if journal else "")  # ends a line that was cut short
        for entry in pool.map(make, missing):
            log.write(json.dumps(entry) + "\n")
            log.flush()
            advance(entry["images"])
    part.replace(place / "pixels.npy")


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return found.st_size, found.st_mtime_ns


@contextmanager
def _bar(title: str, total: int, completed: int = 0) -> Iterator[Any]:
    """A progress bar as long as the block runs; gives the function that moves it."""
    task = bars().add_task(title, total=total, completed=completed, note="")
    try:
        yield lambda images: bars().update(task, advance=images)
    finally:
        bars().remove_task(task)


@contextmanager
def _writable(place: Path) -> Iterator[None]:
    """Turn what the system says about the cache folder into a message that says what to do."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{place}: images cannot be kept there ({error.strerror or error}): HARDLABELS_CACHE=FOLDER names another folder, "
            "data.storage=memory keeps them in memory"
        ) from error
