"""A callback for Hugging Face's ``Trainer``: every epoch has its own labels, also after a resume."""

from contextlib import suppress
from typing import Any

from hardlabels.adapters.dataset import Delivered
from hardlabels.errors import InputError

TrainerCallback: Any = None
with suppress(ImportError):  # an extra: this module can be read without it
    from transformers import TrainerCallback


class EpochCallback(TrainerCallback or object):  # type: ignore[misc]
    """Tells ``data`` the trainer's epoch: ``Trainer(..., train_dataset=data, callbacks=[EpochCallback(data)])``.

    ``Trainer`` calls ``on_epoch_begin`` before it makes the loader's iterator. Hard labels need nothing else: a classification
    model takes them as ``labels``. Soft ones need a loss of your own (``Trainer(compute_loss_func=...)``), since such models take
    float labels for several classes at once.
    """

    def __init__(self, data: Delivered):
        if TrainerCallback is None:
            raise InputError("EpochCallback is for Hugging Face's Trainer, not installed here: pip install 'transformers[torch]'")
        self.data = data
        self._next = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The first epoch, after a resume too. Some versions fetch batches before it begins, to find their place."""
        self._next = epoch_of(state.epoch)
        self.data.start_epoch(self._next)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Epochs are counted here: ``state.epoch`` is short of the next one when an epoch was stopped early."""
        self.data.start_epoch(self._next)
        self._next += 1


def epoch_of(progress: float | None) -> int:
    """The epoch that begins or goes on, of ``state.epoch``: epochs done, with a fraction after a resume in the middle of one.

    >>> [epoch_of(progress) for progress in (None, 0, 1.0, 2.5, 2.9999999996)]
    [0, 0, 1, 2, 3]
    """
    return int((progress or 0) + 1e-6)  # a sum of fractions may fall short of a whole number by a rounding
