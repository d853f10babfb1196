"""Built-in feature vectors whose true label distribution is known, with simulated annotators: the data of ``make demo``.

A run on them takes about a second, so that enough seeds fit into minutes to decide something; and since the truth is known, one
can see whether the decision is right. Needs no files, and is a pure function of its arguments.
"""

import numpy as np
from scipy.special import softmax

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.sources.features import feature_statistics
from hardlabels.sources.source import Source
from hardlabels.sources.synthetic import vote
from hardlabels.votes import Votes

MAX_NUMBERS = 1 << 27  # of features and votes: a mistyped number must not fill the memory


def true_softmax(x: np.ndarray, classes: int, sharpness: float, rng: np.random.Generator) -> np.ndarray:
    r"""(N, C) the true distributions :math:`p_i = softmax(s\,W x_i)`, where W has unit rows in random directions.

    The larger the sharpness s, the fewer items are disputed: 0 makes all classes equally likely everywhere.

    >>> true_softmax(np.ones((1, 3)), classes=4, sharpness=0.0, rng=stream(0, "doctest")).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    w = rng.standard_normal((classes, x.shape[1]))
    return softmax(sharpness * x @ (w / np.linalg.norm(w, axis=1, keepdims=True)).T, axis=1)


def synthetic_vectors(
    *,
    items: int = 1500,
    features: int = 16,
    classes: int = 4,
    annotators: int = 50,
    sharpness: float = 2.0,
    skill: float = 1.0,
    seed: int = 0,
    name: str = "synthetic_vectors",
) -> Source:
    """Standard normal vectors, voted on by simulated annotators; ``truth`` is the distribution that they vote from.

    Args:
        items: the number of items N.
        features: the length d of a vector.
        classes: the number of classes C, at least 2.
        annotators: votes per item.
        sharpness: how decided the true distributions are; see :func:`true_softmax`.
        skill: in [0, 1]: 1 votes from the truth, 0 guesses.
        seed: of the data, not of a run: runs with different seeds train on the same data.
        name: the name of the data set.

    >>> source = synthetic_vectors(items=30)
    >>> source.inputs.shape, source.votes, source.truth.shape
    ((30, 16), Votes(30 items, 4 classes, 1500 votes), (30, 4))
    """
    least = {"items": (items, 1), "features": (features, 1), "classes": (classes, 2), "annotators": (annotators, 1)}
    for argument, (number, bound) in least.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < bound:
            raise InputError(f"synthetic vectors: {argument} must be a whole number of at least {bound}, got {number!r}")
    if not sharpness >= 0 or not 0 <= skill <= 1:
        raise InputError(f"synthetic vectors: sharpness must be at least 0 and skill in 0 .. 1, got {sharpness!r} and {skill!r}")
    if items * max(features, classes, annotators) > MAX_NUMBERS:
        raise InputError(
            f"synthetic vectors: expected at most {MAX_NUMBERS:,} features or votes, "
            f"got {items:,} items, {features:,} features, {classes:,} classes, {annotators:,} annotators"
        )
    x = stream(seed, "synthetic vectors").standard_normal((items, features)).astype(np.float32)
    truth = true_softmax(x.astype(np.float64), classes, sharpness, stream(seed, "synthetic directions"))
    mean, std = feature_statistics(x)
    return Source(
        name=name,
        inputs=x,
        votes=Votes.from_counts(vote(truth, annotators, skill, stream(seed, "synthetic votes")), where="synthetic votes"),
        labels=truth.argmax(1),
        class_names=tuple(f"direction {c}" for c in range(classes)),
        mean=mean,
        std=std,
        truth=truth,
    )
