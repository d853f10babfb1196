"""Soft targets as a type of their own: a loss for another kind of target refuses them instead of taking them silently.

A Hugging Face classifier that is given float ``labels`` decides that an item may have several classes at once, and trains with
binary cross-entropy (``BCEWithLogitsLoss``). No error tells, and the comparison of soft with hard labels is void.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F

from hardlabels.errors import InputError

OTHER_LOSSES = {
    F.binary_cross_entropy,
    F.binary_cross_entropy_with_logits,
    F.huber_loss,
    F.l1_loss,
    F.mse_loss,
    F.multilabel_margin_loss,
    F.multilabel_soft_margin_loss,
    F.smooth_l1_loss,
}
"""Losses that take a distribution for something else: for several yes-or-no answers, or for numbers to be hit."""

COMPARISONS = {torch.eq, torch.ne, torch.Tensor.eq, torch.Tensor.ne, torch.Tensor.__eq__, torch.Tensor.__ne__}
"""How loops count correct predictions: (B,) classes and (B, C) shares would be compared column by column where B is C."""

IN_SHAPE_OF = {torch.Tensor.expand_as, torch.Tensor.view_as, torch.Tensor.reshape_as}
"""What loops do to labels before such a comparison: one label for each predicted class."""

AS_NUMBERS = {torch.Tensor.tolist, torch.Tensor.item, torch.Tensor.__float__, torch.Tensor.__int__, torch.Tensor.__index__}
"""How collators that build tensors from Python's numbers would lose the type."""

AS_CLASSES = {torch.Tensor.long, torch.Tensor.int, torch.Tensor.short, torch.gather, torch.Tensor.gather}
"""How losses and mixup take classes: shares would be cut to 0, or be taken for places."""

SAME_TARGETS = {
    torch.cat,
    torch.chunk,
    torch.split,
    torch.stack,
    torch.unbind,
    *(
        getattr(torch.Tensor, name)
        for name in (
            *("__getitem__", "chunk", "clone", "contiguous", "cpu", "cuda", "detach", "float", "half", "bfloat16", "double"),
            *("pin_memory", "reshape", "split", "squeeze", "to", "unbind", "unsqueeze", "view"),
        )
    ),
}
"""What collators, transfers and models do to targets before a loss: the result is soft targets still."""


class SoftTargets(torch.Tensor):
    """Distributions p, (C,) of an item or (B, C) of a batch, for the cross-entropy H(p, q) = -sum_c p_c log q_c.

    A tensor in every way (arithmetic gives plain ones), but :data:`OTHER_LOSSES`, and comparisons with classes, raise an
    ``InputError`` that names the way out. ``targets.as_subclass(torch.Tensor)`` is the plain tensor, where somebody does want
    another loss.

    >>> p = torch.tensor([[0.75, 0.25]]).as_subclass(SoftTargets)
    >>> F.cross_entropy(torch.zeros(1, 2), p)
    tensor(0.6931)
    >>> F.binary_cross_entropy_with_logits(torch.zeros(1, 2), p)
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: soft targets were given to binary_cross_entropy_with_logits, which is then not H(p, q): ...
    """

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Iterable[type], args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Torch asks here before every operation on such a tensor."""
        if (message := _refusal(func, args)) is not None:
            raise InputError(message)
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        return _typed(result, cls) if func in SAME_TARGETS else result

    def __deepcopy__(self, memo: dict) -> "SoftTargets":
        return memo.setdefault(id(self), self.clone())


def _refusal(func: Callable[..., Any], args: tuple) -> str | None:
    """Why soft targets cannot be given to this function; None where they can."""
    name = func.__name__.strip("_")
    if func is F.nll_loss:
        return (
            "soft targets were given to nll_loss, which takes classes: for H(p, q) use cross_entropy(outputs, targets), which is "
            "the same for log-probabilities as for logits"
        )
    if (func in COMPARISONS and _of_classes(*args[:2])) or (func in IN_SHAPE_OF and args[0].shape != args[1].shape):
        return (
            f"soft targets were compared with classes ({name}): for an accuracy take the most frequent class of the votes, "
            "targets.argmax(1)"
        )
    if func in AS_NUMBERS and args[0].ndim > 0:
        return (
            f"soft targets were given to {name}, which makes plain numbers of them, and a tensor of these is soft no more: look "
            "at them with targets.numpy(); where a collator does so, with Hugging Face's Trainer use "
            "**adapters.huggingface.trainer_parts(data), in your own loop adapters.huggingface.TargetCollator(collator)"
        )
    if func in AS_CLASSES and _is_taken_for_classes(func, args):
        return (
            f"soft targets were given to {name}, which takes classes: a loss or mixup for hard labels only. Use "
            "cross_entropy(logits, targets) for soft ones, or deliver hard labels ('sls', 'multipass')"
        )
    # A model for one class an item flattens its labels: cross_entropy would speak of the size of a batch.
    flattened = func is F.cross_entropy and args[0].shape != args[1].shape
    if func in OTHER_LOSSES or flattened:
        return (
            f"soft targets were given to {name}, which is then not H(p, q): with Hugging Face's Trainer "
            "use **adapters.huggingface.trainer_parts(data); in your own loop give the model no labels and use "
            "torch.nn.functional.cross_entropy(logits, targets), with adapters.huggingface.TargetCollator around a collator "
            "that pads"
        )
    return None


def _of_classes(*compared: Any) -> bool:
    """Whether one of two compared things is a tensor of whole numbers."""
    return any(isinstance(one, torch.Tensor) and not one.is_floating_point() and one.ndim > 0 for one in compared)


def _is_taken_for_classes(func: Callable[..., Any], args: tuple) -> bool:
    """Whether the soft targets are the places that gather takes, not what it takes from; other functions have one tensor."""
    return "gather" not in func.__name__ or not isinstance(args[0], SoftTargets)


def _typed(result: Any, kind: type[SoftTargets]) -> Any:
    if isinstance(result, torch.Tensor):
        return result.as_subclass(kind)
    return type(result)(_typed(part, kind) for part in result)
