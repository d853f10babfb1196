"""What a person should know about a run: few steps or pixels before it starts, a network that learned nothing after it."""

from collections.abc import Mapping
from typing import Any

FEW_STEPS = 5
"""Fewer steps per epoch than this are said at the start. The recipes were made for many: pocket has 8, paper 63."""


def few_steps(examples: int, batch_size: int, epochs: int) -> str | None:
    """What to set where an epoch has few optimizer steps; None where it has enough.

    Args:
        examples: that an epoch shows.
        batch_size: of all processes together.
        epochs: of the whole run.

    >>> print(few_steps(46, 128, 20))  # doctest: +ELLIPSIS
    few steps: 46 training examples at recipe.batch_size=128 are 1 an epoch, 20 in all; recipe.batch_size=4 gives 12 ...
    >>> few_steps(1000, 128, 60)
    """
    steps = -(-examples // batch_size)
    if steps >= FEW_STEPS:
        return None
    smaller = 4  # batch normalisation needs a few items
    while examples // (2 * smaller) >= 2 * FEW_STEPS:
        smaller *= 2
    have = f"{examples} training examples at recipe.batch_size={batch_size} are {steps} an epoch, {steps * epochs} in all"
    if examples <= smaller or batch_size <= smaller:
        return f"few steps: {have}; more recipe.epochs (now {epochs}) give more, with run.tag=NAME"
    return f"few steps: {have}; recipe.batch_size={smaller} gives {-(-examples // smaller)} an epoch, with run.tag=NAME"


def few_pixels(preprocessing: Mapping[str, Any]) -> str | None:
    """What to set where images of one's own are read smaller than their encoder takes them; None where they are not.

    Args:
        preprocessing: what :func:`~hardlabels.learning.networks.describe_items` says.

    >>> encoder = {"name": "resnet50", "size": 224, "resize": 235}
    >>> print(few_pixels({"items": "images", "shape": [32, 32, 3], "crop": None, "encoder": encoder}))  # doctest: +ELLIPSIS
    few pixels: images are read at 32 x 32 and enlarged to the 224 x 224 that resnet50 takes; where your files are larger, ...
    >>> print(few_pixels({"items": "images", "shape": [99, 99, 3], "crop": 96, "encoder": encoder}))  # doctest: +ELLIPSIS
    few pixels: images are read at 96 x 96 ... where your files are larger, data.size=235 data.crop=null shows it more of them
    >>> few_pixels({"items": "images", "shape": [224, 224, 3], "crop": None, "encoder": encoder})
    """
    encoder = preprocessing.get("encoder") or {}
    if preprocessing["items"] != "images" or "size" not in encoder:
        return None
    crop = preprocessing.get("crop")
    side, size = crop or min(preprocessing["shape"][:2]), encoder["size"]
    if side >= size:
        return None
    return (
        f"few pixels: images are read at {side} x {side} and enlarged to the {size} x {size} that {encoder['name']} takes; "
        f"where your files are larger, data.size={encoder['resize']}{' data.crop=null' if crop else ''} shows it more of them"
    )


def doubts(result: Mapping[str, Any]) -> list[str]:
    """Signs that a network learned nothing, by its ``result.json``. One without the prior (earlier versions) gives none for it.

    >>> doubts({"best": {"epoch": 0, "full": {"soft_nll": 1.2}}, "last": {"epoch": 9}, "prior": {"full": {"soft_nll": 1.1}}})
    ['no better than the class shares of the training votes', 'best after its first epoch']
    """
    best, found = result["best"], []
    prior = result.get("prior", {}).get("full", {}).get("soft_nll")
    if prior is not None and best["full"]["soft_nll"] >= prior:
        found.append("no better than the class shares of the training votes")
    if result.get("predicted_classes", {}).get("best") == 1 and best["full"]["hard_acc"] < 1:
        found.append("one class predicted for all items")
    if best["epoch"] == 0 < result["last"]["epoch"]:
        found.append("best after its first epoch")
    return found
