"""Any model of timm: its architecture, the size, mean, std and crop of its own configuration, weights of the hub or of a file."""

import difflib
import re
from pathlib import Path, PurePosixPath
from typing import Any

from torch import nn

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import (
    DEFAULT,
    EXTRA,
    ImageEncoder,
    load_weights,
    no_weights,
    number_of_features,
    weights_digest,
)
from hardlabels.learning.encoders.preprocess import INTERPOLATIONS, Preprocessing

NEAR = 3
"""Names in a message."""


def open_timm(name: str, weights: Path | None, *, pretrained: bool = True) -> ImageEncoder:
    """The model of this name without its classifier; pretrained, with the weights of a file, or with neither."""
    try:
        import timm  # noqa: PLC0415
        from timm.data import resolve_model_data_config  # noqa: PLC0415
    except ImportError as error:
        raise InputError(f"model.encoder={name} needs the images extra: {EXTRA}") from error
    name = _name_in_timm(name)
    try:
        body = timm.create_model(name, pretrained=pretrained and weights is None, num_classes=0)
    except Exception as error:  # no network, no such file on the hub, no such pretrained tag
        if "." in name and name not in (tags := timm.list_pretrained(f"{name.split('.')[0]}.*")):
            raise InputError(
                f"model.encoder={name}: timm has no such weights of this model (it has: {', '.join(tags[:NEAR]) or 'none'})"
            ) from error
        raise no_weights(name, error) from error
    for at, layer in list(body.named_modules()):
        if isinstance(layer, nn.Linear) and layer.out_features == 0:  # inception_next: its classifier for 0 classes gives nothing
            parent, _, child = at.rpartition(".")
            setattr(body.get_submodule(parent), child, nn.Identity())
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
    # Of what comes out of the pooling, which for some models is wider than their last stage.
    features = number_of_features(name, body, height)
    return ImageEncoder(f"timm/{name.split('.')[0]}", body, form, features, weights_digest(body))


def _name_in_timm(name: str) -> str:
    """The name that timm has for a model today: ``resnet50.tv_in1k`` for ``tv_resnet50``.

    Raises:
        InputError: it has no such model; those are named that the user may have meant.

    >>> _name_in_timm("tv_resnet50"), _name_in_timm("resnet50.a1_in1k")
    ('resnet50.tv_in1k', 'resnet50.a1_in1k')
    """
    import timm  # noqa: PLC0415

    name = timm.models.get_deprecated_models().get(name) or name
    known = timm.list_models()
    if name.split(".")[0] in known:
        return name
    key = re.sub(r"[^a-z0-9]+", "_", PurePosixPath(name).name.lower())
    packaged = {"efficientnet_lite": DEFAULT}
    words = set(key.split("_"))
    with_all_words = sorted((one for one in known if words <= set(one.split("_"))), key=len)
    alike = difflib.get_close_matches(key, [*packaged, *known], n=NEAR)
    near = list(dict.fromkeys(packaged.get(one, one) for one in [*with_all_words, *alike]))[:NEAR]
    own = "; for weights of your own, model.encoder names their architecture and model.weights=FILE the file"
    raise InputError(
        f"model.encoder must be {DEFAULT}, torchvision/NAME or the name of a model of timm, got {name!r:.60} "
        f"(near: {', '.join(near) or 'timm.list_models() has them'}){own if re.search(r'[/:]|[.]pt', name) else ''}"
    )
