"""Pretrained encoders: texts or images to numbers. Frozen, they run once over a data set and what they gave is kept by content.

- ``keep``: arrays that are slow to make, kept on disk by content, made in parts that survive an interruption.
- ``sentences``: the encoder of texts, and a source of texts as a network takes it.
- ``preprocess``: the size, scale and crop that an image encoder expects.
- ``image_encoder``: what every encoder of images is; ``images``: one by its name; ``efficientnet_lite``, ``timm_models`` and
  ``torchvision_models`` each wrap one package.
- ``features``: a source of images as a network takes it: features of a frozen encoder, or pixels on the encoder's scale.
"""

from typing import NamedTuple

from hardlabels.sources.source import Source

__all__ = ["Prepared"]


class Prepared(NamedTuple):
    """A source as a network with an encoder takes it."""

    source: Source
    encoder: str  # sha256 of all that decides what the encoder says
