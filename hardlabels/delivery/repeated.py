"""Repeated: every vote is an example of its own, with its item's input. What multipass avoids: an epoch grows by the votes."""

import numpy as np

from hardlabels.delivery.base import Delivery
from hardlabels.votes import Votes


def repeated(votes: Votes) -> tuple[np.ndarray, np.ndarray]:
    r"""(M,) items and (M,) labels, one pair per vote, :math:`M = \sum_i m_i`; the same in every epoch.

    The mean gradient over an epoch is :math:`\sum_i \tfrac{m_i}{M} (q_i - p_i)`: that of soft labels where all items have as
    many votes; else an item counts by its number of votes.

    >>> items, labels = repeated(Votes.from_counts([[2, 1], [0, 1]]))
    >>> items.tolist(), labels.tolist()
    ([0, 0, 0, 1], [0, 0, 1, 1])
    """
    return np.repeat(np.arange(len(votes)), votes.sizes), votes.labels.astype(np.int64)


class Repeated(Delivery):
    """``method=repeated``: an epoch has as many examples as there are votes, and so takes :math:`M / N` times as long."""

    needs_votes = True
    use_of_votes = "shows every observed vote as an example of its own"

    def __init__(self, votes: Votes, seed: int):
        super().__init__(votes, seed)
        self.items, self._labels = repeated(votes)

    def in_epoch(self, epoch: int) -> np.ndarray:
        """All votes, in every epoch."""
        return self._labels.copy()
