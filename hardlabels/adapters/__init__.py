"""Beside the stages: a method's labels in your own loop.

``Delivered`` is a torch data set whose targets are those of the epoch; ``lightning`` and ``huggingface`` each have a callback
that tells it the epoch. ``huggingface.trainer_parts`` gives a ``Trainer`` that callback, the loss and a collator.
"""

from hardlabels.adapters.dataset import Delivered

__all__ = ["Delivered"]
