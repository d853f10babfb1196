"""Refuses comparisons that would leak: training images as in-distribution items, images of the run's own data as outliers."""

import hashlib

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.outliers import Outliers
from hardlabels.sources.source import Source


def refuse_overlap(in_distribution: np.ndarray, train: np.ndarray) -> None:
    """Refuse in-distribution items that are training items: a network knows those too well.

    >>> refuse_overlap(np.array([1, 2]), np.array([0, 3]))
    >>> refuse_overlap(np.array([1, 2]), np.array([2, 3]))
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: in-distribution items must not be training items, but 1 of 2 are; first: item 2
    """
    shared = np.intersect1d(in_distribution, train)
    if len(shared):
        raise InputError(
            f"in-distribution items must not be training items, but {len(shared)} of {len(in_distribution)} are; "
            f"first: item {shared[0]}"
        )


def copies(images: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(m, 2) positions of the pairs that are equal pixel for pixel: in ``images``, in ``others``.

    >>> copies(np.array([[1, 2], [3, 4]]), np.array([[3, 4], [5, 6], [3, 4]])).tolist()
    [[1, 0], [1, 2]]
    """
    where: dict[bytes, list[int]] = {}
    for position, image in enumerate(others):
        where.setdefault(_digest(image), []).append(position)
    pairs = [(position, other) for position, image in enumerate(images) for other in where.get(_digest(image), ())]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _digest(image: np.ndarray) -> bytes:
    return hashlib.blake2b(image.tobytes(), digest_size=16).digest()


def refuse_copies(outliers: Outliers, source: Source) -> None:
    """Refuse outliers that are images of the run's own data, or of another shape."""
    ours, theirs = source.shown.shape[1:], outliers.images.shape[1:]
    if ours != theirs:
        raise InputError(
            f"the ood probe needs {'x'.join(map(str, theirs))} inputs for the set {outliers.name}, but the images of "
            f"{source.name} are {'x'.join(map(str, ours))}: ood.sets=[noise] has outliers of any shape"
        )
    found = copies(outliers.images, source.shown)
    if len(found):
        position, item = found[0]
        raise InputError(
            f"images of {outliers.name} are images of {source.name}, so they are no outliers: {len(found)}, "
            f"the first is image {outliers.index[position]}, item {item}"
        )
