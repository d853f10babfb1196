"""Rounded logits in an archive: what is left of them once the runs before have said what to expect. Nothing is lost.

All methods of a seed answer about the same items, and much of a network's answer is known from the others': an image that looks
like a cat looks like a cat to each of them. So an archive does not hold the logits x of a run. It holds weights w of the runs
before it, offsets b of the classes, and the remainder

    r = x - round(sum_j w_j x_j + b),    with x in whole steps of 1/128 (:mod:`~hardlabels.runs.steps`),

which is small where the runs agree. The weights are those of least squares, in whole units of 1/4096, and reading them back is
integer arithmetic alone: every machine gets the same logits, to the bit. Low bytes come before high bytes, and a class after the
other, which is the order that xz makes most of. Records of texts take a sixth fewer bytes this way.

The file is called ``predictions.remainders.npz`` in the archive. A version that cannot read it refuses it by this name, and does
not take it for a run's own file.
"""

import io
from pathlib import PurePosixPath

import numpy as np

from hardlabels.errors import InputError
from hardlabels.runs.steps import from_whole_steps, whole_steps
from hardlabels.votes.arrays import UNREADABLE, UNREADABLE_ZIP, read_npz

PLAIN, PACKED = "/predictions.npz", "/predictions.remainders.npz"
"""Ends of a member's name: of a run's own file, and of what the archive holds in its place."""

PARTS = (".remainder", ".weights", ".offsets")
"""End the names of the three arrays that stand for an array of logits."""

UNIT = 4096
"""Weights and offsets are whole numbers of 1/4096."""

EARLIER = 64
"""So many earlier arrays of logits are looked at, the latest ones."""

NOISE = 0.1
"""Squared steps per logit that no earlier run can explain; it keeps the weights small where two runs are the same."""


