"""Any classifier of torchvision that has pretrained weights: the size, mean, std and crop that come with them."""

from pathlib import Path

from torch import nn

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import ImageEncoder, load_weights, weights_digest
from hardlabels.learning.encoders.preprocess import INTERPOLATIONS, Preprocessing


def open_torchvision(name: str, weights: Path | None) -> ImageEncoder:
    """The model of this name without its last linear layer; with torchvision's default weights, or with those of a file.

    Args:
        name: of a model (``resnet50``), or of weights (``ResNet50_Weights.IMAGENET1K_V1``).
        weights: the file.
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
        body = get_model(model, weights=chosen if weights is None else None)
    except Exception as error:  # no network, or a download with other content
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"model.encoder=torchvision/{name} cannot be had with its weights (model.weights=FILE reads others): {reason}"
        ) from error
    *_, (classifier, last) = ((at, module) for at, module in body.named_modules() if isinstance(module, nn.Linear))
    parent, _, child = classifier.rpartition(".")
    setattr(body.get_submodule(parent), child, nn.Identity())
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
        last.in_features,
        weights_digest(body),
    )
