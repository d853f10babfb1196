"""Checkpoints, read with suspicion: tensors and numbers only, and only those that fit."""

import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from hardlabels.errors import InputError


def load_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint's content on the CPU; ``weights_only``, so that a file can hold tensors but not code.

    Raises:
        InputError: no such file, damaged, or not as :mod:`hardlabels.runs.keeper` writes it.
    """
    try:
        # torch.save does not compress: what would unpack to more than the file is not ours, but could fill the memory.
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if sum(member.file_size for member in archive.infolist()) > path.stat().st_size:
                    raise InputError("a compressed archive")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of strange pickles before it refuses them
            state = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict) or not isinstance(state.get("network"), dict):
            raise InputError("no weights by name")
        return state
    except Exception as error:
        # Whatever a damaged file makes torch raise; its own message would advise to load the file unsafely.
        what = f" ({error})" if isinstance(error, InputError) else ""
        message = f"{path} is no checkpoint of ours, or damaged{what}: remove {path.parent} to train this cell again"
        raise InputError(message) from error


def network_state(path: Path, network: nn.Module) -> dict[str, Tensor]:
    """The weights of a checkpoint, each of the name and shape that the network has."""
    return _fitting(path, load_checkpoint(path)["network"], network)


def resume_state(path: Path, network: nn.Module, epochs: int) -> dict[str, Any]:
    """``last.ckpt`` as a run goes on from it: ``network``, ``optimizer``, ``epochs``, ``steps``, all checked.

    Args:
        path: the file.
        network: that will take the weights.
        epochs: of the whole run.
    """
    state = load_checkpoint(path)
    _fitting(path, state["network"], network)
    for name, most in (("epochs", epochs), ("steps", 2**63 - 1)):
        value = state.get(name)
        _expect(path, type(value) is int and 0 <= value <= most, f"{name} 0 .. {most}", value)
    optimizer = state.get("optimizer")
    shapes = [parameter.shape for parameter in network.parameters()]
    groups = optimizer.get("param_groups") if isinstance(optimizer, dict) else None
    whole = isinstance(groups, list) and all(
        isinstance(group, dict) and isinstance(group.get("params"), list) for group in groups
    )
    numbers = [number for group in groups for number in group["params"]] if whole and groups else None
    _expect(path, numbers == list(range(len(shapes))), f"an optimizer of {len(shapes)} parameters", _kind(optimizer))
    buffers = optimizer.get("state") if isinstance(optimizer, dict) else None
    _expect(path, isinstance(buffers, dict), "the state of an optimizer", _kind(buffers))
    for number, entries in (buffers or {}).items():
        right = type(number) is int and 0 <= number < len(shapes) and isinstance(entries, dict)
        _expect(path, right, f"the optimizer's state of parameters 0 .. {len(shapes) - 1}", number)
        for name, value in entries.items():
            if isinstance(value, Tensor) and value.ndim:
                shape = tuple(shapes[number])
                _expect(path, tuple(value.shape) == shape, f"{name} of parameter {number} with shape {shape}", tuple(value.shape))
    return state


def _fitting(path: Path, weights: Any, network: nn.Module) -> dict[str, Tensor]:
    own = network.state_dict()
    for name in [*own, *weights]:
        _expect(
            path, name in own and name in weights, f"the weights of this network, {len(own)} by name", f"a difference at {name!r}"
        )
        expected, found = tuple(own[name].shape), _kind(weights[name])
        _expect(path, found == str(expected), f"{name} with shape {expected}", found)
    return weights


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a dictionary of {', '.join(repr(key) for key in list(value)[:5]) or 'nothing'}"
    return str(tuple(value.shape)) if isinstance(value, Tensor) else type(value).__name__


def _expect(path: Path, right: bool, expected: str, found: Any) -> None:
    if not right:
        raise InputError(f"{path}: expected {expected}, found {found}: remove {path.parent} to train this cell again")
