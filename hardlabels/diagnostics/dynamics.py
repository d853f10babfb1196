"""Training dynamics, from the saved history: when a run is at its best, when it is nearly there, and what it loses afterwards."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.quantity import history_column
from hardlabels.votes import SLICES


def milestones(epochs: np.ndarray, loss: np.ndarray, within: float) -> dict[str, float | int | None]:
    r"""Best value and epoch, first epoch with :math:`L_t \le (1 + within) \min L`, last epoch and its excess over the best.

    Epochs keep the numbers of the history, from 0. The first of equal minima is the best, as for the checkpoint. Epochs without a
    finite loss are passed over; all values are ``None`` when there is no other.

    >>> milestones(np.arange(5), np.array([2.0, 1.04, 1.0, 1.0, 1.5]), within=0.05)
    {'best': 1.0, 'best_epoch': 2, 'near_best_epoch': 1, 'last': 1.5, 'last_epoch': 4, 'overfit': 0.5}
    """
    names = ("best", "best_epoch", "near_best_epoch", "last", "last_epoch", "overfit")
    finite = np.isfinite(loss)
    if not finite.any():
        return dict.fromkeys(names)
    last = float(loss[-1])
    epochs, loss, last_epoch = epochs[finite], loss[finite], int(epochs[-1])
    best = float(loss.min())
    near = int(epochs[np.argmax(loss <= (1 + within) * best)])
    values = (best, int(epochs[loss.argmin()]), near, last, last_epoch, last - best)
    return dict(zip(names, values, strict=True))


def dynamics(run: FinishedRun, *, within: float, device: str) -> Iterator[tuple[str, Any]]:
    """Milestones of the soft NLL that selected the checkpoint.

    That is the evaluation part under protocol ``paper``, and the selection part under ``three_way``, where it is one of its own:
    so ``full/best_epoch`` is always the epoch of the best checkpoint.

    Args:
        run: a finished run.
        within: how near to the best counts as nearly there, as a share of the best value: 0.05 is 5 %. (The paper's "95 % of
            its best" names no formula.)
        device: not needed.

    Yields:
        ``monitor``, the name of the metric; on each slice ``best``, ``best_epoch``, ``near_best_epoch``, ``last``,
        ``last_epoch``, ``overfit`` (last - best) and ``curve``, the value of every epoch. Epochs count from 0.
    """
    if within < 0:
        raise InputError(f"within must be a share of at least 0, got {within}")
    history = run.history
    if not history:
        raise InputError(f"{run.directory.history} is not there or has no rows")
    part = "select" if history_column("select", "soft_nll") in history[0] else "evaluate"
    yield "monitor", history_column(part, "soft_nll")
    epochs = np.array([int(row["epoch"]) for row in history])
    for name in SLICES:
        column = history_column(part, "soft_nll", name)
        loss = np.array([row.get(column, float("nan")) for row in history])
        yield from ((f"{name}/{key}", value) for key, value in milestones(epochs, loss, within).items())
        yield f"{name}/curve", loss.tolist()
