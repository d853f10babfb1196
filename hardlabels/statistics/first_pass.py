r"""The mechanism behind multipass: in its first pass every vote is fresh, in the second none is.

Multipass with K votes for each item shows every one of them once in epochs :math:`(j - 1) K, ..., j K - 1`, which are pass j. The
K votes of an item are independent draws from its p (``Votes.subsample``: Multinomial(K, p)), shown in random order. So the labels
of the K epochs of pass 1 are K independent draws from p, and that is what SLS on *all* votes shows: jointly, and not only epoch
by epoch, the two have the same law, although multipass will only ever have K votes. From pass 2 on it shows what it has shown
before, while SLS on all votes goes on drawing.

It follows that the two cells train to the same law in pass 1, and any mean difference of their evaluation curves there is chance.
A difference in later passes is the price of repeating votes. With K = null (all votes) this does not hold: multipass then shows
votes without replacement, and items have passes of different lengths.

Here are the numbers only: mean differences of two cells by pass, seed by seed. The value of an epoch is measured after it was
trained, so the last value of a pass is that of a network that has seen the whole pass.
"""

from dataclasses import dataclass

import numpy as np

from hardlabels.errors import InputError
from hardlabels.statistics.curves import Curves, paired_tables


@dataclass(frozen=True)
class PassDifferences:
    """Mean differences of the evaluation curves of two cells, by seed and pass.

    Attributes:
        seeds: in order.
        differences: (n, passes) ``a - b``, averaged over the epochs of each pass.
        left_over: epochs after the last whole pass, which are in no column.
    """

    seeds: tuple[int, ...]
    differences: np.ndarray
    left_over: int

    def in_pass(self, number: int) -> dict[int, float]:
        """The differences of one pass, counted from 1, by seed: as the tests of this stage take them."""
        if not 1 <= number <= self.differences.shape[1]:
            raise InputError(f"pass must lie in 1 .. {self.differences.shape[1]}, got {number}")
        return dict(zip(self.seeds, self.differences[:, number - 1].tolist(), strict=True))


def differences_by_pass(a: Curves, b: Curves, K: int) -> PassDifferences:  # noqa: N803 - the paper's name
    """The mean of ``a - b`` over the K epochs of each whole pass, for each seed.

    Args:
        a: seed to the evaluation curve of one cell, such as multipass with K votes.
        b: seed to that of the other, such as SLS with all votes; the same seeds and epochs.
        K: votes for each item, so epochs in a pass.

    Raises:
        InputError: when K is no whole number of at least 1 or exceeds the epochs, and on curves that are not paired.

    >>> multipass, sls = {0: [0.9, 0.7, 0.6, 0.6, 0.6]}, {0: [0.9, 0.7, 0.5, 0.4, 0.3]}
    >>> found = differences_by_pass(multipass, sls, K=2)
    >>> found.differences.round(3).tolist(), found.left_over, found.in_pass(1)
    ([[0.0, 0.15]], 1, {0: 0.0})
    """
    seeds, left, right = paired_tables(a, b, ("a", "b"))
    epochs = left.shape[1]
    if not isinstance(K, (int, np.integer)) or not 1 <= K <= epochs:
        raise InputError(f"K must be a whole number of epochs, 1 .. {epochs} for curves of {epochs}, got {K!r}")
    passes = epochs // K
    differences = (left - right)[:, : passes * K].reshape(len(seeds), passes, K).mean(2)
    return PassDifferences(seeds, differences, epochs - passes * K)
