"""Scores of a prediction against the full annotator distribution: NLL, KL, Brier; and accuracy against its majority.

Here and in the sibling files: ``log_q`` (N, C) are log-probabilities (``scipy.special.log_softmax`` of the logits, in float64),
``p`` (N, C) annotator probabilities, logarithms are natural, and every function is a mean over items, never over batches.
Log-probabilities rather than probabilities, because a q that underflows to 0 still has a finite logarithm.
"""

import numpy as np

from hardlabels.votes.distances import entropy


def item_nll(log_q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(N,) each item's part in :func:`soft_nll`.

    >>> item_nll(np.log([[0.5, 0.5]]), np.array([[1.0, 0.0]])).round(4).tolist()  # ln 2
    [0.6931]
    """
    return -np.multiply(p, log_q, out=np.zeros(log_q.shape), where=p > 0).sum(1)


def item_brier(log_q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(N,) each item's part in :func:`soft_brier`.

    >>> item_brier(np.log([[0.25, 0.75]]), np.array([[0.5, 0.5]])).tolist()
    [0.125]
    """
    return np.square(np.exp(log_q) - p).sum(1)


def soft_nll(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Soft negative log-likelihood :math:`\frac1N \sum_i -\sum_c p_{ic} \ln q_{ic}`: the primary metric.

    Range [mean H(p), inf); the floor is reached by q = p. A class without votes adds nothing, even at q = 0.

    >>> q = np.array([[0.5, 0.5], [0.25, 0.75]])
    >>> round(soft_nll(np.log(q), np.array([[1.0, 0.0], [1.0, 0.0]])), 4)  # (ln 2 + ln 4) / 2
    1.0397
    """
    return float(item_nll(log_q, p).mean())


def kl_to_annotator(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Mean divergence :math:`KL(p_i \| q_i)`: :func:`soft_nll` minus mean :func:`entropy` of p, by exactly that subtraction.

    Range [0, inf), up to rounding. H(p) belongs to the data, so on one evaluation set this ranks methods as soft NLL does.

    >>> q, p = np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])
    >>> round(kl_to_annotator(np.log(q), p), 4)  # ln(4/3) / 2
    0.1438
    """
    return soft_nll(log_q, p) - float(entropy(p).mean())


def soft_brier(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Soft Brier score :math:`\frac1N \sum_i \sum_c (q_{ic} - p_{ic})^2`, in [0, 2]; 0 for q = p.

    >>> q, p = np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])
    >>> soft_brier(np.log(q), p)  # 1/16 + 1/16
    0.125
    """
    return float(item_brier(log_q, p).mean())


def hard_acc(log_q: np.ndarray, p: np.ndarray) -> float:
    r"""Accuracy :math:`\frac1N \sum_i [\arg\max_c q_{ic} = \arg\max_c p_{ic}]` against the majority label, in [0, 1].

    Every item counts, also one whose votes tie; on both sides a tie goes to the lowest class.

    >>> q, p = np.array([[0.4, 0.6], [0.8, 0.2]]), np.array([[0.5, 0.5], [0.9, 0.1]])
    >>> hard_acc(np.log(q), p)  # the tied votes of the first item count as class 0
    0.5
    """
    return float(is_correct(log_q, p).mean())


def is_correct(log_q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(N,) whether the top class of q is the majority label: the only place that says what correct means.

    >>> is_correct(np.log([[0.4, 0.6]]), np.array([[0.2, 0.8]])).tolist()
    [True]
    """
    return log_q.argmax(1) == p.argmax(1)
