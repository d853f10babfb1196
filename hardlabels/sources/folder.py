"""Image files as squares of pixels: any size and format, brought to one size without distortion, or refused by name."""

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from hardlabels.errors import InputError

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".bmp": "BMP", ".webp": "WEBP", ".gif": "GIF"}
"""The endings that make a file an image; a file's content may be any of these formats, whatever its ending."""

MODES = {1: "L", 3: "RGB"}
FITS = ("crop", "pad", "stretch")
"""How an image that is no square becomes one: its middle is cut out, black is added around it, or it is distorted."""
DEEP = ("I", "F")  # Pillow's modes of 16 and more bits a pixel: what white is, is not in the file
SMALLEST, LARGEST = 8, 1024
DRAFT = 4  # times the size asked for: what a JPEG is decoded to, at least
BLOCK = 256  # images at a time, for sums


def image_names(folder: Path) -> list[str]:
    """The images in a folder and the folders below it, as paths relative to it, sorted; what begins with a dot is passed over."""
    found: list[str] = []
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = Path(place).relative_to(folder)
        images = [name for name in files if Path(name).suffix.lower() in FORMATS and not name.startswith(".")]
        found += [(here / name).as_posix() for name in images if Path(place, name).is_file()]  # no pipe, which would block
    return sorted(found)


def square(image: Image.Image, size: int, fit: str = "crop") -> Image.Image:
    """The image as a square of ``size`` pixels a side, antialiased (bilinear).

    Args:
        image: of any size.
        size: pixels a side.
        fit: ``crop`` brings the shorter side to ``size`` and keeps the middle of the longer one; ``pad`` brings the longer side
            to ``size`` and adds black on both sides of the shorter one; ``stretch`` brings each side to ``size`` by itself.

    >>> wide = Image.new("L", (40, 20), 255)
    >>> [np.asarray(square(wide, 4, fit))[:, 0].tolist() for fit in ("crop", "pad")]
    [[255, 255, 255, 255], [0, 255, 255, 0]]
    """
    if fit not in FITS:
        raise InputError(f"data.fit must be one of {', '.join(FITS)}, got {fit!r}")
    if fit == "stretch":
        return image.resize((size, size), Image.Resampling.BILINEAR)
    return (ImageOps.fit if fit == "crop" else ImageOps.pad)(image, (size, size), Image.Resampling.BILINEAR)


def read_image(path: Path, size: int, channels: int, fit: str = "crop") -> np.ndarray:
    """One image file as (size, size, channels) uint8: its first frame, turned as its EXIF entry says, made :func:`square`.

    Grey becomes three equal channels and colour one grey one, as ``channels`` asks; transparency is dropped.

    Raises:
        InputError: it is no image, is cut short, has more than 8 bits a channel, or is a decompression bomb.
    """
    try:
        with Image.open(path, formats=sorted(set(FORMATS.values()))) as image:
            if image.mode.startswith(DEEP):
                raise InputError(
                    f"{path}: expected an image of 8 bits a channel, got mode {image.mode}, which does not say what is white: "
                    "convert it first, such as with ImageMagick's 'convert IN -depth 8 OUT'"
                )
            # A large JPEG decodes by itself to a half, quarter or eighth of its size, averaged: four times as fast for a photo.
            image.draft(None, (DRAFT * size, DRAFT * size))
            # Colour before size: averages of palette entries would be other colours.
            upright = _upright(image).convert(MODES[channels])
            pixels = np.asarray(square(upright, size, fit), dtype=np.uint8)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InputError(f"{path}: expected at most {Image.MAX_IMAGE_PIXELS:,} pixels: {error}") from error
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(f"{path}: this image does not fit in the memory") from error
    except Exception as error:  # decoders of broken files raise what they like: struct.error, IndexError, SyntaxError, ...
        raise InputError(f"{path}: expected an image ({', '.join(FORMATS)}), cannot read it: {error}") from error
    return pixels.reshape(size, size, channels)


def _upright(image: Image.Image) -> Image.Image:
    """The image, turned as its EXIF entry says; as it is where that cannot be read, which does not make it another image."""
    image.load()  # what is wrong with the pixels is raised here
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # Pillow passes over a broken entry in a JPEG, and raises a SyntaxError in a PNG
        return image


def read_images(folder: Path, names: Sequence[str], size: int, channels: int, fit: str = "crop") -> np.ndarray:
    """(N, size, size, channels) uint8: the named images in this order. What would not fit in the memory is refused first."""
    needed, free = len(names) * size * size * channels, free_memory()
    if needed > free:
        raise InputError(
            f"{folder}: {len(names):,} images of {size} x {size} pixels take {needed / 1e9:.1f} GB of memory as bytes, and "
            f"{free / 1e9:.1f} GB are free: data.storage=disk keeps them on disk, a smaller data.size takes less"
        )
    images = np.empty((len(names), size, size, channels), dtype=np.uint8)

    def read(place: int) -> None:
        images[place] = read_image(folder / names[place], size, channels, fit)

    # The first bad image in order is the one that is named.
    with decoders() as pool:
        for _ in pool.map(read, range(len(names))):
            pass
    return images


@contextmanager
def decoders() -> Iterator[ThreadPoolExecutor]:
    """Threads that decode images; decoding does not hold Python's lock. What is not begun when the block ends is not done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of decoders, about odd metadata
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        pool = ThreadPoolExecutor(min(8, os.cpu_count() or 1), thread_name_prefix="decoder")
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def channel_statistics(images: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each channel of ``images / 255``, to four digits, exact before that; a deviation of 0 is 1.

    >>> channel_statistics(np.array([0, 255], dtype=np.uint8).reshape(2, 1, 1, 1))
    ((0.5,), (0.5,))
    """
    sums = [channel_sums(images[start : start + BLOCK]) for start in range(0, len(images), BLOCK)]
    return statistics_of_sums(sums, images[..., 0].size)


def channel_sums(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The exact sum of the values and of their squares, int64, for each channel of some images (uint8).

    >>> [sums.tolist() for sums in channel_sums(np.full((2, 3, 3, 1), 255, dtype=np.uint8))]
    [[4590], [1170450]]
    """
    values = images.reshape(-1, images.shape[-1])
    squares = np.square(values, dtype=np.uint16)  # 255 squared fits: a quarter of the memory of int64
    return values.sum(0, dtype=np.int64), squares.sum(0, dtype=np.int64)


def statistics_of_sums(sums: Sequence[tuple[np.ndarray, np.ndarray]], count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """:func:`channel_statistics` from the :func:`channel_sums` of all blocks of images that have ``count`` pixels together."""
    total, squares = (np.sum(parts, axis=0) for parts in zip(*sums, strict=True))
    mean = total / count
    std = (np.sqrt(np.maximum(squares / count - mean**2, 0)) / 255).round(4)
    return tuple((mean / 255).round(4).tolist()), tuple(np.where(std > 0, std, 1.0).tolist())


def free_memory() -> int:
    """Bytes that can be had without swapping, where the system says so; else all of its memory."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        known = hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(os.sysconf_names)
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else 1 << 62


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error
