r"""Sparse-target diagnostic: does hard delivery gain over soft labels where the K votes misrepresent the annotators?

The paper: "improvements over soft labels remain near zero in the lowest-error bins and grow in higher-error bins", error being
the JS distance (or L1) of "the sparse empirical target" from "the full annotator distribution". It does not say on which items,
nor how the bins are cut. Ours:

- The probe ``sparse_target_train`` (``items: train``, needs the checkpoints): the items whose K-vote target was in the loss, so
  that the target itself can do harm. The claim is about these.
- The probe ``sparse_target`` (``items: evaluate``, from saved predictions): nothing was trained on these items, so their K-vote
  target is the one that the run's own subsample draws for them. It can matter only through what kind of item it is: an ambiguous
  item has both a poor K-vote target and more to gain. Hence the correlation given annotator entropy beside the plain one.
- Bins of equal count, upper end included. Tied distances share a bin: the items whose K votes give p exactly (all unanimous ones
  among them) are one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import log_softmax

from hardlabels.diagnostics.correlation import partial_spearman
from hardlabels.diagnostics.items import item_slices
from hardlabels.diagnostics.probe import NotApplicableError
from hardlabels.errors import InputError
from hardlabels.learning.predict import predict
from hardlabels.metrics.agreement import spearman
from hardlabels.metrics.scores import item_nll
from hardlabels.runs.finished import FinishedRun
from hardlabels.votes import js_distance, l1_distance

ITEMS = ("evaluate", "train")
DISTANCES = {"js": js_distance, "l1": l1_distance}
DECIMALS = 10
"""Of a distance: permuted votes are equally far, but their sums differ in the last digit, and ranks and bins need the tie."""


def bin_by_distance(distance: np.ndarray, improvement: np.ndarray, bins: int) -> dict[str, list[float]]:
    """Means of the items in each bin of the distance: at most ``bins`` of about equal count, ties together.

    Args:
        distance: (n,).
        improvement: (n,).
        bins: how many quantiles of the distance.

    Returns:
        ``upper`` (the largest distance allowed), ``n``, ``distance``, ``improvement`` (means) and ``se`` (of the last mean; NaN
        for one item), a list each, from the nearest bin to the farthest. Lists are empty without items.

    >>> table = bin_by_distance(np.array([0.0, 0.0, 0.0, 0.1, 0.2]), np.array([0.0, 1.0, 2.0, 3.0, 5.0]), bins=4)
    >>> table["n"], table["improvement"]
    ([3, 1, 1], [1.0, 3.0, 5.0])
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}")
    table: dict[str, list[float]] = {key: [] for key in ("upper", "n", "distance", "improvement", "se")}
    if not len(distance):
        return table
    # The upper end of bin k of B is the item of rank ceil(k n / B): a value that occurs, so rounding moves no item over its edge.
    uppers = np.unique(np.sort(distance)[-(-np.arange(1, bins + 1) * len(distance) // bins) - 1])
    place = np.searchsorted(uppers, distance)
    for b in np.unique(place):
        inside = improvement[place == b]
        n = len(inside)
        se = float(inside.std(ddof=1) / n**0.5) if n > 1 else float("nan")
        row = (float(uppers[b]), n, float(distance[place == b].mean()), float(inside.mean()), se)
        for key, value in zip(table, row, strict=True):
            table[key].append(value)
    return table


def sparse_target(
    a: FinishedRun, b: FinishedRun, *, checkpoint: str, items: str, bins: int, device: str
) -> Iterator[tuple[str, Any]]:
    r"""Improvement of hard delivery ``a`` over soft labels ``b``, item by item, against the error of their common K-vote target.

    Improvement: :math:`H(p_i, q^b_i) - H(p_i, q^a_i)`, soft NLL against the full p; above 0 where ``a`` is better.

    Args:
        a: a finished run of K votes with hard delivery.
        b: the run with soft labels of the same K and seed, so that both learn from the same K votes.
        checkpoint: ``best`` or ``last``, of both.
        items: ``evaluate`` or ``train``.
        bins: how many, at most.
        device: where to compute; not needed for ``evaluate``.

    Yields:
        on each slice ``items``, ``improvement`` (mean) and, for ``js`` and ``l1``, ``<distance>_spearman``,
        ``<distance>_spearman_given_entropy`` and ``<distance>_bins`` (see :func:`bin_by_distance`).

    Raises:
        NotApplicableError: when the runs use all votes.
    """
    if items not in ITEMS:
        raise InputError(f"items must be one of {', '.join(ITEMS)}, got {items!r}")
    if a.cell.K is None or b.cell.K is None:
        raise NotApplicableError("with all votes the target is p itself, so that there is no distance to bin by")
    if (a.cell.K, a.cell.seed) != (b.cell.K, b.cell.seed) or not np.array_equal(a.sparse_p, b.sparse_p):
        raise InputError(f"two runs with the same K votes are needed, got {a.path} and {b.path}")
    index, logits_a, logits_b = _predictions(a, b, checkpoint, items, device)
    votes = a.source.votes
    p = votes.p[index]
    nll_a, nll_b = (item_nll(log_softmax(logits.astype(np.float64), axis=1), p) for logits in (logits_a, logits_b))
    improvement = nll_b - nll_a
    distances = {name: distance(a.sparse_p[index], p).round(DECIMALS) for name, distance in DISTANCES.items()}
    for name, inside in item_slices(a, index).items():
        gain, entropy = improvement[inside], votes.entropy[index][inside]
        yield f"{name}/items", len(gain)
        yield f"{name}/improvement", float(gain.mean()) if len(gain) else None
        for kind, distance in distances.items():
            far = distance[inside]
            yield f"{name}/{kind}_spearman", spearman(far, gain)
            yield f"{name}/{kind}_spearman_given_entropy", partial_spearman(far, gain, entropy)
            yield f"{name}/{kind}_bins", bin_by_distance(far, gain, bins)


def _predictions(
    a: FinishedRun, b: FinishedRun, checkpoint: str, items: str, device: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n,) items and the (n, C) logits of both runs for them."""
    if items == "train":
        if not np.array_equal(a.split.train, b.split.train):
            raise InputError(f"two runs with the same training items are needed, got {a.path} and {b.path}")
        logits = [predict(run.network(checkpoint, device), run.prepared, a.split.train) for run in (a, b)]
        return a.split.train, logits[0], logits[1]
    saved_a, saved_b = a.predictions, b.predictions
    if not np.array_equal(saved_a["index"], saved_b["index"]):
        raise InputError(f"two runs with the same evaluation items are needed, got {a.path} and {b.path}")
    name = {"best": "logits", "last": "logits_last"}[checkpoint]
    return saved_a["index"], saved_a[name], saved_b[name]
