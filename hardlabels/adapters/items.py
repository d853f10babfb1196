"""An item of somebody's data set with the delivered target in it, and without its old one."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import torch

from hardlabels.adapters.soft_targets import SoftTargets
from hardlabels.errors import InputError

TARGET_COLUMNS = ("label", "labels", "label_ids")
"""The target, in Hugging Face's three names. Its collators write the first and the last over ``labels``."""

AMBIGUOUS_COLUMNS = ("y", "target", "targets", "class")
AMBIGUOUS_ENDINGS = ("_label", "_labels", "_label_ids", "_target", "_targets")
"""Names under which somebody's loop may look for the target: beside ``key`` such a column would be the old one."""


def with_target(item: Any, target: Any, *, key: str, classes: int, where: str) -> Any:
    """The item with this target instead of its own.

    Args:
        item: an input, (input,), (input, old label), or a mapping.
        target: an int, or a (C,) float tensor.
        key: where the target goes in a mapping.
        classes: C.
        where: the item's name in messages.

    >>> with_target(("an image", 3), 0, key="labels", classes=5, where="item 7")
    ('an image', 0)
    >>> with_target((torch.zeros(4), torch.ones(4)), 0, key="labels", classes=5, where="item 7")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: item 7: expected (input, old label), and the second part, a Tensor of shape (4,), is no ...
    """
    target = target.as_subclass(SoftTargets) if isinstance(target, torch.Tensor) else target
    if isinstance(item, Mapping):
        return {**inputs_of(item, key=key), key: target}
    if not isinstance(item, (tuple, list)):
        return item, target
    if not 0 < len(item) < 3:
        raise InputError(f"{where}: expected an input, (input,), (input, label) or a mapping, got {len(item)} parts")
    if isinstance(item, list) and all(isinstance(part, Real) for part in item):
        raise InputError(f"{where}: expected an input, got a list of numbers, {item!r:.60}: make it a tensor or an array")
    if len(item) == 2 and not may_be_label(item[1], classes):
        raise InputError(
            f"{where}: expected (input, old label), and the second part, {_described(item[1])}, is no label: give two inputs as "
            "one, ((first, second),), or as a mapping"
        )
    return item[0], target


def inputs_of(item: Mapping[str, Any], *, key: str) -> dict[str, Any]:
    """The item without its old targets.

    >>> inputs_of({"input_ids": [1, 2], "label": 0}, key="labels")
    {'input_ids': [1, 2]}
    >>> inputs_of({"image": 5, "target": 0}, key="labels")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: column 'target' may be an old target beside 'labels', the delivered one: ...
    """
    for name in item:
        if name not in (key, *TARGET_COLUMNS) and _may_be_target(str(name).lower()):
            raise InputError(
                f"column {name!r} may be an old target beside {key!r}, the delivered one: pass key={name!r} if your loop reads "
                "the target there, else remove or rename the column"
            )
    return {name: value for name, value in item.items() if name != key and name not in TARGET_COLUMNS}


def old_class(item: Any, *, key: str) -> int | None:
    """The class that the data set itself gives an item, where it is a whole number; else None.

    >>> old_class({"text": "hi", "label": torch.tensor(2)}, key="labels"), old_class(("hi", 1), key="labels")
    (2, 1)
    >>> old_class({"text": "hi"}, key="labels"), old_class(("hi", "cat"), key="labels")
    (None, None)
    """
    value: Any
    if isinstance(item, Mapping):
        value = next((item[name] for name in (key, *TARGET_COLUMNS) if name in item), None)
    else:
        value = item[1] if isinstance(item, (tuple, list)) and len(item) == 2 else None
    value = value.item() if getattr(value, "shape", None) == () else value
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def may_be_label(value: Any, classes: int) -> bool:
    """Whether a value may be a label: a word, a whole number, or one number per class.

    >>> [may_be_label(value, 3) for value in ("cat", 2, 2.0, torch.tensor(1), [0.2, 0.3, 0.5], None)]
    [True, True, True, True, True, True]
    >>> [may_be_label(value, 3) for value in (0.5, torch.zeros(2), torch.zeros(1, 28, 28), {"boxes": []})]
    [False, False, False, False]
    """
    shape = getattr(value, "shape", None)
    if shape is not None:
        return may_be_label(value.item(), classes) if shape in ((), (1,)) else tuple(shape) == (classes,)
    if isinstance(value, (tuple, list)):
        return len(value) == classes and all(isinstance(part, Real) for part in value)
    return value is None or isinstance(value, (str, bytes)) or (isinstance(value, Real) and float(value).is_integer())


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}{'' if shape is None else f' of shape {tuple(shape)}'}"


def _may_be_target(name: str) -> bool:
    return name in AMBIGUOUS_COLUMNS or name in TARGET_COLUMNS or name.endswith(AMBIGUOUS_ENDINGS)
