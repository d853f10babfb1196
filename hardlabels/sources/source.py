"""What every source returns: the items and their votes, as one object."""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.digests import LARGE, digests_of_blocks
from hardlabels.votes import Split, Votes, split_items
from hardlabels.votes.names import check_class_names

SHAPES = {
    "images": "images (N, H, W, channels)",
    "vectors": "vectors (N, d)",
    "texts": "texts (N, parts) of 1 or 2 parts",
    "tokens": "tokens (N, parts, length) of 1 or 2 parts",
}
TYPES = {"images": np.uint8, "vectors": np.float32, "texts": np.object_, "tokens": np.int32}
"""What items can be, and the type of their array. Texts are Python's str: a fixed width would pad all to the longest."""
HALF = re.compile("[\ud800-\udfff]")  # of a pair of surrogates: JSON can write one without the other


@dataclass(frozen=True, eq=False)
class Source:
    """N items with C classes: images, feature vectors or texts, votes, and what is known about them.

    Args:
        name: the name of the data set; also a folder name in ``outputs``.
        inputs: images, (N, H, W, channels) uint8: channels last, which is how a batch is cropped and what convolutions prefer;
            or feature vectors, (N, d) float32; or texts, (N, parts) object: str, 1 part (a text) or 2 (a premise and its
            hypothesis); or tokens, (N, parts, length) int32, which a network makes of texts for itself.
        votes: the votes of the same N items, in the same order.
        labels: (N,) int64 reference label; only used to stratify the split, never a target.
        class_names: C names, in the order of the class indices.
        mean: one a channel, of ``inputs / 255``; one a feature, of ``inputs``, where these are vectors; () for texts and tokens.
        std: likewise.
        truth: (N, C) the true distribution, where it is known (synthetic data).
        crop_padding: zeros around an image before a random window is cut out of it. What keeps a label is a fact of the data. 0
            for all but images.
        flip: whether a mirrored image keeps its label. False for all but images, and vectors that have ``mirror``.
        mirror: (N, d) float32, where ``inputs`` are features of images: the features of the mirrored images.
        ids: N names of the items, as the user's files have them; () where items have none and are known by their position.
        groups: (N,) int64, equal for items that a split must not separate; None where every item is a group of its own.
        parts: (N,) int64, the part of each item (a place in ``votes.split.PARTS``) where the data come with a split of their own.
        crop: pixels a side of the window that a network is shown: a random one in training, the middle one otherwise. None shows
            the whole image.
        scale: (smallest, largest) share of the image's area that a random resized crop of training covers. None does not resize.
        ordered: whether the classes are a scale, in their order: distances between distributions then count its steps.

    >>> votes = Votes.from_counts([[2, 1], [0, 3]])
    >>> images = np.zeros((2, 4, 4, 1), dtype=np.uint8)
    >>> source = Source("toy", images, votes, np.array([0, 1]), ("cat", "dog"), mean=(0.0,), std=(1.0,))
    >>> len(source), source.fingerprint[:8]
    (2, '43720661')
    >>> texts = np.array([["a cat"], ["dogs bark"]], dtype=object)
    >>> Source("toy", texts, votes, np.array([0, 1]), ("cat", "dog"), mean=(), std=()).kind
    'texts'
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
    mirror: np.ndarray | None = None
    ids: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    parts: np.ndarray | None = None
    crop: int | None = None
    scale: tuple[float, float] | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        n, c = len(self.votes), self.votes.num_classes
        *others, last = SHAPES.values()
        self._expect(self.inputs.ndim in (2, 3, 4), "inputs", f"{', '.join(others)} or {last}", self.inputs)
        kind, dtype = self.kind, np.dtype(TYPES[self.kind])
        self._expect(self.inputs.dtype == dtype, "inputs", f"{dtype} for {kind}", self.inputs)
        self._expect(len(self.inputs) == n, "inputs", f"{n} items, as many as have votes", self.inputs)
        self._expect(self.labels.shape == (n,), "labels", f"shape ({n},), one an item", self.labels)
        self._expect(self.labels.dtype.kind in "iu", "labels", "whole numbers", self.labels)
        if len(bad := np.flatnonzero((self.labels < 0) | (self.labels >= c))):
            raise InputError(f"source {self.name!r}: label {bad[0]} must be a class 0 .. {c - 1}, got {self.labels[bad[0]]}")
        self._expect(self.truth is None or self.truth.shape == (n, c), "truth", f"shape ({n}, {c}), items x classes", self.truth)
        self._expect(not self.has_vectors or bool(np.isfinite(self.inputs).all()), "inputs", "finite", self.inputs)
        for field in ("groups", "parts"):
            numbers: np.ndarray | None = getattr(self, field)
            right = numbers is None or (numbers.shape == (n,) and numbers.dtype.kind in "iu")
            self._expect(right, field, f"shape ({n},), a whole number for each item", numbers)
        if len(self.ids) not in (0, n):
            raise InputError(f"source {self.name!r}: ids must be {n} names, one for each item, or none; got {len(self.ids)}")
        if kind in ("texts", "tokens"):
            self._expect(self.inputs.shape[1] in (1, 2), "inputs", SHAPES[kind], self.inputs)
        if self.has_texts:
            self._check_texts()
        if self.mirror is not None:
            alike = self.has_vectors and self.flip and self.mirror.shape == self.inputs.shape and self.mirror.dtype == dtype
            self._expect(alike, "mirror", f"of vectors that may be flipped, shape {self.inputs.shape}, {dtype}", self.mirror)
        elif not self.has_images and (self.crop_padding or self.flip):
            raise InputError(
                f"source {self.name!r}: only images are cropped and flipped; for {kind} crop_padding must be 0 and flip false, "
                f"got {self.crop_padding} and {self.flip}"
            )
        self._check_windows()
        channels = self.inputs.shape[-1] if kind in ("images", "vectors") else 0
        lengths = {"class_names": (self.class_names, c), "mean": (self.mean, channels), "std": (self.std, channels)}
        for field, (values, expected) in lengths.items():
            if len(values) != expected:
                raise InputError(f"source {self.name!r}: {field} must have {expected} entries, got {len(values)}: {values}")
        check_class_names(self.class_names, f"source {self.name!r}, class_names")

    def __len__(self) -> int:
        """The number of items N."""
        return len(self.votes)

    @property
    def kind(self) -> str:
        """What the items are: ``images``, ``vectors``, ``texts`` or ``tokens``."""
        if self.inputs.ndim == 2:
            return "vectors" if self.inputs.dtype.kind in "biufc" else "texts"
        return "images" if self.inputs.ndim == 4 else "tokens"

    @property
    def has_images(self) -> bool:
        """Whether the items are images."""
        return self.kind == "images"

    @property
    def has_vectors(self) -> bool:
        """Whether the items are feature vectors."""
        return self.kind == "vectors"

    @property
    def has_texts(self) -> bool:
        """Whether the items are texts."""
        return self.kind == "texts"

    def split(self, *, seed: int, protocol: str = "paper", train_items: int | None = None) -> Split:
        """Which items train, select and evaluate: see :func:`~hardlabels.votes.split.split_items`.

        By the seed, groups together; or as the data's own split says, which is then the same for every seed.
        """
        return split_items(
            self.labels, seed=seed, protocol=protocol, train_items=train_items, groups=self.groups, parts=self.parts
        )

    @property
    def shown(self) -> np.ndarray:
        """What a network is shown of each item outside of training: ``inputs``, or the middle window of images with ``crop``.

        A view: nothing is copied, and nothing of a mapped array is read.
        """
        if self.crop is None:
            return self.inputs
        top, left = ((side - self.crop) // 2 for side in self.inputs.shape[1:3])
        return self.inputs[:, top : top + self.crop, left : left + self.crop]

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of everything that can change a result, as hex: two sources are equal when their fingerprints are.

        All but ``name`` and ``ids``; and ``ordered``, which adds numbers to a result and changes none. Type and shape are hashed
        beside the bytes: an array and its reshaped copy are different data.
        """
        votes = self.votes
        arrays = {
            "inputs": _as_bytes(self.inputs) if self.has_texts else self.inputs,
            "labels": self.labels,
            "mean": np.array(self.mean, dtype=np.float64),
            "std": np.array(self.std, dtype=np.float64),
            "augmentation": np.array([self.crop_padding, self.flip]),
            **({"vote labels": votes.labels, "vote offsets": votes.offsets} if votes.has_votes else {"probabilities": votes.p}),
            **({} if votes.annotators is None else {"annotators": votes.annotators}),
            **({} if self.truth is None else {"truth": self.truth}),
            **({} if self.mirror is None else {"mirror": self.mirror}),
            **({} if self.groups is None else {"groups": self.groups}),
            **({} if self.parts is None else {"parts": self.parts}),
            **({} if self.crop is None else {"crop": np.array(self.crop)}),
            **({} if self.scale is None else {"scale": np.array(self.scale, dtype=np.float64)}),
        }
        digest = hashlib.sha256(repr(self.class_names).encode())
        for field, array in arrays.items():
            digest.update(f"{field} {array.dtype.str} {array.shape}".encode())
            large = array.nbytes >= LARGE
            digest.update("".join(digests_of_blocks(array)).encode() if large else np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def _check_windows(self) -> None:
        """Refuse a window that is no part of the images, and a share of their area that is none."""
        if not self.has_images and not (self.crop is None and self.scale is None):
            raise InputError(
                f"source {self.name!r}: crop and scale are for images and must be None for {self.kind}, "
                f"got {self.crop} and {self.scale}"
            )
        if not (self.crop is None and self.scale is None) and self.inputs.shape[1] != self.inputs.shape[2]:
            raise InputError(f"source {self.name!r}: crop and scale are for square images, got {self.inputs.shape[1:3]}")
        if self.crop is not None and not 1 <= self.crop <= min(self.inputs.shape[1:3]):
            raise InputError(
                f"source {self.name!r}: crop must be 1 .. {min(self.inputs.shape[1:3])}, the side of its images, got {self.crop}"
            )
        if self.scale is not None and not (len(self.scale) == 2 and 0 < self.scale[0] <= self.scale[1] <= 1):
            raise InputError(
                f"source {self.name!r}: scale must be two shares of the area, 0 < smallest <= largest <= 1, got {self.scale}"
            )

    def _check_texts(self) -> None:
        """Refuse an item that is not text, has none, or has half a character, which no encoder takes."""
        for (item, part), text in np.ndenumerate(self.inputs):
            if not isinstance(text, str) or not text.strip():
                expected = "a text that is not empty"
            elif HALF.search(text):
                expected = "whole characters (a lone surrogate is half of one)"
            else:
                continue
            place = f"item {item}" if self.inputs.shape[1] == 1 else f"item {item}, part {part}"
            raise InputError(f"source {self.name!r}: {place} must be {expected}, got {text!r:.60}")

    def _expect(self, holds: bool, field: str, expected: str, came: np.ndarray | None) -> None:
        if not holds:
            got = "None" if came is None else f"shape {came.shape}, type {came.dtype}"
            raise InputError(f"source {self.name!r}: {field} must be {expected}, got {got}")


def _as_bytes(texts: np.ndarray) -> np.ndarray:
    """Texts as (N, parts) rows of bytes, each with its length: an object array holds addresses, which no two processes share.

    >>> bytes(_as_bytes(np.array([["a", "bc"]], dtype=object)))
    b'(1, 2) 1:a2:bc'
    """
    encoded = [text.encode() for text in texts.flat]
    return np.frombuffer(b"%r " % (texts.shape,) + b"".join(b"%d:%s" % (len(text), text) for text in encoded), dtype=np.uint8)
