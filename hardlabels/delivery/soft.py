"""Soft labels: p_i itself stands in the loss, at every step."""

import numpy as np

from hardlabels.delivery.base import Delivery
from hardlabels.votes import Votes


def soft(votes: Votes) -> np.ndarray:
    r"""(N, C) the distributions p_i; the loss is :math:`H(p_i, q_i) = -\sum_c p_{ic} \log q_{ic}`.

    >>> soft(Votes.from_counts([[3, 1]])).tolist()
    [[0.75, 0.25]]
    """
    return votes.p.astype(np.float32)


class Soft(Delivery):
    """``method=soft``."""

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The distributions, in every epoch."""
        return soft(self.votes)
