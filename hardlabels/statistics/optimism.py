r"""How much does choosing the epoch flatter the value at it?

A run that keeps the epoch with the lowest loss on its evaluation items reports the minimum of a noisy curve. Part of that minimum
is luck with these items, and the reported value is too good by that part. The check leaves one seed out: for seed j the epoch is

.. math:: \hat e_{-j} = \arg\min_e \frac{1}{n - 1} \sum_{k \ne j} m_k(e)

by the monitored values :math:`m_k` of the *other* seeds, and the value :math:`v_j(\hat e_{-j})` is set against the reported one
:math:`v_j(\hat e_j)`, :math:`\hat e_j = \arg\min_e m_j(e)`. Ties go to the first epoch, as they do when a run keeps its best.

How to read the difference :math:`v_j(\hat e_{-j}) - v_j(\hat e_j)`:

- Where the epoch was chosen on the items that are scored (:math:`m = v`) it is never negative.
- It overstates that luck where a seed truly peaks at another epoch than the others: what is lost by that is in it too.
- It understates it where seeds split the same items anew: they share evaluation items, so that the others' choice knows a little
  of this seed's luck.
- Where the selection items are others than those scored, the reported value has no such luck. The difference, of either sign,
  then only says what it gained to choose the epoch seed by seed.
"""

from dataclasses import dataclass

import numpy as np

from hardlabels.errors import InputError
from hardlabels.statistics.curves import Curves, paired_tables


@dataclass(frozen=True)
class Selected:
    """One seed's value at the epoch that it chose itself, and at the epoch that the other seeds choose for it.

    Attributes:
        own_epoch: counted from 0.
        own: the value there: what is reported.
        others_epoch: counted from 0.
        others: the value there.
    """

    own_epoch: int
    own: float
    others_epoch: int
    others: float

    @property
    def optimism(self) -> float:
        """``others - own``: of a loss, by how much the reported value is the lower one."""
        return self.others - self.own


def leave_one_seed_out(monitored: Curves, values: Curves) -> dict[int, Selected]:
    """For each seed, its value at the epoch it selected and at the epoch that the other seeds' curves select.

    Args:
        monitored: seed to what the epoch is chosen by, lower is better: soft NLL on the selection items, or on the evaluation
            items where these were used.
        values: seed to the evaluation curve, the same seeds and epochs. Any metric.

    Raises:
        InputError: with fewer than two seeds, on seeds or lengths that differ, on values that are not finite.

    >>> curves = {0: [0.9, 0.5, 0.7], 1: [0.9, 0.6, 0.4], 2: [0.9, 0.7, 0.5]}
    >>> leave_one_seed_out(curves, curves)[0]  # seeds 1 and 2 choose epoch 2, where seed 0 has 0.7 and not 0.5
    Selected(own_epoch=1, own=0.5, others_epoch=2, others=0.7)
    """
    seeds, chosen_by, value = paired_tables(monitored, values, ("monitored", "values"))
    if len(seeds) < 2:
        raise InputError(f"the epoch of the other seeds needs two seeds or more, got {len(seeds)}")
    found = {}
    for row, seed in enumerate(seeds):
        own, others = int(chosen_by[row].argmin()), int(np.delete(chosen_by, row, axis=0).mean(0).argmin())
        found[seed] = Selected(own, float(value[row, own]), others, float(value[row, others]))
    return found