class Remainders:
    """Packs, or unpacks, the predictions of an archive's runs: one object per archive, each run once, in the archive's order."""

    def __init__(self) -> None:
        self._seed = ""
        self._earlier: list[np.ndarray] = []

    def pack(self, name: str, content: bytes) -> tuple[str, bytes]:
        """Name and content of a member as the archive holds it; unchanged where it would not come back the same.

        Args:
            name: ``<method>/K=<K|all>/seed=<seed>/<file>``.
            content: the file's bytes.
        """
        if not name.endswith(PLAIN):
            return name, content
        self._begin(name)
        before = list(self._earlier)
        try:
            arrays = _read(content)
            held = _write({key: part for key, array in arrays.items() for key, part in self._packed(key, array)})
            back = _read(Remainders._after(before)._restored(held))
            if len(self._earlier) > len(before) and _equal(arrays, back):
                return name.removesuffix(PLAIN) + PACKED, held
        except (InputError, *UNREADABLE, *UNREADABLE_ZIP):  # whatever it is, it is packed as it is
            pass
        self._earlier = before
        return name, content

    def unpack(self, name: str, content: bytes) -> tuple[str, bytes]:
        """Name and content of a run's file from what the archive holds.

        Raises:
            InputError: no predictions that :meth:`pack` wrote, or not all runs before it were given.
        """
        if not name.endswith(PACKED):
            return name, content
        self._begin(name)
        try:
            return plain_name(name), self._restored(content)
        except (*UNREADABLE, *UNREADABLE_ZIP) as error:
            raise InputError(f"{name}: expected arrays, found: {error or type(error).__name__}") from error

    @classmethod
    def _after(cls, earlier: list[np.ndarray]) -> "Remainders":
        found = cls()
        found._earlier = list(earlier)
        return found

    def _begin(self, name: str) -> None:
        """Forget the runs of another seed: they were evaluated on other items."""
        seed = PurePosixPath(name).parent.name
        if seed != self._seed:
            self._seed, self._earlier = seed, []

    def _packed(self, name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """The three arrays that stand for logits; the array itself where it is not made of steps."""
        steps = whole_steps(array) if name.startswith("logits") else None
        if steps is None:
            return [(name, array)]
        known = [earlier for earlier in self._earlier if earlier.shape == steps.shape][-EARLIER:]
        weights = expected_weights(steps, known)
        expected = _weighted(weights, known, steps.shape)
        offsets = np.round((steps * UNIT - expected).mean(0)).astype(np.int64) if len(steps) else expected.sum(0)
        remainder = steps - _rounded(expected + offsets)
        folded = np.where(remainder >= 0, 2 * remainder, -2 * remainder - 1)  # small numbers of either sign have no high byte
        if folded.max(initial=0) >= 1 << 16 or np.abs(offsets).max(initial=0) >= 1 << 31:
            return [(name, array)]
        self._earlier.append(steps)
        pairs = np.ascontiguousarray(folded.T.astype("<u2")).view(np.uint8).reshape(*folded.T.shape, 2)
        parts = (np.moveaxis(pairs, 2, 0).copy(), weights.astype("<i2"), offsets.astype("<i4"))
        return [(name + end, part) for end, part in zip(PARTS, parts, strict=True)]

    def _restored(self, content: bytes) -> bytes:
        held = _read(content)
        arrays: dict[str, np.ndarray] = {}
        for name, array in held.items():
            if name.endswith(PARTS[0]):
                stem = name.removesuffix(PARTS[0])
                arrays[stem] = self._logits(stem, *(held.get(stem + end) for end in PARTS))
            elif not name.endswith(PARTS):
                arrays[name] = array
        return _write(arrays)

    def _logits(self, name: str, planes: np.ndarray | None, weights: np.ndarray | None, offsets: np.ndarray | None) -> np.ndarray:
        """(N, C) float16 from their three arrays and the runs before."""
        if (
            planes is None or weights is None or offsets is None
            or (planes.dtype, weights.dtype, offsets.dtype) != (np.uint8, np.int16, np.int32)
            or (planes.ndim, weights.ndim, offsets.ndim) != (3, 1, 1)
            or planes.shape[:2] != (2, len(offsets))
        ):  # fmt: skip
            found = [None if part is None else f"{part.dtype} {part.shape}" for part in (planes, weights, offsets)]
            raise InputError(f"{PACKED[1:]}, {name}: expected bytes (2, C - 1, N), weights and C - 1 offsets, found {found}")
        pairs = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
        folded = pairs.view("<u2")[:, :, 0].T.astype(np.int64)
        known = [earlier for earlier in self._earlier if earlier.shape == folded.shape][-EARLIER:]
        if len(weights) != len(known):
            raise InputError(
                f"{PACKED[1:]}, {name}: expected a weight for each of the {len(known)} logits before it, found {len(weights)}; "
                "an archive is read from its beginning"
            )
        remainder = np.where(folded % 2 == 0, folded // 2, -(folded + 1) // 2)
        steps = remainder + _rounded(_weighted(weights.astype(np.int64), known, folded.shape) + offsets.astype(np.int64))
        self._earlier.append(steps)
        return from_whole_steps(steps)


def plain_name(name: str) -> str:
    """The name of a run's file, whatever form the archive holds it in.

    >>> plain_name("soft/K=5/seed=0/predictions.remainders.npz"), plain_name("soft/K=5/seed=0/done")
    ('soft/K=5/seed=0/predictions.npz', 'soft/K=5/seed=0/done')
    """
    return name.removesuffix(PACKED) + PLAIN if name.endswith(PACKED) else name


def expected_weights(steps: np.ndarray, known: list[np.ndarray]) -> np.ndarray:
    """(M,) whole weights, in units of 1/4096, of the least squares that predict an array from M others.

    Args:
        steps: (N, C - 1) whole steps.
        known: M arrays of this shape.

    >>> one = np.array([[128, -128], [256, 0], [-384, 512]])
    >>> expected_weights(2 * one, [one]).tolist()[0] / UNIT
    2.0
    """
    if not known or not len(steps):
        return np.zeros(len(known), np.int64)
    around = [(array - np.round(array.mean(0))).ravel() for array in (*known, steps)]
    features, target = np.stack(around[:-1]), around[-1]  # whole numbers, so these sums have no rounding
    gram = features @ features.T + NOISE * steps.size * np.eye(len(known))
    return np.clip(np.round(np.linalg.solve(gram, features @ target) * UNIT), -(1 << 15), (1 << 15) - 1).astype(np.int64)


def _weighted(weights: np.ndarray, known: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    total = np.zeros(shape, np.int64)
    for weight, array in zip(weights, known, strict=True):
        total += weight * array
    return total


def _rounded(units: np.ndarray) -> np.ndarray:
    """Whole steps from whole units of 1/4096, by integers alone."""
    return (units + UNIT // 2) // UNIT


def _equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return list(one) == list(other) and all(
        array.dtype == other[name].dtype and np.array_equal(array, other[name], equal_nan=array.dtype.kind == "f")
        for name, array in one.items()
    )


def _read(content: bytes) -> dict[str, np.ndarray]:
    return read_npz(io.BytesIO(content), len(content), PLAIN[1:])


def _write(arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()
