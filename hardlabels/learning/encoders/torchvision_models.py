"""Any classifier of torchvision that has pretrained weights: the size, mean, std and crop that come with them."""

from pathlib import Path

import torch
from torch import Tensor, nn

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import ImageEncoder, load_weights, weights_digest
from hardlabels.learning.encoders.preprocess import INTERPOLATIONS, Preprocessing


def open_torchvision(name: str, weights: Path | None, *, pretrained: bool = True) -> ImageEncoder:
    """The model of this name without its last linear layer; with torchvision's default weights, or with those of a file.

    Args:
        name: of a model (``resnet50``), or of weights (``ResNet50_Weights.IMAGENET1K_V1``).
        weights: the file.
        pretrained: False does without torchvision's weights where there is no file.
    """
    from torchvision.models import get_model, get_model_weights, get_weight  # noqa: PLC0415

    try:
        if "." in name:
            chosen = get_weight(name)
            model = type(chosen).__name__.removesuffix("_Weights").lower()
        else:
            model, chosen = name, get_model_weights(name).DEFAULT
        form = chosen.transforms()
        size, resize = form.crop_size[0], form.resize_size[0]
    except (ValueError, AttributeError, KeyError) as error:
        raise InputError(
            f"model.encoder=torchvision/{name} must name a classifier of torchvision, or its weights: {error}"
        ) from error
    try:
        body = get_model(model, weights=chosen if pretrained and weights is None else None)
    except Exception as error:  # no network, or a download with other content
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"model.encoder=torchvision/{name} cannot be had with its weights (model.weights=FILE reads others): {reason}"
        ) from error
    classifier, features = _without_classifier(body.eval(), name, size)
    if weights is not None:
        load_weights(body, weights, (classifier,))
    interpolation = form.interpolation.value
    return ImageEncoder(
        f"torchvision/{model}",
        body,
        Preprocessing(
            size=size,
            resize=max(size, resize),
            mean=tuple(form.mean),
            std=tuple(form.std),
            interpolation=interpolation if interpolation in INTERPOLATIONS else "bicubic",
        ),
        features,
        weights_digest(body),
    )


def _without_classifier(body: nn.Module, name: str, size: int) -> tuple[str, int]:
    """Take the last linear layer off a network, in place; its name, and d.

    Args:
        body: the network, in eval mode.
        name: what it was asked for as, for the error.
        size: side of its images.

    Raises:
        InputError: what remains does not give d features of an image: the classifier is no linear layer, or takes no images.
    """
    linear = [(at, module) for at, module in body.named_modules() if isinstance(module, nn.Linear)]
    if not linear:
        raise InputError(f"model.encoder=torchvision/{name} must end in a linear layer, which is taken off, and it has none")
    classifier, last = linear[-1]
    parent, _, child = classifier.rpartition(".")
    setattr(body.get_submodule(parent), child, nn.Identity())
    try:
        with torch.no_grad():
            given = body(torch.zeros(1, 3, size, size))
    except (RuntimeError, ValueError, TypeError) as error:
        raise InputError(
            f"model.encoder=torchvision/{name} must take images (batch, 3, {size}, {size}), and fails on one: is it for videos?"
        ) from error
    if not isinstance(given, Tensor) or given.shape != (1, last.in_features):
        came = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
        raise InputError(
            f"model.encoder=torchvision/{name} must give (1, {last.in_features}) features of an image without its last linear "
            f"layer {classifier}, got {came}"
        )
    return classifier, last.in_features
