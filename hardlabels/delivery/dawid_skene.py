"""Dawid-Skene: the posterior of a true label, from annotators who err each in their own way, as a soft target.

A baseline with another question: p says what annotators answered, the posterior what the one right answer may be.
The EM is crowd-kit's (``pip install 'hardlabels[crowd]'``).
"""

from typing import Any

import numpy as np

from hardlabels.delivery.base import Delivery, require
from hardlabels.errors import InputError
from hardlabels.votes import Votes

WAY_OUT = (
    "give all votes as a table of task, worker and label (in Python: Votes.from_labels(..., annotators=...)), or use soft, which "
    "needs no annotators. Votes that are drawn (K=..., in Python votes.subsample) are nobody's"
)


def dawid_skene(votes: Votes, *, iterations: int = 100, tolerance: float = 1e-5) -> np.ndarray:
    r"""(N, C) the posterior :math:`P(z_i = c \mid \text{votes})` of Dawid and Skene (1979), by crowd-kit's ``DawidSkene``.

    Each annotator w has a confusion matrix; EM finds matrices and class priors of greatest likelihood, starting from p. Only the
    items given here are looked at.

    Args:
        votes: with annotators.
        iterations: of EM, at most.
        tolerance: EM ends when the lower bound of the log-likelihood, divided by the votes, grows by less.
    """
    if votes.annotators is None:
        raise InputError(f"DawidSkene needs to know who voted, and these votes have no annotators: {WAY_OUT}")
    model, frame = _crowdkit()
    table = frame(
        {
            "task": np.repeat(np.arange(len(votes)), votes.sizes),
            "worker": votes.annotators,
            "label": votes.labels.astype(np.int64),
        }
    )
    found = model(n_iter=iterations, tol=tolerance).fit_predict_proba(table)
    # Its columns are the classes that somebody voted for, in its own order; its rows the items, likewise.
    posterior = np.zeros((len(votes), votes.num_classes))
    posterior[np.ix_(found.index.to_numpy(dtype=np.int64), found.columns.to_numpy(dtype=np.int64))] = found.to_numpy()
    return (posterior / posterior.sum(1, keepdims=True)).astype(np.float32)


class DawidSkene(Delivery):
    """``method=dawid_skene``; ``method.iterations`` and ``method.tolerance`` end the EM, which runs once, before training."""

    needs_votes = True
    use_of_votes = "fits a model of the annotators to the votes that each of them gave"
    without_votes = WAY_OUT

    def __init__(self, votes: Votes, seed: int, iterations: int = 100, tolerance: float = 1e-5):
        super().__init__(votes, seed)
        whole = isinstance(iterations, int) and iterations >= 1
        require(whole, "method.iterations", "a whole number, at least 1", iterations)
        require(tolerance >= 0, "method.tolerance", "a number, at least 0", tolerance)
        self._posterior = dawid_skene(votes, iterations=iterations, tolerance=tolerance)

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The posterior, in every epoch."""
        return self._posterior.copy()


def _crowdkit() -> tuple[Any, Any]:
    try:
        from crowdkit.aggregation import DawidSkene as Model  # type: ignore  # noqa: PLC0415 - an extra, and slow to load
        from pandas import DataFrame  # noqa: PLC0415 - only this method needs it
    except ImportError as error:
        raise InputError(f"DawidSkene needs crowd-kit: pip install 'hardlabels[crowd]' ({error})") from error
    return Model, DataFrame
