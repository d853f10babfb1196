r"""The trace of a symmetric matrix H that is only known by its products, with a standard error.

Hutchinson: :math:`E[\omega^\top H \omega] = \operatorname{tr} H` for random signs :math:`\omega`. Its variance is
:math:`2 \sum_{i \ne j} H_{ij}^2`, and of that a few large eigenvalues have the greatest share. Hutch++ (Meyer et al. 2021) takes
them out: with an orthonormal basis Q and :math:`P = I - QQ^\top`,

.. math:: \operatorname{tr} H = \operatorname{tr}(Q^\top H Q) + E[(P\omega)^\top H (P\omega)] .

Here Q is the Lanczos basis, for which :math:`Q^\top H Q` is known already: the products that found the eigenvalues serve twice.
Unbiased, since the signs do not depend on Q.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hardlabels.diagnostics.spectrum import Product

LEAST_PROBES = 8
"""Before that many probes their spread is too uncertain to stop by it."""


@dataclass(frozen=True)
class Trace:
    """An estimate of a trace.

    Args:
        value: the estimate.
        standard_error: of the estimate; 0 when it is exact, None when there was only one probe.
        products: products of this estimate (those of the basis not among them).
        stopped_by: ``tolerance``, ``budget``, or ``exact`` when the basis is the whole space.
    """

    value: float
    standard_error: float | None
    products: int
    stopped_by: str


def estimate_trace(
    product: Product,
    probe: Callable[[int], Tensor],
    *,
    tolerance: float,
    max_products: int,
    basis: Sequence[Tensor] = (),
    diagonal: Sequence[float] = (),
) -> Trace:
    r"""Hutchinson's estimate without a basis, Hutch++ with one; each probe vector costs one product.

    Stops when the standard error is at most ``tolerance`` times the estimate's magnitude (which may be negative), after
    ``LEAST_PROBES`` probes at the least, or when the budget is used up.

    Args:
        product: the product with H.
        probe: number i to the i-th (D,) vector of random signs.
        tolerance: of the stop rule, relative.
        max_products: at most so many.
        basis: orthonormal (D,) vectors; independent of the probes.
        diagonal: q^T H q of each of them.

    >>> H = torch.diag(torch.tensor([100.0, 1.0, 2.0, -3.0]))
    >>> signs = lambda i: torch.tensor([1.0, -1.0, 1.0, 1.0])
    >>> estimate_trace(lambda v: H @ v, signs, tolerance=0.01, max_products=20)
    Trace(value=100.0, standard_error=0.0, products=8, stopped_by='tolerance')
    """
    known = float(sum(diagonal))
    if len(basis) and len(basis) >= len(basis[0]):
        return Trace(known, 0.0, 0, "exact")
    samples: list[float] = []
    while True:
        w = _outside(probe(len(samples)), basis)
        samples.append(float(w @ product(w)))
        value = known + float(np.mean(samples))
        error = float(np.std(samples, ddof=1) / np.sqrt(len(samples))) if len(samples) > 1 else None
        if error is not None and len(samples) >= LEAST_PROBES and error <= tolerance * abs(value):
            return Trace(value, error, len(samples), "tolerance")
        if len(samples) >= max_products:
            return Trace(value, error, len(samples), "budget")


def random_signs(rng: np.random.Generator, like: Tensor) -> Tensor:
    """(D,) of -1 and 1, with the type and on the device of ``like``.

    >>> from hardlabels.randomness import stream
    >>> signs = random_signs(stream(0, "doctest"), torch.zeros(1000))
    >>> signs.unique().tolist(), signs.dtype
    ([-1.0, 1.0], torch.float32)
    """
    return torch.from_numpy(rng.integers(0, 2, len(like), dtype=np.int8) * 2 - 1).to(like)


def _outside(w: Tensor, basis: Sequence[Tensor]) -> Tensor:
    """The part of w that is orthogonal to the basis."""
    w = w.clone()
    for q in basis:
        w.sub_(q, alpha=float(q @ w))
    return w
