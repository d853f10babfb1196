"""Any model of timm: its architecture, the size, mean, std and crop of its own configuration, weights of the hub or of a file."""

import difflib
from pathlib import Path
from typing import Any

import torch

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import EXTRA, ImageEncoder, load_weights, no_weights, weights_digest
from hardlabels.learning.encoders.preprocess import INTERPOLATIONS, Preprocessing


def open_timm(name: str, weights: Path | None, *, pretrained: bool = True) -> ImageEncoder:
    """The model of this name without its classifier; pretrained, with the weights of a file, or with neither."""
    try:
        import timm  # noqa: PLC0415
        from timm.data import resolve_model_data_config  # noqa: PLC0415
    except ImportError as error:
        raise InputError(f"model.encoder={name} needs the images extra: {EXTRA}") from error
    if name.split(".")[0] not in (known := timm.list_models()):
        near = ", ".join(difflib.get_close_matches(name, known, n=3)) or "timm.list_models() has them"
        raise InputError(
            f"model.encoder must be efficientnet-lite, torchvision/NAME or the name of a model of timm, got {name!r:.60} "
            f"(near: {near})"
        )
    try:
        body = timm.create_model(name, pretrained=pretrained and weights is None, num_classes=0)
    except Exception as error:  # no network, no such file on the hub, no such pretrained tag
        raise no_weights(name, error) from error
    if weights is not None:
        classifier: Any = body.pretrained_cfg.get("classifier") or ()  # type: ignore[union-attr, operator]
        load_weights(body, weights, (classifier,) if isinstance(classifier, str) else tuple(classifier))
    config = resolve_model_data_config(body)
    _, height, width = config["input_size"]
    if height != width:
        raise InputError(f"model.encoder={name} takes images of {height} x {width} pixels, and only squares are cut here")
    form = Preprocessing(
        size=height,
        resize=max(height, int(height / config["crop_pct"])),
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
        interpolation=config["interpolation"] if config["interpolation"] in INTERPOLATIONS else "bicubic",
    )
    # What comes out of the pooling, which for some models is wider than their last stage.
    with torch.no_grad():
        features = body.eval()(torch.zeros(1, 3, height, width)).shape[1]
    return ImageEncoder(f"timm/{name.split('.')[0]}", body, form, features, weights_digest(body))
