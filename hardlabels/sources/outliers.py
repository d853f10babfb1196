"""Images of none of a run's classes: SVHN (far) and CIFAR-100 (near), and noise that needs no file.

They have no votes, so they are no :class:`Source`; out-of-distribution probes compare them with a run's own evaluation items.
"""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.io import loadmat

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.sources.cifar10h import batch_images, unpickle
from hardlabels.sources.download import WAYS_OUT as DATA_WAYS_OUT
from hardlabels.sources.download import Download, data_root, provide

WAYS_OUT = """\
of the outlier images of the ood probe:
  ood.files.root=FOLDER          a folder that holds them (or set HARDLABELS_DATA)
  ood.files.svhn_file=recrop     when its SVHN is the re-crop, of md5 89cd50efe9050cdfb086e929b5655cf1
  ood.sets=[noise]               built-in outliers, need no files"""


@dataclass(frozen=True, eq=False)
class Outliers:
    """N images without votes.

    Args:
        name: of the set.
        images: (N, H, W, channels) uint8.
        index: (N,) the position of each in its file.
        content: the md5 of the file, or how the images were made.

    >>> len(Outliers("toy", np.zeros((3, 2, 2, 1), np.uint8), np.arange(3), "made"))
    3
    """

    name: str
    images: np.ndarray
    index: np.ndarray
    content: str

    def __len__(self) -> int:
        """The number of images N."""
        return len(self.images)


@dataclass(frozen=True)
class OutlierFile:
    """A published file: where it is, which bytes it must have, how to read it.

    Args:
        paths: under the data folder; the first that is there is read, and a download goes to the first.
        md5: of the accepted versions, by name; the first is the official one, which the addresses serve.
        urls: addresses, the official host first.
        read: bytes to (N, H, W, channels) uint8.
        archive_md5: of the tar archive at the addresses; None when they serve the file itself.
        dropped: positions that are images of CIFAR-10's test set.
    """

    paths: tuple[str, ...]
    md5: Mapping[str, str]
    urls: tuple[str, ...]
    read: Callable[[bytes], np.ndarray]
    archive_md5: str | None = None
    dropped: tuple[int, ...] = ()


def svhn_images(content: bytes) -> np.ndarray:
    """(N, 32, 32, 3) images of an SVHN .mat file, which stores them as (32, 32, 3, N)."""
    return np.ascontiguousarray(loadmat(io.BytesIO(content), variable_names=["X"])["X"].transpose(3, 0, 1, 2))


def cifar100_images(content: bytes) -> np.ndarray:
    """(N, 32, 32, 3) images of CIFAR-100's test file."""
    return batch_images(unpickle(content))


# md5 sums of torchvision.datasets.SVHN and CIFAR100. SVHN is the far set, CIFAR-100 (other classes, same photographs) the near.
FILES = {
    "svhn": OutlierFile(
        paths=("svhn/test_32x32.mat", "test_32x32.mat"),  # torchvision puts it straight into the folder it is given
        # The re-crop: cut again from the official full-number images, for those who cannot get the cropped file. 198 of its
        # 26,032 windows may differ from the official ones.
        md5={"official": "eb5a983be6a315427106f1b164d9cef3", "recrop": "89cd50efe9050cdfb086e929b5655cf1"},
        urls=("http://ufldl.stanford.edu/housenumbers/test_32x32.mat",),
        read=svhn_images,
    ),
    "cifar100": OutlierFile(
        paths=("cifar-100-python/test",),
        md5={"official": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
        urls=("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",),
        read=cifar100_images,
        archive_md5="eb9058c3a382ffc7106e4002c42a8d85",
        dropped=(2203,),  # pixel for pixel CIFAR-10 test image 9345
    ),
}


def outlier_sets(
    names: Sequence[str],
    root: str | os.PathLike[str] | None = None,
    *,
    svhn_file: str = "official",
    addresses: Mapping[str, Sequence[str]] | None = None,
    timeout: float = 30.0,
) -> dict[str, Outliers]:
    """The test images of these sets by name, read from the data folder, or downloaded to it where they are not there.

    Args:
        names: of ``svhn`` (26,032 images) and ``cifar100`` (9,999: without the one that is a CIFAR-10 test image).
        root: the folder of the data, as for CIFAR-10H; the layout is torchvision's.
        svhn_file: ``official``, or ``recrop``: a stand-in that must be asked for by this name.
        addresses: other addresses than the built-in ones, by name of the set.
        timeout: seconds without an answer after which the next address is tried.

    Raises:
        InputError: once for everything that is missing; or for a file with other content.
    """
    for name in names:
        if name not in FILES:
            raise InputError(f"outlier files are known of {', '.join(FILES)}, not of {name!r}")
    if svhn_file not in FILES["svhn"].md5:
        raise InputError(f"svhn_file must be one of {', '.join(FILES['svhn'].md5)}, got {svhn_file!r}")
    folder = data_root(root)
    downloads = {}
    for name in names:
        file, version = FILES[name], svhn_file if name == "svhn" else "official"
        path = next((path for path in file.paths if (folder / path).is_file()), file.paths[0])
        urls = tuple((addresses or {}).get(name, file.urls)) if version == "official" else ()
        downloads[name] = Download({path: file.md5[version]}, urls, archive_md5=file.archive_md5)
    try:
        content = provide(folder, list(downloads.values()), timeout=timeout)
    except InputError as error:
        # What helps for a run's own data does not help here.
        message = str(error).removesuffix(f"\n{DATA_WAYS_OUT}").replace("data.root=FOLDER", "ood.files.root=FOLDER")
        raise InputError(f"{message}\n{WAYS_OUT}") from error
    if svhn_file != "official" and "svhn" in names:
        _say_once(f"note: SVHN is read from its {svhn_file}, not from the official file: scores may differ a little")
    return {name: _outliers(name, download, content) for name, download in downloads.items()}


def _outliers(name: str, download: Download, content: Mapping[str, bytes]) -> Outliers:
    ((path, md5),) = download.files.items()
    images = FILES[name].read(content[path])
    kept = np.setdiff1d(np.arange(len(images)), FILES[name].dropped)
    return Outliers(name, images[kept], kept, md5)


@lru_cache
def _say_once(line: str) -> None:
    say(line)


def noise(items: int, shape: tuple[int, int, int]) -> Outliers:
    """Images of independent, uniform pixels: an outlier set of any shape that needs no file. Always the same images.

    Args:
        items: how many.
        shape: (H, W, channels).

    >>> noise(2, (4, 4, 3)).images.shape
    (2, 4, 4, 3)
    """
    images = stream(0, "noise outliers").integers(0, 256, (items, *shape), dtype=np.uint8)
    return Outliers("noise", images, np.arange(items), "uniform noise")
