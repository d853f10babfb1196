"""Any classifier of torchvision that has pretrained weights: the size, mean, std and crop that come with them."""

import difflib
from pathlib import Path
from typing import Any

from torch import nn

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import ImageEncoder, load_weights, no_weights, number_of_features, weights_digest
from hardlabels.learning.encoders.preprocess import INTERPOLATIONS, Preprocessing

AUXILIARY = ("AuxLogits", "aux1", "aux2")
"""Further classifiers of Inception and GoogLeNet, which are used in their own training only."""


def open_torchvision(name: str, weights: Path | None, *, pretrained: bool = True) -> ImageEncoder:
    """The model of this name without the last layer, which classifies; with torchvision's default weights, or those of a file.

    Args:
        name: of a model (``resnet50``), or of weights (``ResNet50_Weights.IMAGENET1K_V1``).
        weights: the file.
        pretrained: False does without torchvision's weights where there is no file.
    """
    from torchvision import models  # noqa: PLC0415

    try:
        if "." in name:
            chosen = models.get_weight(name)
            model = type(chosen).__name__.removesuffix("_Weights").lower()
        else:
            model, chosen = name, models.get_model_weights(name).DEFAULT
        form = chosen.transforms()
        size, resize = form.crop_size[0], form.resize_size[0]
    except (ValueError, AttributeError, KeyError) as error:  # no such name, or one for another task
        near = ", ".join(difflib.get_close_matches(name.lower(), models.list_models(module=models)))
        raise InputError(
            f"model.encoder=torchvision/{name} must name a classifier of torchvision, or its weights "
            f"(near: {near or 'torchvision.models.list_models(module=torchvision.models) has them'})"
        ) from error
    try:
        if pretrained and weights is None:
            body = models.get_model(model, weights=chosen)
        else:
            body = models.get_model(model, weights=None, **_settings_of_weights(model, chosen))
    except Exception as error:  # no network, or a download with other content
        raise no_weights(f"torchvision/{name}", error) from error
    for part in AUXILIARY:
        if hasattr(body, part):
            setattr(body, part, None)
    classifier, features = _without_classifier(body.eval(), name, size)
    if weights is not None:
        load_weights(body, weights, (classifier, *AUXILIARY))
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


def _settings_of_weights(model: str, chosen: Any) -> dict[str, Any]:
    """What torchvision's own function sets where it is given these weights, and would set otherwise without them.

    >>> from torchvision.models import ViT_B_16_Weights
    >>> _settings_of_weights("vit_b_16", ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1)
    {'image_size': 384}
    """
    if model.startswith("vit_"):
        return {"image_size": chosen.meta["min_size"][0]}
    if model in ("googlenet", "inception_v3"):  # their weights are for pixels on another scale than their mean and std say
        return {"transform_input": True, "init_weights": False}
    return {}


def _without_classifier(body: nn.Module, name: str, size: int) -> tuple[str, int]:
    """Take the last linear layer off a network, in place; its name, and d.

    SqueezeNet has none: a convolution of one pixel classifies each place of its last maps, which are averaged afterwards. Without
    it, the maps themselves are.

    Args:
        body: the network, in eval mode.
        name: what it was asked for as, for the error.
        size: side of its images.

    Raises:
        InputError: what remains does not give d features of an image: the classifier is none of the two, or takes no images.
    """
    layers = list(body.named_modules())
    linear = [(at, layer.in_features) for at, layer in layers if isinstance(layer, nn.Linear)]
    pointwise = [(at, layer.in_channels) for at, layer in layers if isinstance(layer, nn.Conv2d) and layer.kernel_size == (1, 1)]
    if not (found := linear or pointwise):
        raise InputError(
            f"model.encoder=torchvision/{name} must end in a linear layer or a convolution of one pixel, which is taken off, and "
            "has neither: torchvision.models.list_models(module=torchvision.models) are the classifiers that will do"
        )
    classifier, features = found[-1]
    parent, _, child = classifier.rpartition(".")
    setattr(body.get_submodule(parent), child, nn.Identity())
    if (found_features := number_of_features(f"torchvision/{name}", body, size)) != features:
        raise InputError(
            f"model.encoder=torchvision/{name} must give (1, {features}) features of an image without its last layer "
            f"{classifier}, got (1, {found_features})"
        )
    return classifier, features
