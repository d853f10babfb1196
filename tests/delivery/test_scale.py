"""Labels at scale: memory in proportion to the votes, never an N x C matrix."""

import tracemalloc

import numpy as np
import pytest

from hardlabels.delivery.majority import Majority
from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.sls import SLS
from hardlabels.delivery.stratified_sls import StratifiedSLS
from hardlabels.randomness import stream
from hardlabels.votes import Votes


@pytest.mark.parametrize("method", [SLS, Multipass, StratifiedSLS, Majority])
def test_an_epoch_needs_at_most_four_times_the_votes_own_bytes(method):
    rng = stream(0, "test")
    sizes = rng.integers(5, 16, 400_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    votes = Votes.from_labels(rng.integers(0, 1000, offsets[-1]), offsets, 1000)
    own = votes.labels.nbytes + votes.offsets.nbytes
    tracemalloc.start()
    labels = method(votes, 0)(3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert labels.shape == (400_000,)
    assert peak <= 4 * own
    assert peak < 400_000 * 1000 / 10  # far from one byte for each item and class


def test_taking_items_needs_at_most_four_times_the_votes_own_bytes():
    rng = stream(1, "test")
    votes = Votes.from_labels(rng.integers(0, 1000, 4_000_000), np.arange(0, 4_000_001, 10), 1000)
    tracemalloc.start()
    votes.take(rng.permutation(400_000)[:320_000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 4 * (votes.labels.nbytes + votes.offsets.nbytes)
