"""Lanczos and power iteration against matrices whose spectrum is known."""

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import eigsh

from hardlabels.diagnostics.spectrum import lanczos, power_iteration
from hardlabels.randomness import stream


def symmetric(eigenvalues, seed=0):
    """A dense float64 matrix with these eigenvalues and random eigenvectors."""
    rng = stream(seed, "test matrix")
    q, _ = np.linalg.qr(rng.standard_normal((len(eigenvalues), len(eigenvalues))))
    return torch.from_numpy(q * np.asarray(eigenvalues) @ q.T)


def start_vector(dimension, seed=0):
    return torch.from_numpy(stream(seed, "test start").standard_normal(dimension))


class Counted:
    def __init__(self, matrix):
        self.matrix, self.calls = matrix, 0

    def __call__(self, v):
        self.calls += 1
        return self.matrix @ v


# A trained network's shape: a few outliers, a bulk around zero, a negative tail.
OUTLIERS = np.concatenate([[50, 40, 30, 12], np.linspace(-1, 2, 194), [-3, -5]])


@pytest.mark.parametrize("eigenvalues", [OUTLIERS, -OUTLIERS, np.linspace(1, 2, 200), np.linspace(-2, -1, 200)])
def test_lanczos_finds_both_ends_to_within_its_residual(eigenvalues):
    H = Counted(symmetric(eigenvalues))
    found = lanczos(H, start_vector(200), tolerance=1e-3, max_products=150)
    truth = np.linalg.eigvalsh(H.matrix.numpy())
    assert found.stopped_by == "tolerance"
    assert found.products == H.calls == len(found.basis)
    for end, expected in ((found.largest, truth[-1]), (found.smallest, truth[0])):
        assert abs(end.value - expected) <= end.residual <= 1e-3 * abs(end.value)


def test_lanczos_agrees_with_arpack():
    H = symmetric(OUTLIERS, seed=1)
    smallest, largest = eigsh(H.numpy(), k=2, which="BE", return_eigenvectors=False)
    found = lanczos(lambda v: H @ v, start_vector(200), tolerance=1e-6, max_products=150)
    assert found.largest.value == pytest.approx(largest, rel=1e-9)
    assert found.smallest.value == pytest.approx(smallest, rel=1e-9)


def test_the_residual_is_that_of_the_ritz_vector():
    H, start = symmetric(OUTLIERS), start_vector(200)
    found = lanczos(lambda v: H @ v, start, tolerance=1e-9, max_products=6)
    Q = torch.stack(found.basis, dim=1)
    theta, s = torch.linalg.eigh(Q.T @ H @ Q)
    u = Q @ s[:, -1]
    assert found.stopped_by == "budget"
    assert found.largest.value == pytest.approx(float(theta[-1]), rel=1e-10)
    assert found.largest.residual == pytest.approx(float((H @ u - theta[-1] * u).norm()), rel=1e-6)
    assert found.diagonal == pytest.approx(torch.diag(Q.T @ H @ Q).tolist(), rel=1e-8, abs=1e-10)


def test_the_basis_stays_orthonormal_in_single_precision():
    """Long after the outliers have converged, when plain Lanczos would find them again and again."""
    H = symmetric(OUTLIERS).float()
    found = lanczos(lambda v: H @ v, start_vector(200).float(), tolerance=1e-12, max_products=80)
    Q = torch.stack(found.basis, dim=1)
    assert float((Q.T @ Q - torch.eye(Q.shape[1])).abs().max()) < 1e-5
    ritz = torch.linalg.eigvalsh((Q.T @ H @ Q).double())
    assert int((ritz > 45).sum()) == 1


def test_only_the_largest_end_is_cheaper_than_both():
    H = symmetric(OUTLIERS)
    settings = {"tolerance": 1e-2, "max_products": 150}
    one = lanczos(lambda v: H @ v, start_vector(200), ends=("largest",), **settings)
    both = lanczos(lambda v: H @ v, start_vector(200), **settings)
    assert one.products < both.products
    assert one.largest.value == pytest.approx(50, rel=1e-2)


@pytest.mark.parametrize(("matrix", "value"), [(torch.eye(5).double() * 3, 3.0), (torch.zeros(5, 5).double(), 0.0)])
def test_a_multiple_of_the_identity_takes_one_product(matrix, value):
    found = lanczos(lambda v: matrix @ v, start_vector(5), tolerance=1e-6, max_products=10)
    assert (found.products, found.stopped_by) == (1, "exact")
    assert found.largest.value == found.smallest.value == pytest.approx(value)


def test_a_small_matrix_is_solved_exactly_by_as_many_products_as_it_has_rows():
    H = symmetric([4.0, 2.0, -1.0])
    found = lanczos(lambda v: H @ v, start_vector(3), tolerance=1e-14, max_products=10)
    assert (found.products, found.stopped_by) == (3, "exact")
    assert sum(found.diagonal) == pytest.approx(5.0)


def test_power_iteration_finds_the_dominant_eigenvalue_to_within_its_residual():
    H = Counted(symmetric(OUTLIERS))
    found = power_iteration(H, start_vector(200), tolerance=1e-2, max_products=200)
    assert found.products == H.calls
    assert found.stopped_by == "tolerance"
    assert abs(found.largest.value - 50) <= found.largest.residual
    assert found.smallest is None


def test_power_iteration_reports_the_largest_even_where_the_smallest_dominates():
    H = symmetric(-OUTLIERS)
    found = power_iteration(lambda v: H @ v, start_vector(200), tolerance=1e-2, max_products=2000)
    assert found.smallest.value == pytest.approx(-50, rel=1e-2)
    assert found.largest.value == pytest.approx(5, rel=2e-2)


def test_power_iteration_without_products_left_says_so():
    H = symmetric(OUTLIERS)
    found = power_iteration(lambda v: H @ v, start_vector(200), tolerance=1e-6, max_products=5)
    assert (found.products, found.stopped_by) == (5, "budget")
    assert found.largest.residual > 1e-6 * found.largest.value


def test_lanczos_is_never_behind_power_iteration_from_the_same_start():
    """The power iterates lie in the Krylov space, over which the largest Ritz value is the maximum."""
    H, start = symmetric(OUTLIERS), start_vector(200)
    for products in range(1, 12):
        settings = {"tolerance": 1e-12, "max_products": products}
        ours = lanczos(lambda v: H @ v, start, **settings).largest.value
        assert ours >= power_iteration(lambda v: H @ v, start, **settings).largest.value - 1e-9
