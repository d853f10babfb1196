"""The trace: unbiased, with a standard error that is true, negative or not."""

import numpy as np
import pytest
import torch

from hardlabels.diagnostics.spectrum import lanczos
from hardlabels.diagnostics.trace import LEAST_PROBES, estimate_trace, random_signs
from hardlabels.randomness import stream

D = 150


def matrix(sign=1.0):
    rng = stream(0, "test matrix")
    q, _ = np.linalg.qr(rng.standard_normal((D, D)))
    eigenvalues = np.concatenate([[50, 40, 30, 12], np.linspace(-1, 2, D - 6), [-3, -5]])
    return torch.from_numpy(sign * (q * eigenvalues @ q.T))


def signs(seed):
    return lambda i: random_signs(stream(seed, "test probe", i), torch.zeros(D, dtype=torch.float64))


def krylov(matrix, products):
    start = torch.from_numpy(stream(0, "test start").standard_normal(D))
    found = lanczos(lambda v: matrix @ v, start, tolerance=0.0, max_products=products)
    return {"basis": found.basis, "diagonal": found.diagonal}


@pytest.mark.parametrize("products", [0, 3, 12])
def test_the_estimate_is_unbiased_and_its_standard_error_true(products):
    H = matrix()
    basis = krylov(H, products) if products else {}
    found = [estimate_trace(lambda v: H @ v, signs(s), tolerance=1e-9, max_products=10, **basis) for s in range(400)]
    values = np.array([trace.value for trace in found])
    spread = values.std(ddof=1)
    assert abs(values.mean() - float(H.trace())) < 4 * spread / np.sqrt(400)
    # The mean of the estimated variances is the variance of the estimate.
    assert np.sqrt(np.mean([trace.standard_error**2 for trace in found])) == pytest.approx(spread, rel=0.15)


def test_a_hutchinson_probe_has_the_variance_of_the_textbook():
    H = matrix()
    samples = [float(w @ H @ w) for w in map(signs(0), range(4000))]
    expected = 2 * float((H - torch.diag(H.diagonal())).square().sum())
    assert np.var(samples, ddof=1) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_stops_by_the_relative_standard_error_for_either_sign(sign):
    H = matrix(sign)
    trace = estimate_trace(lambda v: H @ v, signs(1), tolerance=0.05, max_products=2000, **krylov(H, 10))
    assert trace.stopped_by == "tolerance"
    assert LEAST_PROBES <= trace.products < 2000
    assert trace.standard_error <= 0.05 * abs(trace.value)
    assert trace.value == pytest.approx(float(H.trace()), rel=0.2)


def test_taking_the_outliers_out_saves_more_than_half_of_the_products():
    H = matrix()
    for seed in range(5):
        plain = estimate_trace(lambda v: H @ v, signs(seed), tolerance=0.03, max_products=5000)
        deflated = estimate_trace(lambda v: H @ v, signs(seed), tolerance=0.03, max_products=5000, **krylov(H, 12))
        assert deflated.products + 12 <= plain.products / 2


def test_a_trace_of_zero_ends_with_the_budget():
    H = matrix() - torch.eye(D) * matrix().trace() / D
    trace = estimate_trace(lambda v: H @ v, signs(0), tolerance=0.01, max_products=30)
    assert (trace.products, trace.stopped_by) == (30, "budget")


def test_one_product_gives_no_standard_error():
    H = matrix()
    trace = estimate_trace(lambda v: H @ v, signs(0), tolerance=0.01, max_products=1)
    assert (trace.products, trace.standard_error, trace.stopped_by) == (1, None, "budget")


def test_a_basis_of_the_whole_space_is_exact():
    H = matrix()
    Q, _ = torch.linalg.qr(torch.from_numpy(stream(0, "test basis").standard_normal((D, D))))
    whole = {"basis": tuple(Q.T), "diagonal": torch.diag(Q.T @ H @ Q).tolist()}
    trace = estimate_trace(lambda v: H @ v, signs(0), tolerance=0.01, max_products=30, **whole)
    assert (trace.standard_error, trace.products, trace.stopped_by) == (0.0, 0, "exact")
    assert trace.value == pytest.approx(float(H.trace()), rel=1e-9)


def test_signs_are_fair_and_a_function_of_the_seed():
    drawn = torch.stack([signs(0)(i) for i in range(400)])
    assert drawn.abs().eq(1).all()
    assert abs(float(drawn.mean())) < 4 / np.sqrt(drawn.numel())
    assert torch.equal(signs(0)(3), drawn[3])
    assert not torch.equal(signs(1)(3), drawn[3])
