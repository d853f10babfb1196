"""How many threads a network is trained with on the CPU."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL_STEP = 2**28
"""Multiplications of a forward pass, below which a second core hardly helps."""


@contextmanager
def number_of_threads(threads: int) -> Iterator[None]:
    """Each operation of torch takes so many threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def threads_to_train(network: torch.nn.Module, batch_size: int) -> int:
    """One thread for a small network on vectors; otherwise as many as torch takes by itself, or as ``OMP_NUM_THREADS`` says.

    A step of a head takes less than a millisecond. Shared among threads it is no faster, and where the machine has other work,
    each of its operations waits for a thread that does not run: the same head then takes twenty times as long, computing all
    the while.

    Args:
        network: that says by ``takes`` what kind of items it is given.
        batch_size: B.

    >>> from hardlabels.learning.mlp import MLP
    >>> threads_to_train(MLP(num_classes=3, in_features=1536, width=8, depth=1), batch_size=128)
    1
    """
    weights = sum(parameter.numel() for parameter in network.parameters())
    small = getattr(network, "takes", "images") == "vectors" and weights * batch_size < SMALL_STEP
    return 1 if small and "OMP_NUM_THREADS" not in os.environ else torch.get_num_threads()
