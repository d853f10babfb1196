"""A network from plain values: the name of its class and its settings, as a configuration or a checkpoint has them."""

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from hardlabels.guard import build, named_code, refusals_of
from hardlabels.sources.source import Source


def build_network(settings: Mapping[str, Any]) -> nn.Module:
    """The network that these settings describe, with initial weights of torch's own generator.

    Args:
        settings: ``_target_`` (the dotted name of a subclass of ``torch.nn.Module``) and the arguments of its constructor.

    Raises:
        InputError: the name is no network, or its constructor does not take these settings.

    >>> build_network({"_target_": "hardlabels.learning.mlp.MLP", "num_classes": 3, "in_features": 5, "width": 1}).fc.out_features
    3
    """
    with refusals_of("model"):
        return build("model", settings, nn.Module)


def reopen_network(settings: Mapping[str, Any], encoder: Mapping[str, Any] | None) -> nn.Module:
    """The network that these settings describe, for weights that come from a checkpoint.

    A network whose checkpoints hold all of its encoder has a class method ``reopen``, which needs no pretrained weights.

    Args:
        settings: as :func:`build_network` takes them.
        encoder: what :func:`describe_items` says of its encoder; None where it has none.
    """
    reopen = getattr(network_class(settings), "reopen", None)
    if reopen is None or encoder is None:
        return build_network(settings)
    return reopen({name: value for name, value in settings.items() if name != "_target_"}, encoder)


def network_class(settings: Mapping[str, Any]) -> type[nn.Module]:
    """The class of the network that these settings describe."""
    return cast(type[nn.Module], named_code("model._target_", settings.get("_target_"), nn.Module))


def describe_items(
    source: Source, prepared: Source, network: Mapping[str, Any], encoder: str | None, fit: str | None = None
) -> dict[str, Any]:
    """All that must be known to give a trained network an item that it has never seen, as plain values.

    Args:
        source: the data as they are.
        prepared: the data as the network takes them: features or tokens, where it has an encoder.
        network: ``_target_`` and settings of the network.
        encoder: the fingerprint of its encoder's weights and preprocessing; None where it has none.
        fit: how files of images became squares; None where there were no files.

    Returns:
        ``items``: ``images``, ``vectors`` or ``texts``, and ``shape`` of one of them: (H, W, channels) uint8, (d,), (parts,).
        ``takes``: what the network itself is given, ``images``, ``vectors`` or ``tokens``, with their ``mean`` and ``std`` (of
        pixels / 255 for images). ``fit``: how an image file becomes a square; ``crop``: the side of the middle window that is
        shown, where not all of it is. ``crop_padding`` and ``flip``: the augmentation of training; at prediction there is none.
        ``encoder``: None, or its name, what else it was opened with, and its ``fingerprint``.
    """
    describe = getattr(network_class(network), "describe_encoder", None)
    return {
        "items": source.kind,
        "shape": list(source.inputs.shape[1:]),
        "takes": prepared.kind,
        "mean": list(prepared.mean),
        "std": list(prepared.std),
        "fit": fit,
        "crop": source.crop,
        "crop_padding": source.crop_padding,
        "flip": source.flip,
        "encoder": None if describe is None else {**describe(dict(network)), "fingerprint": encoder},
    }


LISTS = ("mean", "std")
"""The entries of :func:`describe_items` that have a number for every feature: thousands, where items are vectors."""


def pack_lists(preprocessing: Mapping[str, Any]) -> dict[str, Any]:
    """:func:`describe_items` with its long lists as float64 tensors, which hold the same numbers.

    A checkpoint is written in every epoch, and a list is pickled and read number by number: two lists of 1,536 took longer than
    the weights of a head.

    >>> pack_lists({"items": "vectors", "mean": [0.1, 0.2]})
    {'items': 'vectors', 'mean': tensor([0.1000, 0.2000], dtype=torch.float64)}
    """
    packed = {name: torch.tensor(preprocessing[name], dtype=torch.float64) for name in LISTS if name in preprocessing}
    return {**preprocessing, **packed}


def unpack_lists(preprocessing: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`pack_lists`; what has lists already stays as it is.

    >>> unpack_lists(pack_lists({"items": "vectors", "mean": [0.1, 0.2]}))
    {'items': 'vectors', 'mean': [0.1, 0.2]}
    """
    return {name: value.tolist() if isinstance(value, Tensor) else value for name, value in preprocessing.items()}
