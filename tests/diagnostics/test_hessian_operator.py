"""Products against an explicit float64 Hessian, and against curvlinops and pyhessian on a small ResNet."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call

from hardlabels.diagnostics.hessian import curvature
from hardlabels.diagnostics.operator import HessianProducts
from hardlabels.learning.resnet import ResNet18
from hardlabels.randomness import stream


def soft_targets(n, classes, seed=0):
    return torch.from_numpy(stream(seed, "test targets").dirichlet(np.ones(classes), n))


def images(n, size, seed=0):
    return torch.from_numpy(stream(seed, "test images").standard_normal((n, 3, size, size)))


@pytest.fixture
def tiny():
    """A convolution, batch normalisation with statistics of its own, a smooth activation, a linear layer; float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = nn.Sequential(
            nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3), nn.Tanh(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 3)
        ).double()
        network.train()
        network(2 * images(32, 5) + 1)  # moves the running statistics away from 0 and 1
    return network.eval(), images(11, 5, seed=1), soft_targets(11, 3)


def explicit_hessian(network, x, p):
    """All columns, by differentiating twice; a loss written out."""
    names = [name for name, _ in network.named_parameters()]
    shapes = [parameter.shape for parameter in network.parameters()]
    flat = torch.cat([parameter.detach().flatten() for parameter in network.parameters()])

    def loss(vector):
        parts = vector.split([shape.numel() for shape in shapes])
        weights = {name: part.view(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        return -(p * functional_call(network, weights, x).log_softmax(1)).sum() / len(x)

    return torch.autograd.functional.hessian(loss, flat), float(loss(flat))


def in_chunks(x, p, size):
    return list(zip(x.split(size), p.split(size), strict=True))


def test_products_are_those_of_the_explicit_hessian(tiny):
    network, x, p = tiny
    expected, loss = explicit_hessian(network, x, p)
    H = HessianProducts(network, in_chunks(x, p, 4), items=len(x))
    V = torch.from_numpy(stream(0, "test vectors").standard_normal((12, len(expected))))
    assert torch.allclose(torch.stack([H(v) for v in V]), V @ expected, rtol=1e-9, atol=1e-12)
    assert H.count == 12
    assert H.loss() == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("protocol", ["default", "paper"])
def test_eigenvalues_and_trace_are_those_of_the_explicit_hessian(tiny, protocol):
    network, x, p = tiny
    expected, _ = explicit_hessian(network, x, p)
    truth = torch.linalg.eigvalsh(expected)
    H = HessianProducts(network, in_chunks(x, p, 11), items=len(x))
    spectrum, trace = curvature(H, protocol=protocol, tolerance=1e-3, trace_tolerance=0.01, max_products=100, seed=0)
    assert spectrum.largest.value == pytest.approx(float(truth[-1]), rel=1e-3)
    assert abs(trace.value - float(expected.trace())) <= 4 * trace.standard_error
    assert H.count == spectrum.products + trace.products
    if protocol == "default":
        assert float(truth[0]) < 0, "a test of the negative end needs one"
        assert spectrum.smallest.value == pytest.approx(float(truth[0]), rel=1e-3)


def test_how_the_items_are_chunked_changes_nothing(tiny):
    network, x, p = tiny
    v = torch.from_numpy(stream(0, "test vector").standard_normal(sum(w.numel() for w in network.parameters())))
    products = [HessianProducts(network, in_chunks(x, p, size), items=len(x))(v) for size in (1, 4, 11)]
    assert torch.allclose(products[0], products[1], rtol=1e-10)
    assert torch.allclose(products[0], products[2], rtol=1e-10)


def test_batch_normalisation_is_frozen_and_nothing_is_changed(tiny):
    network, x, p = tiny
    network.train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    generator = torch.random.get_rng_state()
    H = HessianProducts(network, in_chunks(x, p, 4), items=len(x))
    H(H.zeros() + 1)
    assert not network.training
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())
    assert torch.equal(torch.random.get_rng_state(), generator)


def test_a_network_that_is_not_deterministic_is_refused(tiny):
    _, x, p = tiny

    class Noisy(nn.Linear):
        def forward(self, x):
            return super().forward(x.flatten(1)) * torch.rand(3, dtype=torch.float64)

    with pytest.raises(RuntimeError, match="deterministic"):
        HessianProducts(Noisy(75, 3).double(), in_chunks(x, p, 4), items=len(x))


@pytest.fixture
def resnet():
    """A few steps from its initial weights."""
    x, p = images(12, 12).float(), soft_targets(12, 3).float()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = ResNet18(3, width=2)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), p).backward()
        optimizer.step()
    return network.eval(), x, p


def test_a_small_resnet_agrees_with_curvlinops(resnet):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that it imports
        curvlinops = pytest.importorskip("curvlinops")
        network, x, p = resnet
        parameters = list(network.parameters())
        theirs = curvlinops.HessianLinearOperator(network, nn.CrossEntropyLoss(), parameters, in_chunks(x, p, 7))
        v = torch.from_numpy(stream(0, "test vector").standard_normal(sum(w.numel() for w in parameters))).float()
        expected = theirs @ v
    ours = HessianProducts(network, in_chunks(x, p, 7), items=len(x))(v)
    assert float((ours - expected).norm() / expected.norm()) < 1e-5


def test_a_part_of_the_network_that_the_loss_does_not_see_has_no_curvature(tiny):
    network, x, p = tiny
    expected = HessianProducts(network, in_chunks(x, p, 4), items=len(x))
    network.unused = nn.Linear(2, 2).double()
    network.forward = nn.Sequential(*list(network)[:-1]).forward
    H = HessianProducts(network, in_chunks(x, p, 4), items=len(x))
    v = expected.zeros() + 1
    assert torch.allclose(H(torch.cat([v, v.new_ones(6)])), torch.cat([expected(v), v.new_zeros(6)]))


def test_a_small_resnet_agrees_with_pyhessian(resnet):
    pyhessian = pytest.importorskip("pyhessian")
    network, x, p = resnet
    H = HessianProducts(network, in_chunks(x, p, 7), items=len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about create_graph, which it wants
        theirs = pyhessian.hessian(network, nn.CrossEntropyLoss(), dataloader=in_chunks(x, p, 12), cuda=False)
        rng = stream(0, "test vector")
        v = [torch.from_numpy(rng.standard_normal(w.shape)).float() for w in network.parameters()]
        _, product = theirs.dataloader_hv_product(v)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            eigenvalue = theirs.eigenvalues(maxIter=40, tol=1e-4)[0][0]
            samples = theirs.trace(maxIter=12, tol=0.0)
    ours, expected = H(torch.cat([part.flatten() for part in v])), torch.cat([part.flatten() for part in product])
    assert float((ours - expected).norm() / expected.norm()) < 1e-5
    spectrum, trace = curvature(H, protocol="default", tolerance=0.01, trace_tolerance=0.1, max_products=12, seed=0)
    assert spectrum.largest.value == pytest.approx(eigenvalue, rel=0.01)
    assert not any(q.requires_grad for q in spectrum.basis), "a graph kept by a vector is memory that grows"
    error = np.hypot(np.std(samples, ddof=1) / np.sqrt(len(samples)), trace.standard_error)
    assert abs(trace.value - np.mean(samples)) < 4 * error
