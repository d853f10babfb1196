"""Mixup: pairs of images and their targets are blended, batch by batch. The targets are majority labels, or p itself."""

import math
import os
import warnings
from typing import Any

import numpy as np

from hardlabels.delivery.base import Delivery, checked_epoch, one_hot, require
from hardlabels.delivery.majority import majority
from hardlabels.delivery.soft import soft
from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.votes import Votes


def mixup(inputs: Any, targets: Any, *, weight: float, partner: Any) -> tuple[Any, Any]:
    r"""Blend each example with its partner: :math:`\lambda x_i + (1 - \lambda) x_{\pi(i)}`, and the targets alike.

    Args:
        inputs: (B, ...) array or tensor, of floating point numbers or of the bytes of images.
        targets: (B, C) soft or one-hot targets.
        weight: lambda in [0, 1], one for the batch (Zhang et al. 2018).
        partner: (B,) the permutation pi.

    Raises:
        InputError: the inputs are other whole numbers, such as token ids.

    >>> x, y = mixup(np.array([[0.0], [8.0]]), np.eye(2), weight=0.75, partner=np.array([1, 0]))
    >>> x.tolist(), y.tolist()
    ([[2.0], [6.0]], [[0.75, 0.25], [0.25, 0.75]])
    """
    kind = str(inputs.dtype).removeprefix("torch.")
    if kind.startswith("int"):
        raise InputError(
            f"mixup needs inputs that can be blended, floating point numbers or the bytes of images, got {kind}: what lies "
            "between two token ids is the id of another token, or of none"
        )
    return weight * inputs + (1 - weight) * inputs[partner], weight * targets + (1 - weight) * targets[partner]


class Mixup(Delivery):
    """``method=mixup``; lambda ~ Beta(alpha, alpha), ``method.alpha`` = 1 (the paper gives no value).

    ``method.targets`` is ``majority`` (one-hot, the paper's baseline) or ``soft`` (p_i: mixup on what the annotators said).
    Partners are in the same batch; with several processes, anywhere in the batch of all of them.

    The labels of an epoch are half of the method, so a loop that never calls :meth:`mix` gets one ``RuntimeWarning``, when it
    takes those of a second epoch. That a warning is due is all that the object remembers: labels and mixing stay functions of
    (votes, seed, epoch, step). It does not travel to other processes: workers take labels that the loop then mixes.
    """

    blends_inputs = True

    def __init__(self, votes: Votes, seed: int, alpha: float = 1.0, targets: str = "majority"):
        super().__init__(votes, seed)
        require(0 < alpha < math.inf, "method.alpha", "a finite number greater than 0", alpha)
        require(targets in ("majority", "soft"), "method.targets", "majority or soft", targets)
        self.alpha, self.targets = alpha, targets
        self._process, self._may_warn = os.getpid(), True
        self._taken: int | None = None

    def in_epoch(self, epoch: int) -> np.ndarray:
        """The majority as one-hot rows, or p, in every epoch; pairs are mixed later, by :meth:`mix`."""
        self._warn_once_if_never_mixed(epoch)
        return soft(self.votes) if self.targets == "soft" else one_hot(majority(self.votes), self.votes.num_classes)

    def mix(self, inputs: Any, targets: Any, *, epoch: int, step: int) -> tuple[Any, Any]:
        """Mix the batch with itself in another order; lambda and order are those of (seed, epoch, step)."""
        self._may_warn = False
        rng = stream(self.seed, "mixup", checked_epoch(epoch), step)
        return mixup(inputs, targets, weight=float(rng.beta(self.alpha, self.alpha)), partner=rng.permutation(len(inputs)))

    def _warn_once_if_never_mixed(self, epoch: int) -> None:
        if not self._may_warn or self._process != os.getpid():
            return
        if self._taken is None or self._taken == epoch:
            self._taken = epoch
            return
        self._may_warn = False
        shown = "soft" if self.targets == "soft" else "majority"
        warnings.warn(
            f"the labels of epochs {self._taken} and {epoch} were taken, but no batch was mixed: these are plain {shown} labels, "
            "and training on them is not mixup. Pass each batch through "
            "inputs, targets = labels.mix(inputs, targets, epoch=epoch, step=step)",
            RuntimeWarning,
            stacklevel=4,
        )
