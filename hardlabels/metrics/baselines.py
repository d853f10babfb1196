"""What needs no network: the annotators' own distributions, and predictions that are the same for every item."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hardlabels.metrics.collection import score


def oracle(p: npt.ArrayLike, masks: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    r"""Every metric of the prediction q = p, on every slice.

    Its soft NLL is the mean annotator entropy; KL, soft Brier score and ``ece_votes`` are 0. No prediction has less on these
    items and votes. Accuracy is 1, and so is entropy correlation, but for ties that rounding breaks. ECE against the majority
    label is :math:`1 - \frac1N \sum_i \max_c p_{ic}` and no bound: a network that is surer than the annotators can have less.

    Votes are a sample. A model that knew the population of annotators would still be about :math:`(C' - 1) / (2 m)` nats of KL
    away from the shares of m votes, where :math:`C'` classes get votes: so much of the way to this ceiling nobody can go.

    Args:
        p: (N, C) annotator probabilities of the evaluation items.
        masks: slice to (N,) which of these items it has, as ``result.json`` has its slices.

    Returns:
        slice to metric to value; NaN on an empty slice, as everywhere.

    >>> p = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> found = oracle(p, {"full": np.array([True, True]), "non_unanimous": np.array([True, False])})
    >>> [round(found[name]["soft_nll"], 4) for name in found], found["full"]["kl_to_annotator"]  # ln 2 / 2, ln 2
    ([0.3466, 0.6931], 0.0)
    """
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):  # a class without votes has probability 0 and a logit of -inf, which score allows
        logits = np.log(p)
    return {name: score(logits[mask], p[mask]) for name, mask in masks.items()}


def constants(p: npt.ArrayLike) -> dict[str, np.ndarray]:
    r"""Two (C,) predictions that look at no item, as the shared task LeWiDi prints them beside every score.

    ``uniform``: all classes are equally likely. ``most frequent``: all on the class with the largest mean share
    :math:`\frac1N \sum_i p_{ic}`; ties go to the lowest class. Its soft NLL is infinite as soon as somebody voted otherwise.

    Args:
        p: (N, C) annotator probabilities, by which the most frequent class is found.

    >>> {name: q.tolist() for name, q in constants([[0.2, 0.8], [0.5, 0.5]]).items()}
    {'uniform': [0.5, 0.5], 'most frequent': [0.0, 1.0]}
    """
    shares = np.asarray(p, dtype=np.float64).mean(0)
    most = np.zeros(len(shares))
    most[shares.argmax()] = 1.0
    return {"uniform": np.full(len(shares), 1 / len(shares)), "most frequent": most}
