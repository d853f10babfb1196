r"""Both ends of the spectrum of a symmetric matrix H that is only known by its products :math:`v \mapsto Hv`.

Lanczos with a stop test after every product, and power iteration, which is what the paper used. Both stop by the same rule,
:math:`\|Hu - \lambda u\| \le \text{tolerance} \cdot |\lambda|` for a unit vector u: some eigenvalue of H is then as close to
:math:`\lambda`, whatever H is, and for a separated end the error is of the order of the residual's square.

scipy's ``eigsh`` is Lanczos too, but looks at its result only at a restart, after 20 products at the least.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import eigh_tridiagonal
from torch import Tensor

Product = Callable[[Tensor], Tensor]
"""(D,) to (D,), the product with H, in the vector's own type and on its own device."""

ENDS = ("largest", "smallest")


@dataclass(frozen=True)
class End:
    """One end of a spectrum.

    Args:
        value: the eigenvalue, with its sign.
        residual: the norm of Hu - value u.
    """

    value: float
    residual: float

    def within(self, tolerance: float) -> bool:
        """Whether the stop rule holds."""
        return self.residual <= tolerance * abs(self.value)


@dataclass(frozen=True)
class Spectrum:
    """What m products say about H.

    Args:
        largest: the end with the algebraically largest eigenvalue (not: the largest in magnitude).
        smallest: the other end; None where it was not looked for.
        products: m.
        stopped_by: ``tolerance``, ``budget``, or ``exact`` when the basis spans an invariant subspace.
        basis: orthonormal (D,) vectors. Empty for power iteration.
        diagonal: q^T H q of each of them.
    """

    largest: End
    smallest: End | None
    products: int
    stopped_by: str
    basis: tuple[Tensor, ...] = ()
    diagonal: tuple[float, ...] = ()


def lanczos(product: Product, start: Tensor, *, tolerance: float, max_products: int, ends: tuple[str, ...] = ENDS) -> Spectrum:
    r"""Ritz values of the Krylov space of ``start``: :math:`Q^\top H Q = T` tridiagonal, :math:`T s = \theta s`, :math:`u = Qs`.

    The residual of a Ritz pair is :math:`\beta_m |s_m|`, so that the stop rule costs no product. Every new vector is made
    orthogonal to all before it, twice: without that, rounding brings copies of converged eigenvalues. One (D,) vector is kept
    for each product.

    Args:
        product: the product with H.
        start: (D,) a random vector; its type and device are those of the computation.
        tolerance: of the stop rule.
        max_products: at most so many.
        ends: which ends must meet the tolerance.

    >>> H = torch.diag(torch.tensor([5.0, 1.0, 0.5, -2.0]))
    >>> found = lanczos(lambda v: H @ v, torch.ones(4), tolerance=1e-4, max_products=10)
    >>> round(found.largest.value, 3), round(found.smallest.value, 3), found.products
    (5.0, -2.0, 4)
    """
    basis = [start / start.norm()]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    while True:
        q = basis[-1]
        w = product(q)
        diagonal.append(float(w @ q))
        w = _orthogonal(w - diagonal[-1] * q, basis)
        beta = float(w.norm())
        theta, s = eigh_tridiagonal(np.array(diagonal), np.array(off_diagonal))
        residuals = beta * np.abs(s[-1])
        found = {"largest": End(float(theta[-1]), float(residuals[-1])), "smallest": End(float(theta[0]), float(residuals[0]))}
        rounding = 10 * torch.finfo(start.dtype).eps * float(np.abs(theta).max())
        if beta <= rounding or len(basis) == len(start):
            stopped_by = "exact"
        elif all(found[end].within(tolerance) for end in ends):
            stopped_by = "tolerance"
        elif len(basis) >= max_products:
            stopped_by = "budget"
        else:
            off_diagonal.append(beta)
            basis.append(w / beta)
            continue
        return Spectrum(**found, products=len(basis), stopped_by=stopped_by, basis=tuple(basis), diagonal=tuple(diagonal))


def power_iteration(product: Product, start: Tensor, *, tolerance: float, max_products: int) -> Spectrum:
    r""":math:`v \leftarrow Hv / \|Hv\|`, with :math:`\lambda = v^\top H v`: the eigenvalue that is largest in magnitude.

    Where that one is negative it is the smallest, and a second iteration with :math:`H + |\lambda| I` goes for the largest.

    Args:
        product: the product with H.
        start: (D,) a random vector.
        tolerance: of the stop rule.
        max_products: at most so many, both iterations together.

    >>> H = torch.diag(torch.tensor([1.0, 5.0, -9.0]))
    >>> found = power_iteration(lambda v: H @ v, torch.ones(3), tolerance=1e-4, max_products=200)
    >>> round(found.largest.value, 3), round(found.smallest.value, 3)
    (5.0, -9.0)
    """
    dominant, products = _iterate(product, start, 0.0, tolerance, max_products)
    if dominant.value >= 0 or products >= max_products:
        smallest, largest = None, dominant
    else:
        smallest = dominant
        largest, more = _iterate(product, start, abs(dominant.value), tolerance, max_products - products)
        products += more
    reached = largest.within(tolerance) and (smallest is None or smallest.within(tolerance))
    return Spectrum(largest, smallest, products, "tolerance" if reached else "budget")


def _iterate(product: Product, start: Tensor, shift: float, tolerance: float, max_products: int) -> tuple[End, int]:
    v = start / start.norm()
    for products in range(1, max_products + 1):
        w = product(v)
        value = float(w @ v)
        end = End(value, float((w - value * v).norm()))
        if end.within(tolerance) or products == max_products:
            break
        w = w + shift * v
        v = w / w.norm()
    return end, products


def _orthogonal(w: Tensor, basis: list[Tensor]) -> Tensor:
    """The part of w that is orthogonal to the basis. Overwrites w."""
    for _ in range(2):
        for q in basis:
            w.sub_(q, alpha=float(q @ w))
    return w
