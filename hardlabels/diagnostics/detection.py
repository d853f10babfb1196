"""How well a score tells outliers from in-distribution items: ROC curve, AUROC, AUPR, FPR at 95 % TPR.

Outliers are the positive class, and ties are never broken: items of one score cross the threshold together. Not torchmetrics (nor
pytorch-ood's metrics, which use it): it squeezes scores outside [0, 1] through a float32 sigmoid, which ties large energies.
"""

import numpy as np

from hardlabels.errors import InputError

TPR = 95  # per cent of the outliers that are found where the false positive rate is read


def roc_counts(inside: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many of either kind score at least t, for every t from above the largest score down to the smallest.

    Args:
        inside: (n,) scores of in-distribution items.
        outside: (m,) scores of outliers.

    Returns:
        false and true positives, int64, of one length; they begin with 0 and end with n and m.

    >>> [counts.tolist() for counts in roc_counts(np.array([1.0, 2.0]), np.array([2.0, 3.0]))]
    [[0, 0, 1, 2], [0, 1, 2, 2]]
    """
    scores = np.concatenate([inside, outside])
    if not len(inside) or not len(outside) or not np.isfinite(scores).all():
        raise InputError(
            f"scores must be finite numbers of at least one item of either kind, got {len(inside)} in-distribution and "
            f"{len(outside)} outliers, {int((~np.isfinite(scores)).sum())} of them not finite"
        )
    order = np.argsort(-scores, kind="stable")
    is_outlier = (order >= len(inside)).astype(np.int64)
    last_of_tie = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true = np.append(0, np.cumsum(is_outlier)[last_of_tie])
    return np.append(0, last_of_tie + 1) - true, true


def detection_scores(false: np.ndarray, true: np.ndarray) -> dict[str, float]:
    r"""AUROC, AUPR and FPR95 of the counts of :func:`roc_counts`.

    - ``auroc``: :math:`P(s_{out} > s_{in}) + \tfrac12 P(s_{out} = s_{in})`, in [0, 1]; 0.5 tells nothing.
    - ``aupr``: average precision :math:`\sum_j (R_j - R_{j-1}) P_j`, no interpolation; without skill the share of outliers.
    - ``fpr95``: the least share of in-distribution items above a threshold that finds at least 95 % of the outliers. (ODIN's
      authors mean the reverse: outliers taken for in-distribution where 95 % of the latter are kept.)

    >>> detection_scores(*roc_counts(np.array([1.0, 2.0]), np.array([2.0, 3.0])))  # 3 of 4 pairs in order, one tie
    {'auroc': 0.875, 'aupr': 0.8333333333333333, 'fpr95': 0.5}
    """
    n, m = int(false[-1]), int(true[-1])
    area = int((np.diff(false) * (true[1:] + true[:-1])).sum())  # twice the area, in whole numbers
    precision = true[1:] / (true[1:] + false[1:])
    reached = int(np.argmax(100 * true >= TPR * m))
    return {
        "auroc": area / (2 * n * m),
        "aupr": float((np.diff(true) / m * precision).sum()),
        "fpr95": int(false[reached]) / n,
    }


def thin_roc(false: np.ndarray, true: np.ndarray, points: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates for a picture: at most ``points`` of the curve's own points, evenly along it, ends included.

    >>> fpr, tpr = thin_roc(*roc_counts(np.arange(5000.0), np.arange(5000.0) + 1000))
    >>> len(fpr) <= 200, fpr[0], tpr[0], fpr[-1], tpr[-1]
    (True, np.float64(0.0), np.float64(0.0), np.float64(1.0), np.float64(1.0))
    """
    fpr, tpr = false / false[-1], true / true[-1]
    way = fpr + tpr  # grows along the curve, from 0 to 2
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], points)))
    return fpr[kept], tpr[kept]


def histogram(inside: np.ndarray, outside: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (bins + 1,) over the range of both, and the counts of either in them.

    >>> [array.tolist() for array in histogram(np.array([0.0, 1.0]), np.array([2.0]), bins=2)]
    [[0.0, 1.0, 2.0], [1, 1], [0, 1]]
    """
    edges = np.histogram_bin_edges(np.concatenate([inside, outside]), bins)
    return edges, np.histogram(inside, edges)[0], np.histogram(outside, edges)[0]
