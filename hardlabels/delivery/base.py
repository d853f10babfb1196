"""What every delivery method is: a function from the epoch to the targets of all training items."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from hardlabels.errors import InputError
from hardlabels.randomness import MAX_SEED
from hardlabels.votes import Votes

FEWEST_VOTES = 2
"""The least K at which deliveries can differ: a single vote an item is what soft labels, SLS, multipass and majority all show."""


class Delivery(ABC):
    """Targets of the training items, epoch by epoch, for one set of votes and one seed.

    Calling it with an epoch returns (N,) int64 hard labels or (N, C) float32 soft labels: ``cross_entropy`` takes both, so
    nothing after this point asks which method runs. (A method that sets ``items`` returns M of them.) It is a pure function of
    (votes, seed, epoch): no state travels from one epoch to the next, so epochs may be asked for in any order, by any process.

    A new method is a subclass in its own file here, with :meth:`in_epoch`, and a yaml in ``conf/method``.
    """

    needs_votes: ClassVar[bool] = False
    """Whether distributions alone are not enough. Such a method refuses a source that has no votes."""

    use_of_votes: ClassVar[str] = "shows observed votes one by one"
    """What a method that needs votes does with them, for that refusal."""

    without_votes: ClassVar[str] = (
        "use method=soft, method=sls or method=stratified_sls, or K=... to draw votes from the probabilities "
        "(in Python: deliver(votes.subsample(K, seed=...), ...))"
    )
    """What to do where there are none, for the same: in the words of a command and of Python."""

    blends_inputs: ClassVar[bool] = False
    """Whether :meth:`mix` makes new inputs out of several. Such a method refuses token ids, which have no mean."""

    items: np.ndarray | None = None
    """(M,) the item that each target belongs to, where a method shows other examples than one per item; ``None``: target i is
    item i's. It is the same in every epoch, so an epoch has M examples, always."""

    def __init__(self, votes: Votes, seed: int):
        if self.needs_votes and not votes.has_votes:
            raise InputError(
                f"{type(self).__name__} {self.use_of_votes}, and this source has only probabilities: {self.without_votes}"
            )
        self.votes, self.seed = votes, seed

    def __call__(self, epoch: int) -> np.ndarray:
        """The targets of this epoch; every method refuses what is no epoch (:func:`checked_epoch`), also where it ignores it."""
        return self.in_epoch(checked_epoch(epoch))

    @abstractmethod
    def in_epoch(self, epoch: int) -> np.ndarray:
        """The targets of this epoch, which is known to be one. What a method implements; callers call the object."""

    def mix(self, inputs: Any, targets: Any, *, epoch: int, step: int) -> tuple[Any, Any]:
        """Last change to a batch (torch tensors or arrays) before the loss. Most methods leave it as it is."""
        checked_epoch(epoch)
        return inputs, targets


def checked_epoch(epoch: object) -> int:
    """The epoch as an ``int``: one rule and one message for all methods and adapters.

    Python's and numpy's whole numbers from 0 to 2^32 - 1 (what a stream of :mod:`hardlabels.randomness` can count) are epochs.

    Raises:
        InputError: anything else. A negative number would count from the end of a list of votes, ``True`` would be epoch 1.

    >>> checked_epoch(np.int64(3))
    3
    >>> checked_epoch(-1)
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: epoch must be a whole number 0 .. 4294967295, got -1
    """
    if isinstance(epoch, bool) or not isinstance(epoch, (int, np.integer)) or not 0 <= epoch <= MAX_SEED:
        raise InputError(f"epoch must be a whole number 0 .. {MAX_SEED}, got {epoch!r}")
    return int(epoch)


def one_hot(labels: np.ndarray, num_classes: int) -> np.ndarray:
    """(N, C) float32 rows e_y.

    >>> one_hot(np.array([2, 0]), 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return np.eye(num_classes, dtype=np.float32)[labels]


def require(condition: bool, setting: str, expected: str, got: object) -> None:
    """Refuse a method setting by name."""
    if not condition:
        raise InputError(f"{setting} must be {expected}, got {got}")
