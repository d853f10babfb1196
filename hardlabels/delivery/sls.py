"""Stochastic label sampling: one hard label per item, drawn anew at the start of every ``hold``-th epoch."""

import numpy as np

from hardlabels.delivery.base import Delivery, checked_epoch, require
from hardlabels.randomness import stream
from hardlabels.votes import Votes


def sls(votes: Votes, *, seed: int, epoch: int, hold: int = 1) -> np.ndarray:
    r"""(N,) labels :math:`y_i \sim \mathrm{Categorical}(p_i)`, the same for ``hold`` epochs in a row.

    In expectation the gradient of the loss is that of soft labels, :math:`E[q - e_y] = q - p`; its covariance is
    :math:`\mathrm{Diag}(p) - pp^T` (Proposition 1 of the paper).

    >>> votes = Votes.from_counts([[30, 20], [0, 50]])
    >>> sls(votes, seed=0, epoch=4, hold=5).tolist() == sls(votes, seed=0, epoch=0, hold=5).tolist()
    True
    """
    return votes.draw(stream(seed, "sls", checked_epoch(epoch) // hold))


class SLS(Delivery):
    """``method=sls``; ``method.hold`` is the number of epochs a drawn label stays (the paper's probe: 1, 5, 10, 50)."""

    def __init__(self, votes: Votes, seed: int, hold: int = 1):
        super().__init__(votes, seed)
        require(isinstance(hold, int) and hold >= 1, "method.hold", "a whole number of epochs, at least 1", hold)
        self.hold = hold

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The labels drawn for the window of ``hold`` epochs that this one is in."""
        return sls(self.votes, seed=self.seed, epoch=epoch, hold=self.hold)
