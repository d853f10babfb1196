"""From an item to what a network takes, by what its checkpoint says: size, scale, encoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from hardlabels.errors import InputError
from hardlabels.learning.augment import normalise
from hardlabels.learning.encoders.features import BATCH
from hardlabels.learning.encoders.images import frozen_encoder
from hardlabels.learning.encoders.preprocess import as_rgb
from hardlabels.learning.encoders.sentences import encoder_digest, find_encoder, load_encoder, pair_features
from hardlabels.learning.threads import number_of_threads

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

KINDS = {"images": "images", "vectors": "feature vectors", "texts": "texts"}
DIMENSIONS = {"images": 3, "vectors": 1, "texts": 1}


@dataclass(frozen=True)
class Preparation:
    """How an item becomes what the network takes.

    Attributes:
        items: what a user gives: ``images``, ``vectors`` or ``texts``.
        shape: of one of them: (H, W, channels), (d,) or (parts,).
        takes: what the network itself is given: ``images``, ``vectors`` or ``tokens``.
        mean: of that, one per channel or feature.
        std: likewise.
        encoder: None, or its name, fingerprint and settings.
        fit: how an image file that is no square becomes one.
        crop: pixels a side of the middle window that the network is shown; None shows all of it.
    """

    items: str
    shape: tuple[int, ...]
    takes: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    encoder: dict[str, Any] | None
    fit: str = "stretch"
    crop: int | None = None

    @classmethod
    def from_checkpoint(cls, carried: Mapping[str, Any], data: Mapping[str, Any], path: Path) -> "Preparation":
        """What a checkpoint says, checked.

        Args:
            carried: its ``preprocessing``.
            data: the data's settings in the run's configuration, for what an earlier version did not carry.
            path: of the checkpoint, for messages.
        """
        items, shape, takes = carried.get("items"), carried.get("shape"), carried.get("takes")
        numbers = [carried.get(name) for name in ("mean", "std")]
        whole = isinstance(shape, list) and all(isinstance(side, int) and side > 0 for side in shape)
        right = items in KINDS and takes in ("images", "vectors", "tokens") and whole and len(shape or ()) == DIMENSIONS[items]
        if not right or not all(isinstance(n, list) and all(isinstance(x, (int, float)) for x in n) for n in numbers):
            raise InputError(
                f"{path}: expected how items are prepared, found items {items!r:.60}, shape {shape!r:.60}, takes {takes!r:.60}"
            )
        encoder = carried.get("encoder")
        extra = {name: data.get(name) if carried.get(name) is None else carried[name] for name in ("fit", "crop")}
        return cls(
            str(items),
            tuple(shape),  # type: ignore[arg-type]  # checked above
            str(takes),
            tuple(map(float, numbers[0] or ())),
            tuple(map(float, numbers[1] or ())),
            encoder if isinstance(encoder, dict) else None,
            str(extra["fit"] or "stretch"),
            extra["crop"] if isinstance(extra["crop"], int) else None,
        )

    @property
    def items_and_encoder(self) -> tuple[Any, ...]:
        """What several networks must share to be given the same prepared items; scales may differ, since each has its own."""
        return self.items, self.shape, self.takes, self.fit, self.crop, (self.encoder or {}).get("fingerprint")

    def check(self, items: np.ndarray) -> None:
        """Refuse items of another kind or shape than the network was trained on."""
        kind = object if self.items == "texts" else np.uint8 if self.items == "images" else np.float32
        if items.ndim != 1 + len(self.shape) or items.shape[1:] != self.shape or items.dtype != kind:
            expected = f"{KINDS[self.items]} of shape (n, {', '.join(map(str, self.shape))}), type {np.dtype(kind)}"
            raise InputError(f"expected {expected}, as this network was trained on; got shape {items.shape}, type {items.dtype}")

    def apply(self, items: np.ndarray, device: torch.device | str = "cpu") -> np.ndarray:
        """What the network takes, before it is scaled: pixels, features or token ids. Nothing is kept.

        Args:
            items: as :meth:`check` takes them.
            device: where a frozen encoder computes.
        """
        if self.items == "images":
            return self._images(items, torch.device(device))
        if self.items == "texts":
            return self._texts(items, torch.device(device))
        return items

    def _images(self, items: np.ndarray, device: torch.device) -> np.ndarray:
        if self.crop is not None:
            top, left = ((side - self.crop) // 2 for side in items.shape[1:3])
            items = items[:, top : top + self.crop, left : left + self.crop]
        if self.encoder is None:
            return items
        pixels = np.ascontiguousarray(as_rgb(items, "new images"))
        if self.takes == "images":
            return pixels
        network, _ = frozen_encoder(str(self.encoder["name"]), self.encoder.get("weights"))
        network.to(device)
        mean, std = (torch.tensor(values, device=device) for values in (network.form.mean, network.form.std))
        with torch.inference_mode(), number_of_threads(1):
            batches = [normalise(part.to(device), mean, std) for part in torch.from_numpy(pixels).split(BATCH)]
            return torch.cat([network(batch) for batch in batches]).float().cpu().numpy()

    def _texts(self, items: np.ndarray, device: torch.device) -> np.ndarray:
        encoder = self.encoder or {}
        folder = find_encoder(str(encoder.get("name")))
        network = _sentences(folder, encoder_digest(folder), str(device))
        flat = [str(text) for text in items.ravel()]
        if self.takes == "tokens":
            longest = int(encoder.get("longest", 128))
            tokens = network.tokenizer(flat, padding="longest", truncation=True, max_length=longest, return_tensors="np")[
                "input_ids"
            ]
            return tokens.astype(np.int32).reshape(*items.shape, -1)
        found = network.encode(flat, batch_size=64, show_progress_bar=False, convert_to_numpy=True).astype(np.float32)
        return np.ascontiguousarray(pair_features(found.reshape(*items.shape, -1)))


@lru_cache(maxsize=1)
def _sentences(folder: Path, digest: str, device: str) -> "SentenceTransformer":
    """The encoder in this folder, loaded once for all blocks of items; again where its files have another digest by now."""
    return load_encoder(folder, device)
