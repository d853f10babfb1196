"""Correlations that probes report, against numpy and the residuals of ranks."""

import math

import numpy as np
import pytest
from scipy.stats import rankdata

from hardlabels.diagnostics.correlation import CONSTANT, partial_spearman, pearson
from hardlabels.metrics.agreement import spearman


def test_correlation_of_rows_is_numpys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9, 16))
    assert pearson(x, y) == pytest.approx([np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)])
    assert pearson(x, -3 * x + 1) == pytest.approx(-np.ones(9))


def test_a_map_that_is_flat_up_to_rounding_has_no_correlation():
    flat = np.full((1, 4), 0.1, dtype=np.float32)
    flat[0, 0] = np.nextafter(flat[0, 0], np.float32(1))
    sloped = np.arange(4.0)[None]
    assert math.isnan(pearson(flat, sloped, constant=CONSTANT)[0])
    assert math.isnan(pearson(sloped, np.zeros((1, 4)), constant=CONSTANT)[0])


def test_the_partial_correlation_is_that_of_the_residuals_of_ranks():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 6, 300).astype(float)
    x, y = z + rng.normal(size=300), z + rng.normal(size=300)
    ranks = [rankdata(v) for v in (x, y, z)]
    rest = [r - np.polyval(np.polyfit(ranks[2], r, 1), ranks[2]) for r in ranks[:2]]
    assert partial_spearman(x, y, z) == pytest.approx(np.corrcoef(*rest)[0, 1], abs=1e-10)
    assert spearman(x, y) > 0.4  # through z alone:
    assert abs(partial_spearman(x, y, z)) < 0.2


def test_what_explains_nothing_or_everything():
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 4.0])
    assert partial_spearman(x, y, np.ones(4)) == spearman(x, y)
    assert math.isnan(partial_spearman(x, y, x))
