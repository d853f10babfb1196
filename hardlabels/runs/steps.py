"""Rounded logits in an archive: whole numbers of steps, low bytes and high bytes apart. Nothing is lost.

Compact records have logits that are multiples of 1/128 with the last class at 0, as float16 (:mod:`hardlabels.publish`). xz
makes little of these: a float's exponent and digits mix in every pair of bytes. As whole numbers of steps, without the last
class, all low bytes first and all high bytes after them, the same logits take a fifth fewer bytes. An archive holds them so, and
whoever reads it gets the arrays as they were, but for the sign of a logit of 0.
"""

import io

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.arrays import UNREADABLE, UNREADABLE_ZIP, read_npz

PER_UNIT = 128
"""Steps per unit of a logit."""

MARK = ".steps"
"""Ends the name of an array that is held as steps."""


def as_steps(content: bytes) -> bytes:
    """The bytes of ``predictions.npz`` as an archive holds them; unchanged where they would not come back the same.

    >>> out = io.BytesIO()
    >>> np.savez(out, logits=np.array([[1.5, -0.0078125, 0.0]], dtype=np.float16))
    >>> from_steps(as_steps(out.getvalue())) == out.getvalue(), as_steps(b"no arrays")
    (True, b'no arrays')
    """
    try:
        arrays = _read(content)
        packed = _write({name: value for key, array in arrays.items() for name, value in _packed(key, array)})
        back = _read(from_steps(packed))
        return packed if list(back) == list(arrays) and all(_equal(back[name], arrays[name]) for name in arrays) else content
    except (InputError, *UNREADABLE, *UNREADABLE_ZIP):  # whatever it is, it is packed as it is
        return content


def from_steps(content: bytes) -> bytes:
    """The bytes of ``predictions.npz`` from what an archive holds; unchanged where nothing is held as steps.

    A damaged file comes back as it is: that is found out when its run is read.

    Raises:
        InputError: arrays that are no steps.
    """
    try:
        arrays = _read(content)
    except (InputError, *UNREADABLE, *UNREADABLE_ZIP):
        return content
    if not any(name.endswith(MARK) for name in arrays):
        return content
    return _write({name.removesuffix(MARK): _unpacked(array) if name.endswith(MARK) else array for name, array in arrays.items()})


def _packed(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """(2, N, C - 1) low and high bytes of the steps; the array itself where it is not made of steps."""
    if not name.startswith("logits") or array.dtype != np.float16 or array.ndim != 2 or array.shape[1] < 2 or array[:, -1].any():
        return [(name, array)]
    steps = array[:, :-1].astype(np.float64) * PER_UNIT
    if not np.isfinite(steps).all() or np.abs(steps).max(initial=0) >= 1 << 15 or (steps != np.round(steps)).any():
        return [(name, array)]
    whole = np.ascontiguousarray(steps.astype("<i2"))
    return [(name + MARK, np.moveaxis(whole.view(np.uint8).reshape(*whole.shape, 2), 2, 0).copy())]


def _unpacked(planes: np.ndarray) -> np.ndarray:
    if planes.dtype != np.uint8 or planes.ndim != 3 or len(planes) != 2:
        raise InputError(f"predictions.npz: expected low and high bytes of steps, found {planes.dtype} of shape {planes.shape}")
    pairs = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
    logits = pairs.view("<i2")[:, :, 0] / PER_UNIT
    return np.concatenate([logits, np.zeros((len(logits), 1))], axis=1).astype(np.float16)


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _read(content: bytes) -> dict[str, np.ndarray]:
    return read_npz(io.BytesIO(content), len(content), "predictions.npz")


def _write(arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()
