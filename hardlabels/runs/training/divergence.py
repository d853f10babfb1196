"""A run whose numbers are no longer numbers: what must stay finite, and how such a run ends."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

CURES = "a smaller recipe.optimizer.lr, or +trainer.gradient_clip_val=1, with run.tag=NAME"
AGAIN = "remove the folder to train this cell again"


class DivergenceError(RuntimeError):
    """Training broke down. The run has failed: it has no result, and repeating it would end at the same epoch."""


def check_finite(row: Mapping[str, float], earlier: Sequence[Mapping[str, float]]) -> None:
    """End a run at the first epoch whose training loss or soft NLL is NaN or infinite.

    It looks once per epoch at numbers that all processes have in common already, so that all of them stop. Other metrics may be
    undefined: the entropy correlation of constant predictions, every metric of a slice without items.

    Args:
        row: of ``history.csv``, for the epoch that just ended.
        earlier: the rows before it.

    Raises:
        DivergenceError: in one line: epoch, learning rate, the last finite value, what to try.

    >>> check_finite({"epoch": 1, "lr": 0.1, "train/loss": 2.0, "evaluate/soft_nll": 1.5, "evaluate/ent_corr": math.nan}, [])
    >>> check_finite({"epoch": 1, "lr": 9.0, "train/loss": math.nan}, [{"epoch": 0, "train/loss": 2.5}])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    hardlabels.runs.training.divergence.DivergenceError: diverged in epoch 1 at learning rate 9: train/loss is nan (2.5 ...
    """
    for name in row:
        _, _, metric = name.partition("/")  # a slice's has its name in between
        if metric in ("loss", "soft_nll") and not math.isfinite(row[name]):
            finite = [before for before in earlier if math.isfinite(before.get(name, math.nan))]
            last = f"{finite[-1][name]:.4g} in epoch {finite[-1]['epoch']:.0f}" if finite else "never finite before"
            rate = f" at learning rate {row['lr']:.4g}" if "lr" in row else ""
            raise DivergenceError(f"diverged in epoch {row['epoch']:.0f}{rate}: {name} is {row[name]} ({last}); try {CURES}")


def check_logits(logits: Mapping[str, np.ndarray]) -> None:
    """Refuse predictions that are no finite numbers.

    Args:
        logits: of a checkpoint, by its name.

    Raises:
        DivergenceError: in one line: which checkpoint, how many items.

    >>> check_logits({"best": np.array([[0.0, 1.0], [np.nan, 0.0]])})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    hardlabels.runs.training.divergence.DivergenceError: diverged: the best checkpoint gives logits that are no ...
    """
    for name, values in logits.items():
        if bad := int((~np.isfinite(values)).any(1).sum()):
            what = f"the {name} checkpoint gives logits that are no finite numbers, for {bad} of {len(values)} items"
            raise DivergenceError(f"diverged: {what}; try {CURES}")


def why_failed(result: Mapping[str, Any]) -> str | None:
    """Why a result is none, though it was written: earlier versions finished runs that had diverged. None: it is one.

    >>> why_failed({"best": {"epoch": 0, "full": {"soft_nll": None, "ent_corr": None}}})
    'diverged: soft NLL of the best checkpoint (epoch 0) is no finite number; remove the folder to train this cell again'
    >>> why_failed({"best": {"epoch": 0, "full": {"soft_nll": 0.5, "ent_corr": None}}})
    """
    for checkpoint in ("best", "last"):
        entry = result.get(checkpoint, {})
        value = entry.get("full", {}).get("soft_nll", 0.0)
        if value is None or not math.isfinite(value):
            return f"diverged: soft NLL of the {checkpoint} checkpoint (epoch {entry.get('epoch')}) is no finite number; {AGAIN}"
    return None
