"""A source of images as a network with an encoder takes it: features of the frozen encoder, or pixels on the encoder's scale."""

import hashlib
import os
from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch

from hardlabels.errors import InputError
from hardlabels.learning.augment import normalise
from hardlabels.learning.encoders import Prepared
from hardlabels.learning.encoders.images import frozen_encoder
from hardlabels.learning.encoders.keep import Rows, kept_rows
from hardlabels.learning.encoders.preprocess import as_rgb
from hardlabels.learning.threads import number_of_threads
from hardlabels.sources.download import cache_folder
from hardlabels.sources.features import feature_statistics
from hardlabels.sources.source import Source

BATCH, BLOCK = 4, 64
"""Images through the encoder at once, which is what fits in a core's cache (16 take 1.4 times as long per image on a core whose
cache others use too); images in a file, a few seconds' work of a core."""


def encoded_images(source: Source, encoder: str, weights: str | None = None, *, mirror: bool = True) -> Prepared:
    """The source with (N, d) features of the frozen encoder in place of its images, and those of the mirrored images beside them.

    Mirrored images are encoded only where a mirrored image keeps its label (``source.flip``) and ``mirror`` asks for them;
    without them, every epoch shows the images as they are. Features are a function of images and encoder alone; votes may change
    without encoding anything again.
    """
    check_images(source, "image_head")
    if source.scale is not None:
        raise InputError(
            "data.scale must be null for image_head, which encodes each image once, whole: "
            f"got {list(source.scale)}; recipe=image_finetune shows random windows"
        )
    return _encoded(source, encoder, weights, frozen_encoder(encoder, weights)[1], mirror and source.flip)


@lru_cache(maxsize=2)  # runs of a process share the features
def _encoded(source: Source, encoder: str, weights: str | None, digest: str, flip: bool) -> Prepared:
    features = encode_images(source.shown, encoder, weights)
    mirror = encode_images(source.shown[:, :, ::-1], encoder, weights, what="mirrored images") if flip else None
    mean, std = feature_statistics(features)
    prepared = replace(
        source, inputs=features, mirror=mirror, mean=mean, std=std, crop_padding=0, crop=None, scale=None, flip=flip
    )
    return Prepared(prepared, digest)


def scaled_images(source: Source, encoder: str, weights: str | None = None) -> Prepared:
    """The source with the mean and std that the encoder expects, for an encoder that is trained: pixels stay as they are."""
    check_images(source, "image_finetune")
    network, digest = frozen_encoder(encoder, weights)
    images = np.ascontiguousarray(as_rgb(source.inputs, source.name))
    return Prepared(replace(source, inputs=images, mean=network.form.mean, std=network.form.std), digest)


def encode_images(images: np.ndarray, encoder: str, weights: str | None = None, *, what: str = "images") -> np.ndarray:
    """(N, d) float32 features of any images, (N, H, W, 1 or 3) uint8: read from the cache folder, or made and kept there.

    Args:
        images: of any size; brought to the encoder's.
        encoder: its name; see :func:`~hardlabels.learning.encoders.images.open_encoder`.
        weights: a file of its weights; None takes the pretrained ones.
        what: the images, in a word or two, for the progress bar.
    """
    network, digest = frozen_encoder(encoder, weights)
    rounding = (
        "" if images.shape[1] == images.shape[2] else " longer side rounded down"
    )  # an earlier version rounded it to the nearest
    key = hashlib.sha256(f"image features {digest} {images.shape}{rounding}\n".encode())
    for image in images:  # one by one: a mirrored array need not be copied as a whole
        key.update(np.ascontiguousarray(image).data)
    path = cache_folder() / "image_features" / f"{key.hexdigest()}.npy"
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def begin() -> Rows:
        body = network.to(device)
        mean, std = (torch.tensor(values, device=device) for values in (network.form.mean, network.form.std))

        @torch.inference_mode()
        def rows(start: int, stop: int) -> np.ndarray:
            pixels = torch.from_numpy(np.ascontiguousarray(as_rgb(images[start:stop], what)))
            batches = [normalise(part.to(device), mean, std) for part in pixels.split(BATCH)]
            return torch.cat([body(batch) for batch in batches]).float().cpu().numpy()

        return rows

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with number_of_threads(1):  # several batches at a time fill the cores better than one batch
        title = f"encoding {what} with {encoder}"
        try:
            return kept_rows(path, len(images), begin, title=title, block=BLOCK, threads=1 if device.type == "cuda" else cores)
        finally:
            network.to("cpu")  # it has done its work, and what a GPU has of memory is for training


def check_images(source: Source, network: str) -> None:
    """Refuse items that are no images."""
    if not source.has_images:
        use = {"texts": "recipe=text_head", "vectors": "model=mlp"}.get(source.kind, "model=mlp")
        raise InputError(f"{network} takes images, and the items of {source.name!r} are {source.kind}: use {use}")
