"""Devices by their names, as commands are given them."""

import torch

from hardlabels.errors import InputError


def usable_device(name: str, setting: str = "device") -> str:
    """The name of a device that torch computes on here; ``auto`` is a GPU of CUDA where there is one, otherwise the CPU.

    Args:
        name: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``, ...
        setting: what the user calls it, for the error.

    Raises:
        InputError: there is no such device on this machine.

    >>> usable_device("cpu")
    'cpu'
    >>> usable_device("abacus", "--device")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: --device must be a device that torch can use here (auto, cpu, cuda, ...), got 'abacus': ...
    """
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name).cpu()  # there and back: a device may be known and yet not be here
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{setting} must be a device that torch can use here (auto, cpu, cuda, ...), got {name!r}: {reason}"
        ) from error
    return name
