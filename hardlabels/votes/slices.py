"""The slices of a data set that every metric is reported on. The only place that defines them."""

import numpy as np

from hardlabels.votes.votes_table import Votes

SLICES = ("full", "non_unanimous", "high_disagreement")
TOP_DECILE = 0.9


def slice_masks(votes: Votes) -> dict[str, np.ndarray]:
    """One boolean mask over all items of the data set for each name in ``SLICES``.

    - ``full``: every item.
    - ``non_unanimous``: items with at least two different votes (44 % of CIFAR-10H is unanimous: a large tie block).
    - ``high_disagreement``: annotator entropy at or above the 0.9 quantile of the whole data set, and never a unanimous item.

    The threshold belongs to the data set, not to the split: an image is in the slice for every seed or for none.

    >>> votes = Votes.from_counts([[9, 0], [8, 1], [5, 4], [9, 0]])
    >>> {name: mask.tolist() for name, mask in slice_masks(votes).items() if name != "full"}
    {'non_unanimous': [False, True, True, False], 'high_disagreement': [False, False, True, False]}
    """
    entropy = votes.entropy
    disputed = entropy > 0
    return {
        "full": np.ones(len(votes), dtype=bool),
        "non_unanimous": disputed,
        "high_disagreement": disputed & (entropy >= np.quantile(entropy, TOP_DECILE)),
    }
