"""Majority: the votes collapse to one label, for ever. The usual practice, and the baseline."""

import numpy as np

from hardlabels.delivery.base import Delivery
from hardlabels.votes import Votes


def majority(votes: Votes) -> np.ndarray:
    """(N,) the class with most votes; ties to the lowest class index (``Votes.majority`` owns the rule).

    >>> majority(Votes.from_counts([[2, 2, 1]])).tolist()
    [0]
    """
    return votes.majority.copy()


class Majority(Delivery):
    """``method=majority``."""

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The majority, in every epoch."""
        return majority(self.votes)
