"""Values by epoch, one curve for each seed: the common shape, checked."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from hardlabels.errors import InputError

Curves: TypeAlias = Mapping[int, Sequence[float]]
"""Seed to the values after epochs 0, 1, 2, ... of its run."""


def as_table(curves: Curves, name: str) -> tuple[tuple[int, ...], np.ndarray]:
    """The seeds in order, and (n, E) their values by epoch.

    Args:
        curves: seed to values by epoch, all of the same length.
        name: what error messages call them.

    Raises:
        InputError: without seeds or epochs, on curves of different lengths, on a value that is not finite.

    >>> as_table({1: [0.5, 0.4], 0: [0.6, 0.3]}, "evaluation")
    ((0, 1), array([[0.6, 0.3],
           [0.5, 0.4]]))
    """
    seeds = tuple(sorted(curves))
    lengths = {len(curves[seed]) for seed in seeds}
    if len(lengths) != 1 or 0 in lengths:
        found = ", ".join(map(str, sorted(lengths))) or "no seeds"
        raise InputError(f"{name}: curves must have one length, 1 epoch or more, got {found}")
    table = np.array([curves[seed] for seed in seeds], dtype=np.float64)
    if not np.isfinite(table).all():
        row, epoch = (int(place[0]) for place in np.nonzero(~np.isfinite(table)))
        raise InputError(f"{name}: seed {seeds[row]} must have a finite value after epoch {epoch}, got {table[row, epoch]}")
    return seeds, table


def paired_tables(a: Curves, b: Curves, names: tuple[str, str]) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The seeds of two sets of curves and both tables (n, E); refused unless seeds and lengths are the same.

    >>> paired_tables({0: [1.0]}, {0: [2.0]}, ("a", "b"))
    ((0,), array([[1.]]), array([[2.]]))
    """
    (seeds, left), (others, right) = as_table(a, names[0]), as_table(b, names[1])
    if seeds != others or left.shape != right.shape:
        shapes = " and ".join(
            f"seeds {', '.join(map(str, s))} with {t.shape[1]} epochs" for s, t in ((seeds, left), (others, right))
        )
        raise InputError(f"{names[0]} and {names[1]} must have curves of the same seeds and lengths, got {shapes}")
    return seeds, left, right
