"""What every source returns: the items and their votes, as one object."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes import Votes
from hardlabels.votes.names import check_class_names


@dataclass(frozen=True, eq=False)
class Source:
    """N items with C classes: images or feature vectors, votes, and what is known about them.

    Args:
        name: the name of the data set; also a folder name in ``outputs``.
        inputs: images, (N, H, W, channels) uint8: channels last, which is how a batch is cropped and what convolutions prefer;
            or feature vectors, (N, d) float32.
        votes: the votes of the same N items, in the same order.
        labels: (N,) int64 reference label; only used to stratify the split, never a target.
        class_names: C names, in the order of the class indices.
        mean: one a channel, of ``inputs / 255``; one a feature, of ``inputs``, where these are vectors.
        std: likewise.
        truth: (N, C) the true distribution, where it is known (synthetic data).
        crop_padding: zeros around an image before a random crop of its own size. What keeps a label is a fact of the data. 0 for
            vectors.
        flip: whether a mirrored image keeps its label. False for vectors.

    >>> votes = Votes.from_counts([[2, 1], [0, 3]])
    >>> images = np.zeros((2, 4, 4, 1), dtype=np.uint8)
    >>> source = Source("toy", images, votes, np.array([0, 1]), ("cat", "dog"), mean=(0.0,), std=(1.0,))
    >>> len(source), source.fingerprint[:8]
    (2, '43720661')
    """

    name: str
    inputs: np.ndarray
    votes: Votes
    labels: np.ndarray
    class_names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    truth: np.ndarray | None = None
    crop_padding: int = 0
    flip: bool = False

    def __post_init__(self) -> None:
        n, c = len(self.votes), self.votes.num_classes
        self._expect(self.inputs.ndim in (2, 4), "inputs", "images (N, H, W, channels) or vectors (N, d)", self.inputs)
        kind = np.dtype(np.uint8 if self.has_images else np.float32)
        self._expect(self.inputs.dtype == kind, "inputs", f"{kind} for {'images' if self.has_images else 'vectors'}", self.inputs)
        self._expect(len(self.inputs) == n, "inputs", f"{n} items, as many as have votes", self.inputs)
        self._expect(self.labels.shape == (n,), "labels", f"shape ({n},), one an item", self.labels)
        self._expect(self.labels.dtype.kind in "iu", "labels", "whole numbers", self.labels)
        if len(bad := np.flatnonzero((self.labels < 0) | (self.labels >= c))):
            raise InputError(f"source {self.name!r}: label {bad[0]} must be a class 0 .. {c - 1}, got {self.labels[bad[0]]}")
        self._expect(self.truth is None or self.truth.shape == (n, c), "truth", f"shape ({n}, {c}), items x classes", self.truth)
        self._expect(self.has_images or bool(np.isfinite(self.inputs).all()), "inputs", "finite", self.inputs)
        if not self.has_images and (self.crop_padding or self.flip):
            raise InputError(
                f"source {self.name!r}: only images are cropped and flipped; for vectors crop_padding must be 0 and flip false, "
                f"got {self.crop_padding} and {self.flip}"
            )
        channels = self.inputs.shape[-1]
        lengths = {"class_names": (self.class_names, c), "mean": (self.mean, channels), "std": (self.std, channels)}
        for field, (values, expected) in lengths.items():
            if len(values) != expected:
                raise InputError(f"source {self.name!r}: {field} must have {expected} entries, got {len(values)}: {values}")
        check_class_names(self.class_names, f"source {self.name!r}, class_names")

    def __len__(self) -> int:
        """The number of items N."""
        return len(self.votes)

    @property
    def has_images(self) -> bool:
        """Whether the items are images; they are feature vectors otherwise."""
        return self.inputs.ndim == 4

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of everything that can change a result, as hex: two sources are equal when their fingerprints are.

        All but ``name``. Type and shape are hashed beside the bytes: an array and its reshaped copy are different data.
        """
        votes = self.votes
        arrays = {
            "inputs": self.inputs,
            "labels": self.labels,
            "mean": np.array(self.mean, dtype=np.float64),
            "std": np.array(self.std, dtype=np.float64),
            "augmentation": np.array([self.crop_padding, self.flip]),
            **({"vote labels": votes.labels, "vote offsets": votes.offsets} if votes.has_votes else {"probabilities": votes.p}),
            **({} if votes.annotators is None else {"annotators": votes.annotators}),
            **({} if self.truth is None else {"truth": self.truth}),
        }
        digest = hashlib.sha256(repr(self.class_names).encode())
        for field, array in arrays.items():
            digest.update(f"{field} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def _expect(self, holds: bool, field: str, expected: str, came: np.ndarray | None) -> None:
        if not holds:
            got = "None" if came is None else f"shape {came.shape}, type {came.dtype}"
            raise InputError(f"source {self.name!r}: {field} must be {expected}, got {got}")
