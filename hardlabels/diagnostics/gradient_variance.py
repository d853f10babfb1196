r"""Gradient variance under label sampling, in the last layer: is the noise of SLS where annotators disagree?

Last layer: :math:`z = W h + b`. With label y the gradient is :math:`(q - e_y) \tilde h^\top`, :math:`\tilde h = (h, 1)`. Over
:math:`y \sim p` its total variance (the trace of the covariance of Proposition 1) is :math:`(1 - \|p\|^2)\,\|\tilde h\|^2`.
"""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from scipy.special import softmax
from torch import nn

from hardlabels.diagnostics.items import item_slices, penultimate
from hardlabels.errors import InputError
from hardlabels.metrics.agreement import spearman
from hardlabels.randomness import stream
from hardlabels.runs.finished import FinishedRun
from hardlabels.votes import Votes

DECIMALS = 10
"""Of a variance of labels: permuted votes have one ||p||^2, but their sums differ in the last digit, and ranks need the tie."""


def feature_norm(h: np.ndarray, *, bias: bool) -> np.ndarray:
    r"""(n,) :math:`\|\tilde h\|^2`, which is :math:`\|h\|^2`, plus 1 where the layer has a bias.

    >>> feature_norm(np.array([[3.0, 4.0]]), bias=True).tolist()
    [26.0]
    """
    return np.square(h).sum(1) + bias


def label_variance(p: np.ndarray) -> np.ndarray:
    r"""(n,) total variance of :math:`e_y`, and so of the logits' gradient :math:`q - e_y`: :math:`1 - \|p\|^2`, whatever q is.

    >>> label_variance(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    return (1 - np.square(p).sum(1)).round(DECIMALS)


def sampled_variance(q: np.ndarray, votes: Votes, draws: int, seed: int) -> np.ndarray:
    r"""(n,) the same from ``draws`` sampled labels: :math:`\frac{1}{m-1}\sum_t \|g_t - \bar g\|^2` of :math:`g_t = q - e_{y_t}`.

    Unbiased. (The gradient of W is an outer product with :math:`\tilde h`, which multiplies it by :math:`\|\tilde h\|^2`.)

    Args:
        q: (n, C) predictions.
        votes: of the same n items; labels are drawn as SLS draws them.
        draws: m, at least 2.
        seed: of the draws.

    >>> votes = Votes.from_counts([[5, 5], [7, 0]])
    >>> sampled_variance(votes.p, votes, draws=1000, seed=0).round(1).tolist()
    [0.5, 0.0]
    """
    if draws < 2:
        raise InputError(f"draws must be at least 2 for a variance, got {draws}")
    squares, total, rows = np.zeros(len(q)), np.zeros_like(q), np.arange(len(q))
    for t in range(draws):
        gradient = q.copy()
        gradient[rows, votes.draw(stream(seed, "gradient variance", t))] -= 1
        squares += np.square(gradient).sum(1)
        total += gradient
    return (np.maximum(squares - np.square(total).sum(1) / draws, 0.0) / (draws - 1)).round(DECIMALS)


def gradient_variance(run: FinishedRun, *, checkpoint: str, draws: int, chunk: int, device: str) -> Iterator[tuple[str, Any]]:
    r"""Variance of the last layer's gradient, item by item, and its Spearman with annotator entropy.

    On the evaluation items, with the full p: what SLS would do there with all votes.

    Args:
        run: a finished run.
        checkpoint: ``best`` or ``last``.
        draws: labels per item for the Monte-Carlo estimate.
        chunk: images at a time.
        device: where the features are computed.

    Yields:
        on each slice ``items``, ``spearman`` (closed form), ``spearman_sampled`` (Monte-Carlo), ``variance`` (mean),
        ``sampled_ratio`` (mean Monte-Carlo over mean closed form, 1 when they agree) and ``noise_to_signal`` (median of variance
        over the squared mean gradient, :math:`(1 - \|p\|^2) / \|q - p\|^2`); arrays ``item_position``, ``item_variance`` and
        ``item_entropy``, (n,).
    """
    items, network = run.split.evaluate, run.network(checkpoint, device)
    head = cast(nn.Linear, network.fc)
    h = penultimate(run, network, items, chunk=chunk)
    weight = head.weight.detach().cpu().double().numpy()
    offset = 0.0 if head.bias is None else head.bias.detach().cpu().double().numpy()
    q = softmax(h @ weight.T + offset, axis=1)
    votes = run.source.votes.take(items)
    p, norm = votes.p, feature_norm(h, bias=head.bias is not None)
    noise = label_variance(p)
    variance, sampled = noise * norm, sampled_variance(q, votes, draws, run.cell.seed) * norm
    signal = np.square(q - p).sum(1)
    for name, inside in item_slices(run, items).items():
        yield f"{name}/items", int(inside.sum())
        if not inside.any():
            continue
        entropy = votes.entropy[inside]
        yield f"{name}/spearman", spearman(variance[inside], entropy)
        yield f"{name}/spearman_sampled", spearman(sampled[inside], entropy)
        mean = float(variance[inside].mean())
        yield f"{name}/variance", mean
        yield f"{name}/sampled_ratio", float(sampled[inside].mean()) / mean if mean else None
        yield f"{name}/noise_to_signal", float(np.median(noise[inside] / np.maximum(signal[inside], np.finfo(float).tiny)))
    yield from (("item_position", items), ("item_variance", variance), ("item_entropy", votes.entropy))
