"""Rounded logits as whole numbers of steps.

Compact records have logits that are multiples of 1/128 with the last class at 0, as float16 (:mod:`hardlabels.runs.compact`). xz
makes little of these: a float's exponent and digits mix in every pair of bytes. Archives therefore hold whole numbers of steps,
without the last class (:mod:`~hardlabels.runs.remainders`), and whoever reads an archive gets the arrays as they were, but for
the sign of a logit of 0. Archives of earlier versions hold the steps themselves, all low bytes before all high bytes;
:func:`from_steps` reads these.
"""

import io

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.arrays import UNREADABLE, UNREADABLE_ZIP, read_npz

PER_UNIT = 128
"""Steps per unit of a logit."""

MOST = 1 << 15
"""So many steps, of either sign, fit into two bytes."""

MARK = ".steps"
"""Ends the name of an array that is held as steps."""


def whole_steps(logits: np.ndarray) -> np.ndarray | None:
    """(N, C - 1) whole numbers of steps; None for an array that is not made of them.

    Args:
        logits: (N, C), as a run's file has them.

    >>> whole_steps(np.array([[1.5, -0.0078125, 0.0]], dtype=np.float16)).tolist()
    [[192, -1]]
    >>> whole_steps(np.array([[1.5, 0.1, 0.0]], dtype=np.float16)) is None
    True
    """
    if logits.dtype != np.float16 or logits.ndim != 2 or logits.shape[1] < 2 or logits[:, -1].any():
        return None
    steps = logits[:, :-1].astype(np.float64) * PER_UNIT
    if not np.isfinite(steps).all() or np.abs(steps).max(initial=0) >= MOST or (steps != np.round(steps)).any():
        return None
    return steps.astype(np.int64)


def from_whole_steps(steps: np.ndarray) -> np.ndarray:
    """(N, C) logits from (N, C - 1) whole steps: the inverse of :func:`whole_steps`.

    Raises:
        InputError: more steps than a logit can have.
    """
    if np.abs(steps).max(initial=0) > MOST:
        raise InputError(
            f"predictions.npz: expected logits of at most {MOST // PER_UNIT}, found {np.abs(steps).max() / PER_UNIT:g}"
        )
    return np.concatenate([steps / PER_UNIT, np.zeros((len(steps), 1))], axis=1).astype(np.float16)


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


def _unpacked(planes: np.ndarray) -> np.ndarray:
    if planes.dtype != np.uint8 or planes.ndim != 3 or len(planes) != 2:
        raise InputError(f"predictions.npz: expected low and high bytes of steps, found {planes.dtype} of shape {planes.shape}")
    pairs = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
    return from_whole_steps(pairs.view("<i2")[:, :, 0].astype(np.int64))


def _read(content: bytes) -> dict[str, np.ndarray]:
    return read_npz(io.BytesIO(content), len(content), "predictions.npz")


def _write(arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()
