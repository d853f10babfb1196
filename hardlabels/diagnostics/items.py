"""Which items a probe looks at, and what a network makes of them, a chunk at a time."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.runs.finished import FinishedRun
from hardlabels.votes import slice_masks


def shared_items(a: FinishedRun, b: FinishedRun) -> np.ndarray:
    """Positions of the items that both runs evaluate, sorted: neither run trained on them.

    Runs of one seed share the whole evaluation split; runs of two seeds about a fifth of it (4 % of the data set).

    Raises:
        InputError: when the runs saw different data, or share no such item.
    """
    if a.source.fingerprint != b.source.fingerprint:
        raise InputError(f"two runs on the same data are needed, got {a.path} and {b.path} with different data")
    items = np.intersect1d(a.split.evaluate, b.split.evaluate)
    if not len(items):
        raise InputError(
            f"no item is in the evaluation split of both {a.path} and {b.path}: more items or other seeds are needed"
        )
    return items


def choose_items(items: np.ndarray, at_most: int | None, purpose: str) -> np.ndarray:
    """At most this many of the items in a random order that is the same for every pair of runs; ``None`` keeps all of them.

    >>> choose_items(np.arange(5), 2, "doctest").shape, sorted(choose_items(np.arange(3), None, "doctest").tolist())
    ((2,), [0, 1, 2])
    """
    if at_most is not None and at_most < 1:
        raise InputError(f"a number of items must be at least 1, or null for all, got {at_most}")
    return stream(0, purpose).permutation(items)[:at_most]


def chunks(items: np.ndarray, size: int) -> list[np.ndarray]:
    """The items in order, in parts of at most ``size`` that differ by one item at most.

    >>> [len(part) for part in chunks(np.arange(10), 4)]
    [4, 3, 3]
    """
    if size < 1:
        raise InputError(f"chunk must be at least 1 item, got {size}")
    return np.array_split(items, max(-(-len(items) // size), 1))


def item_slices(run: FinishedRun, items: np.ndarray) -> dict[str, np.ndarray]:
    """Slice to (n,) mask over these items; see :func:`~hardlabels.votes.slices.slice_masks`."""
    return {name: mask[items] for name, mask in slice_masks(run.source.votes).items()}


@torch.no_grad()
def penultimate(run: FinishedRun, network: nn.Module, items: np.ndarray, *, chunk: int) -> np.ndarray:
    """(n, d) float64 penultimate features of the items, unaugmented, computed on the network's device."""
    return np.concatenate(list(_penultimate(run, network, items, chunk)))


def _penultimate(run: FinishedRun, network: nn.Module, items: np.ndarray, chunk: int) -> Iterator[np.ndarray]:
    device = str(next(network.parameters()).device)
    for part in chunks(items, chunk):
        features = network.features(run.inputs(part, device))  # type: ignore[operator]
        yield features.cpu().double().numpy()  # double on the CPU: not every device has it
