"""Distances against scipy and against a loop."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from hardlabels.votes import Votes, js_distance, l1_distance


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    p = Votes.from_counts(rng.multinomial(50, rng.dirichlet(np.full(6, 0.3), size=400))).p
    q = Votes.from_probabilities(p).subsample(5, seed=0).p
    return p, q


def test_js_is_scipys(pairs):
    p, q = pairs
    np.testing.assert_allclose(js_distance(p, q), [jensenshannon(a, b) for a, b in zip(p, q, strict=True)], atol=1e-7)


def test_l1_is_a_loop(pairs):
    p, q = pairs
    expected = [sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
    np.testing.assert_allclose(l1_distance(p, q), expected, atol=1e-14)


@pytest.mark.parametrize(("distance", "largest"), [(js_distance, np.sqrt(np.log(2))), (l1_distance, 2.0)])
def test_they_are_metrics(pairs, distance, largest):
    p, q = pairs
    r = p[::-1]
    assert (distance(p, p) == 0).all()
    np.testing.assert_array_equal(distance(p, q), distance(q, p))
    assert (distance(p, r) <= distance(p, q) + distance(q, r) + 1e-12).all()
    assert distance(p, r).max() <= largest + 1e-15
    assert distance(np.eye(4), np.roll(np.eye(4), 1, axis=0)).tolist() == pytest.approx([largest] * 4, abs=1e-12)


def test_leading_axes_are_kept(pairs):
    p, q = (x.reshape(4, 100, 6) for x in pairs)
    for distance in (js_distance, l1_distance):
        assert distance(p, q).shape == (4, 100)
        np.testing.assert_array_equal(distance(p, q)[2], distance(p[2], q[2]))
