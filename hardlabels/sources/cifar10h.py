"""CIFAR-10H: about 51 human votes on each of the 10,000 CIFAR-10 test images (Peterson et al. 2019)."""

import io
import os
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.download import Download, data_root, provide
from hardlabels.sources.source import Source
from hardlabels.votes import Votes

# torchvision's layout and md5 sums: a folder that torchvision.datasets.CIFAR10 has filled serves as data.root.
IMAGES, IMAGES_MD5 = "cifar-10-batches-py/test_batch", "40351d587109b95175f43aff81a1287e"
META, META_MD5 = "cifar-10-batches-py/batches.meta", "5ff9c542aee3614f3951f8cda6e48888"
ARCHIVE_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
ARCHIVE_MD5 = "c58f30108f718f92721af3b95e74349a"

VOTES, VOTES_MD5 = "cifar-10h/cifar10h-counts.npy", "f1284b6fba48a67d3db69bbafb5685ad"
VOTES_URL = "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy"

# The constants everybody uses: of the CIFAR-10 *training* images, to four digits. No training image is used here, but the
# scale of the inputs stays the usual one.
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)

MAX_DISAGREEMENT = 0.05  # of votes' majority and CIFAR-10 label; the true share is 0.79 %, a wrong order gives about 90 %


def check_order(votes: Votes, labels: np.ndarray) -> None:
    """Refuse votes and labels that cannot be in the same order: majority and label differ on more than 5 % of the items.

    Args:
        votes: of N items.
        labels: (N,) the class each item has for certain, or nearly so.

    >>> votes = Votes.from_counts([[9, 1], [0, 9], [8, 0]])
    >>> check_order(votes, np.array([0, 1, 0]))
    >>> check_order(votes, np.array([1, 0, 0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: votes and labels are not in the same order: they differ on 2 of 3 items (66.7%, ...
    """
    if len(votes) != len(labels):
        raise InputError(f"votes and labels must be of the same items, got votes of {len(votes)} and labels of {len(labels)}")
    wrong = np.flatnonzero(votes.majority != labels)
    if len(wrong) > MAX_DISAGREEMENT * len(labels):
        raise InputError(
            f"votes and labels are not in the same order: they differ on {len(wrong)} of {len(labels)} items "
            f"({len(wrong) / len(labels):.1%}, at most {MAX_DISAGREEMENT:.0%} expected). "
            f"First: item {wrong[0]}, votes say class {votes.majority[wrong[0]]}, label {labels[wrong[0]]}"
        )


def unpickle(content: bytes) -> dict[bytes, Any]:
    """What a CIFAR file (of 10 or 100 classes) holds. Only for bytes whose md5 has been checked.

    Unpickling runs what a file says. Safe then: these very bytes have the md5 of the official files, and nobody can make another
    file with a given md5 (its known weakness, two files with one md5, needs a hand in making both).
    """
    return pickle.loads(content, encoding="bytes")


def batch_images(batch: dict[bytes, Any]) -> np.ndarray:
    """(N, 32, 32, 3) uint8 images of a CIFAR batch, which stores them plane by plane, (N, 3 * 32 * 32).

    >>> batch_images({b"data": np.arange(3072)[None]})[0, 0, 0].tolist()  # the first pixel of each plane
    [0, 1024, 2048]
    """
    return np.ascontiguousarray(batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


def cifar10h(
    root: str | os.PathLike[str] | None = None,
    *,
    name: str = "cifar10h",
    url: str = ARCHIVE_URL,
    mirrors: Sequence[str] = (),
    votes_url: str = VOTES_URL,
    votes_mirrors: Sequence[str] = (),
    timeout: float = 30.0,
) -> Source:
    """CIFAR-10's 10,000 test images, (N, 32, 32, 3), with CIFAR-10H's 511,000 votes; no CIFAR-10 training image.

    Args:
        root: the folder of the data; None is the variable ``HARDLABELS_DATA``, else the user's cache folder. What is not there
            is downloaded to it.
        name: the name of the data set.
        url: of ``cifar-10-python.tar.gz`` (170 MB, of which the 31 MB test file is kept).
        mirrors: further addresses of the same archive, tried in this order; all are held to the same md5.
        votes_url: of ``cifar10h-counts.npy`` (0.8 MB).
        votes_mirrors: further addresses of it.
        timeout: seconds without an answer after which the next address is tried.

    Raises:
        InputError: nothing found and nothing downloaded, a file with other content, or votes in another order than the images.
    """
    downloads = (
        Download({IMAGES: IMAGES_MD5, META: META_MD5}, (url, *mirrors), archive_md5=ARCHIVE_MD5),
        Download({VOTES: VOTES_MD5}, (votes_url, *votes_mirrors)),
    )
    files = provide(data_root(root), downloads, timeout=timeout)
    batch, meta = unpickle(files[IMAGES]), unpickle(files[META])
    labels = np.array(batch[b"labels"], dtype=np.int64)
    votes = Votes.from_counts(np.load(io.BytesIO(files[VOTES]), allow_pickle=False), where=VOTES)
    check_order(votes, labels)
    return Source(
        name=name,
        inputs=batch_images(batch),
        votes=votes,
        labels=labels,
        class_names=tuple(class_name.decode() for class_name in meta[b"label_names"]),
        mean=MEAN,
        std=STD,
        crop_padding=4,
        flip=True,
    )
