"""Labels and offsets: the two arrays of a ragged table."""

import numpy as np


def label_dtype(num_classes: int) -> np.dtype:
    """The smallest unsigned type that holds a class: votes are the one array that grows with the data.

    >>> label_dtype(256), label_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(num_classes - 1)


def order_within(labels: np.ndarray, offsets: np.ndarray) -> np.ndarray | None:
    """The order (V,) that sorts labels inside each item; None when they already are.

    >>> order_within(np.array([1, 0, 2]), np.array([0, 2, 3])).tolist()
    [1, 0, 2]
    """
    inside = np.ones(len(labels), dtype=bool)
    inside[offsets[:-1]] = False
    if not np.any((labels[1:] < labels[:-1]) & inside[1:]):
        return None
    return np.lexsort((labels, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))
