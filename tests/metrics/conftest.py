"""Predictions to score: votes drawn from a model's distribution, so that p has many ties and zeros, as real votes do."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import log_softmax

Predictions = tuple[np.ndarray, np.ndarray]


@pytest.fixture
def predictions() -> Callable[..., Predictions]:
    """A maker of (logits, p), both (n, classes). ``sharpness`` above 1 gives an overconfident model, below 1 an unsure one."""

    def make(n: int, classes: int = 10, *, votes: int = 50, sharpness: float = 1.0, seed: int = 0) -> Predictions:
        rng = np.random.default_rng(seed)
        logits = 3 * rng.normal(size=(n, classes))
        counts = rng.multinomial(votes, np.exp(log_softmax(logits, axis=1)))
        return sharpness * logits, counts / votes

    return make
