"""Checkpoints of a run, which are Lightning's: written whole, read with suspicion.

``Classifier.load_from_checkpoint(path)`` opens them. What is in them is tensors and plain values only, so that they can be read
without running code (``weights_only``). ``last.ckpt`` has all that training goes on from; ``best.ckpt`` has the weights, and what
:class:`~hardlabels.learning.module.Classifier` carries beside them.
"""

import io
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hardlabels.errors import InputError
from hardlabels.learning.module import Classifier
from hardlabels.learning.networks import pack_lists, unpack_lists
from hardlabels.runs.writing import write_atomically

CARRIED = Classifier.CHECKPOINT_HYPER_PARAMS_KEY
"""The entry with what a Classifier carries beside its weights: class names, preprocessing, temperature."""

PREFIX = "network."
"""Before the name of every weight: the network is an attribute of the Classifier."""

FOR_TRAINING = ("optimizer_states", "lr_schedulers", "callbacks")
"""What only training needs; Lightning's own weights-only checkpoints leave the same out."""


class Resumed(NamedTuple):
    """What a run goes on from, checked."""

    network: dict[str, Tensor]
    optimizer: dict[str, Any]
    epochs: int  # that are finished
    steps: int  # of the optimizer
    callbacks: dict[str, dict[str, Any]]  # state by the callback's key
    checkpoint: dict[str, Any]  # all of it


def save_checkpoint(path: Path, checkpoint: Mapping[str, Any]) -> None:
    """Write a checkpoint, whole or not at all."""
    # To memory first: torch's own writer turns a full disk into an error about the position in a zip file.
    buffer = io.BytesIO()
    torch.save(_with_preprocessing(checkpoint, pack_lists), buffer)
    write_atomically(path, lambda file: file.write(buffer.getbuffer()))


def weights_only(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """The checkpoint without what only training needs.

    >>> sorted(weights_only({"epoch": 3, "state_dict": {}, "optimizer_states": [{}], "callbacks": {}}))
    ['epoch', 'state_dict']
    """
    return {name: value for name, value in checkpoint.items() if name not in FOR_TRAINING}


def load_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint's content on the CPU; ``weights_only``, so that a file can hold tensors but not code.

    Raises:
        InputError: no such file, damaged, or not as :mod:`hardlabels.runs.training.keeper` writes it.
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
        state = from_version_1(state) if isinstance(state, dict) else {}
        if not isinstance(state.get("state_dict"), dict):
            raise InputError("no weights by name")
        return _with_preprocessing(state, unpack_lists)
    except Exception as error:
        # Whatever a damaged file makes torch raise; its own message would advise to load the file unsafely.
        what = f" ({error})" if isinstance(error, InputError) else ""
        message = f"{path} is no checkpoint of ours, or damaged{what}: remove {path.parent} to train this cell again"
        raise InputError(message) from error


def _with_preprocessing(checkpoint: Mapping[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The checkpoint with what it says about preprocessing, where it does, in another form."""
    carried = checkpoint.get(CARRIED)
    preprocessing = carried.get("preprocessing") if isinstance(carried, Mapping) else None
    if not isinstance(carried, Mapping) or not isinstance(preprocessing, Mapping):
        return dict(checkpoint)
    return {**checkpoint, CARRIED: {**carried, "preprocessing": change(preprocessing)}}


def from_version_1(state: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint of the version before Lightning's format, with Lightning's names; any other one as it is.

    >>> from_version_1({"network": {"fc.bias": 0}, "optimizer": {}, "epochs": 3, "steps": 12})
    {'state_dict': {'network.fc.bias': 0}, 'epoch': 2, 'global_step': 12, 'optimizer_states': [{}]}
    """
    if "state_dict" in state or not isinstance(state.get("network"), dict):
        return state
    named = {"state_dict": {f"{PREFIX}{name}": value for name, value in state["network"].items()}}
    if "optimizer" not in state:
        return {**named, "epoch": state.get("epoch")}
    return {
        **named,
        "epoch": state["epochs"] - 1,
        "global_step": state["steps"],
        "optimizer_states": [state["optimizer"]],
    }


def network_state(path: Path, network: nn.Module, checkpoint: Mapping[str, Any] | None = None) -> dict[str, Tensor]:
    """The weights of a checkpoint, each of the name and shape that the network has.

    Args:
        path: the file; errors name it.
        network: that will take the weights.
        checkpoint: what was read of the file, where that was done already.
    """
    return _fitting(path, (load_checkpoint(path) if checkpoint is None else checkpoint)["state_dict"], network)


def resume_state(path: Path, network: nn.Module, epochs: int) -> Resumed:
    """``last.ckpt`` as a run goes on from it, every part checked.

    Args:
        path: the file.
        network: that will take the weights.
        epochs: of the whole run.
    """
    state = load_checkpoint(path)
    weights = _fitting(path, state["state_dict"], network)
    for name, most in (("epoch", epochs - 1), ("global_step", 2**63 - 1)):
        value = state.get(name)
        _expect(path, type(value) is int and 0 <= value <= most, f"{name} 0 .. {most}", value)
    optimizers = state.get("optimizer_states")
    optimizer = optimizers[0] if isinstance(optimizers, list) and len(optimizers) == 1 else None
    _check_optimizer(path, optimizer, [parameter.shape for parameter in network.parameters()])
    callbacks = state.get("callbacks", {})
    by_key = isinstance(callbacks, dict) and all(isinstance(value, dict) for value in callbacks.values())
    _expect(path, by_key, "the state of callbacks by name", _kind(callbacks))
    return Resumed(weights, optimizer or {}, state["epoch"] + 1, state["global_step"], callbacks, state)


def _check_optimizer(path: Path, optimizer: Any, shapes: list[torch.Size]) -> None:
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
                shape, found = tuple(shapes[number]), tuple(value.shape)
                # Or of one row or column for all: what Adafactor keeps of a matrix.
                fits = len(found) == len(shape) and all(side in (1, length) for side, length in zip(found, shape, strict=True))
                _expect(path, fits, f"{name} of parameter {number} with shape {shape}", found)


def _fitting(path: Path, state_dict: Mapping[str, Any], network: nn.Module) -> dict[str, Tensor]:
    own, weights = network.state_dict(), {name.removeprefix(PREFIX): value for name, value in state_dict.items()}
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
