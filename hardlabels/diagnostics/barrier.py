r"""Loss barrier: how far the loss rises on the straight line between two networks.

The loss is the soft cross-entropy against the full p, on the evaluation items of both runs (neither trained on them). Batch
normalisation decides what the line means. Running statistics that were averaged like weights do not belong to the network in the
middle (stale), and may put its loss above ln C all by themselves; so every point is measured twice:

- ``interpolated_bn``: all floating tensors of the state are interpolated, the running statistics among them;
- ``reestimated_bn``: then the statistics are computed anew, at the ends too, on unaugmented images that *both* runs may see: what
  neither selects nor evaluates with. Runs of one seed have more of them in common than runs of two, but statistics of fewer
  images are noisier, and noise looks like a barrier: every pair uses equally many (see :func:`common_items`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from hardlabels.diagnostics.items import choose_items, chunks, item_slices, shared_items
from hardlabels.errors import InputError
from hardlabels.learning.predict import predict
from hardlabels.metrics import score
from hardlabels.runs.finished import FinishedRun
from hardlabels.votes import Split

CURVES = ("soft_nll", "soft_brier", "hard_acc", "ece_eqmass", "ent_corr")
"""What is measured along the line; on the slices the first of them, the loss."""

State = Mapping[str, Tensor]


def interpolate(a: State, b: State, alpha: float) -> dict[str, Tensor]:
    r"""The state :math:`(1 - \alpha) a + \alpha b`; what is not floating (BN's count of batches) is taken from ``a``.

    Exactly a at 0 and exactly b at 1.

    >>> interpolate({"w": torch.zeros(1), "n": torch.tensor(3)}, {"w": torch.ones(1), "n": torch.tensor(5)}, 0.25)
    {'w': tensor([0.2500]), 'n': tensor(3)}
    """
    different = [name for name in {**a, **b} if name not in a or name not in b or a[name].shape != b[name].shape]
    if different:
        raise InputError(
            f"there is no line between networks of different shape: {different[0]} and {len(different) - 1} others differ"
        )
    return {name: torch.lerp(a[name], b[name], alpha) if a[name].is_floating_point() else a[name] for name in a}


def barrier_height(alpha: np.ndarray, loss: np.ndarray) -> tuple[float, float]:
    r"""Largest excess over the line between the ends, :math:`\max_\alpha L(\alpha) - (1 - \alpha) L(0) - \alpha L(1)`, and where.

    Never below 0, its value at the ends; NaN when a loss is.

    >>> barrier_height(np.array([0.0, 0.5, 1.0]), np.array([1.0, 4.0, 2.0]))
    (2.5, 0.5)
    """
    excess = loss - (1 - alpha) * loss[0] - alpha * loss[-1]
    return float(excess.max()), float(alpha[excess.argmax()])


@torch.no_grad()
def reestimate_batch_norm(network: nn.Module, batches: Iterable[Tensor]) -> None:
    """Replace the running statistics by the plain average over these batches, in one pass; all other layers in eval mode.

    Every batch counts the same, so they should be of one size. The network is in eval mode afterwards.
    """
    norms = [module for module in network.modules() if isinstance(module, _BatchNorm) and module.track_running_stats]
    network.eval()
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the cumulative average
        norm.train()
    for batch in batches if norms else ():
        network(batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    network.eval()


def common_items(a: Split, b: Split, total: int) -> tuple[np.ndarray, int]:
    """The items that two runs may see, sorted, and how many of them to use so that all pairs of runs use equally many.

    A run may see what it neither selects nor evaluates with (a recipe may have it train on a part of that only). Of N items, two
    runs that hold out :math:`h_a` and :math:`h_b` have at least :math:`N - h_a - h_b` in common. That number is the same for all
    seeds, whose parts differ in their items but not in their sizes.

    Args:
        a: a run's split.
        b: the other run's.
        total: N.

    >>> a, b = (Split(np.array([0]), np.array([8]), np.array([last])) for last in (9, 7))
    >>> items, number = common_items(a, b, 10)
    >>> items.tolist(), number
    ([0, 1, 2, 3, 4, 5, 6], 6)
    """
    held_out = [np.union1d(split.select, split.evaluate) for split in (a, b)]
    return np.setdiff1d(np.arange(total), np.concatenate(held_out)), max(total - sum(map(len, held_out)), 0)


def barrier(
    a: FinishedRun,
    b: FinishedRun,
    *,
    checkpoint: str,
    points: int,
    chunk: int,
    max_items: int | None,
    max_bn_items: int | None,
    device: str,
) -> Iterator[tuple[str, Any]]:
    """The curves along the line from ``a`` (alpha 0) to ``b`` (alpha 1), and their barriers.

    Args:
        a: a finished run.
        b: another one of the same data and shape.
        checkpoint: ``best`` or ``last``, of both.
        points: on the line, both ends included.
        chunk: items at a time.
        max_items: evaluate at most this many items; ``None`` all that the runs share.
        max_bn_items: re-estimate BN on at most this many items; ``None`` as many as every pair has.
        device: where to compute.

    Yields:
        ``alpha``; ``bn_items`` and ``<slice>/items``, the numbers of items; curves ``<slice>/soft_nll_<variant>``, on ``full``
        those of the other ``CURVES`` too; ``<slice>/barrier_<variant>``, and ``<slice>/barrier_at_<variant>``, the alpha of the
        maximum.
    """
    for name, value, least in (("points", points, 3), ("chunk", chunk, 1), ("max_bn_items", max_bn_items, 2)):
        if value is not None and value < least:
            raise InputError(f"{name} must be at least {least}, got {value}")
    items = np.sort(choose_items(shared_items(a, b), max_items, "barrier items"))
    # In random order: in a source that is sorted by class, a chunk would not look like the data.
    common, number = common_items(a.split, b.split, len(a.source))
    number = min(number, max_bn_items or number)
    if number < 2:
        raise InputError(
            f"pairs of runs such as {a.path} and {b.path} share {number} items to see; BN statistics need at least 2"
        )
    common = choose_items(common, number, "barrier bn items")
    ends = a.network(checkpoint, device).state_dict(), b.network(checkpoint, device).state_dict()
    network = a.network(checkpoint, device)
    alpha = np.linspace(0, 1, points)
    logits: dict[str, list[np.ndarray]] = {"interpolated_bn": [], "reestimated_bn": []}
    for step in alpha:
        network.load_state_dict(interpolate(*ends, float(step)))
        logits["interpolated_bn"].append(predict(network, a.prepared, items, batch_size=chunk))
        reestimate_batch_norm(network, (a.inputs(part, device) for part in chunks(common, chunk)))
        logits["reestimated_bn"].append(predict(network, a.prepared, items, batch_size=chunk))

    yield from (("alpha", alpha.tolist()), ("bn_items", len(common)))
    p = a.source.votes.p[items]
    for name, inside in item_slices(a, items).items():
        yield f"{name}/items", int(inside.sum())
        for variant, points_logits in logits.items():
            rows = [score(q[inside], p[inside], CURVES if name == "full" else CURVES[:1]) for q in points_logits]
            curves = {metric: [row[metric] for row in rows] for metric in rows[0]}
            height, at = barrier_height(alpha, np.array(curves["soft_nll"]))
            yield from ((f"{name}/{metric}_{variant}", curve) for metric, curve in curves.items())
            yield from ((f"{name}/barrier_{variant}", height), (f"{name}/barrier_at_{variant}", at))
