"""Label smoothing: the majority label, softened the same way for every item, whatever its annotators said."""

import numpy as np

from hardlabels.delivery.base import Delivery, one_hot, require
from hardlabels.delivery.majority import majority
from hardlabels.votes import Votes


def label_smoothing(votes: Votes, *, smoothing: float = 0.1) -> np.ndarray:
    r"""(N, C) targets :math:`(1 - \varepsilon)\, e_{maj} + \varepsilon / C`, which is torch's ``label_smoothing`` too.

    >>> label_smoothing(Votes.from_counts([[9, 1]]), smoothing=0.5).tolist()
    [[0.75, 0.25]]
    """
    sharp = one_hot(majority(votes), votes.num_classes)
    return ((1 - smoothing) * sharp + smoothing / votes.num_classes).astype(np.float32)


class LabelSmoothing(Delivery):
    """``method=label_smoothing``; ``method.smoothing`` is epsilon (0.1: the paper gives no value)."""

    def __init__(self, votes: Votes, seed: int, smoothing: float = 0.1):
        super().__init__(votes, seed)
        require(0 <= smoothing <= 1, "method.smoothing", "in [0, 1]", smoothing)
        self.smoothing = smoothing

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The smoothed majority, in every epoch."""
        return label_smoothing(self.votes, smoothing=self.smoothing)
