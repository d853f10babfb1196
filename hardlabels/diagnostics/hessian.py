"""Curvature at a checkpoint: lambda_max, lambda_min and trace of the Hessian of the soft cross-entropy."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hardlabels.diagnostics.items import choose_items, chunks, item_slices
from hardlabels.diagnostics.operator import CHECK_PRODUCTS, HessianProducts
from hardlabels.diagnostics.spectrum import Spectrum, lanczos, power_iteration
from hardlabels.diagnostics.trace import Trace, estimate_trace, random_signs
from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.runs.finished import FinishedRun
from hardlabels.votes import SLICES

PROTOCOLS = ("default", "paper")
SIGN_CONVENTION = (
    "Hessian of the mean soft cross-entropy (minimised) over all trainable parameters: positive eigenvalues curve upwards; "
    "lambda_max and lambda_min are the algebraically largest and smallest"
)
QUANTITIES = (
    "loss", "lambda_max", "lambda_residual", "lambda_min", "lambda_min_residual", "lambda_products", "lambda_stopped_by",
    "trace", "trace_standard_error", "trace_products", "trace_stopped_by", "check_products",
)  # fmt: skip


def curvature(
    product: HessianProducts, *, protocol: str, tolerance: float, trace_tolerance: float, max_products: int, seed: int
) -> tuple[Spectrum, Trace]:
    """Both ends of the spectrum and the trace: Lanczos and Hutch++, or (``paper``) power iteration and Hutchinson.

    The start and the probes are functions of the seed alone: networks of one size are measured with the same vectors.

    Args:
        product: the products with H.
        protocol: ``default`` or ``paper``.
        tolerance: eigenvalues: residual over magnitude.
        trace_tolerance: trace: standard error over magnitude.
        max_products: at most so many for the eigenvalues, and as many for the trace.
        seed: of the start and the probes.
    """
    like = product.zeros()
    start = torch.from_numpy(stream(seed, "hessian start").standard_normal(len(like), dtype=np.float32)).to(like)

    def probe(i: int) -> Tensor:
        return random_signs(stream(seed, "hessian probe", i), like)

    find_ends = lanczos if protocol == "default" else power_iteration
    spectrum = find_ends(product, start, tolerance=tolerance, max_products=max_products)  # type: ignore[operator]
    trace = estimate_trace(
        product, probe, tolerance=trace_tolerance, max_products=max_products, basis=spectrum.basis, diagonal=spectrum.diagonal
    )
    return spectrum, trace


class _Chunks:
    """Items of a run with their p, normalised a chunk at a time, as often as asked."""

    def __init__(self, run: FinishedRun, items: np.ndarray, size: int, device: str):
        self.run, self.parts, self.device = run, chunks(items, size), device

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for part in self.parts:
            p = torch.from_numpy(self.run.source.votes.p[part]).float().to(self.device)
            yield self.run.inputs(part, self.device), p


def hessian(
    run: FinishedRun,
    *,
    checkpoint: str,
    protocol: str,
    tolerance: float,
    trace_tolerance: float,
    max_products: int,
    chunk: int,
    seed: int,
    slices: Sequence[str],
    items: int | None,
    device: str,
) -> Iterator[tuple[str, Any]]:
    """Curvature of the soft cross-entropy on the evaluation items, in eval mode, batch normalisation frozen.

    Args:
        run: a finished run.
        checkpoint: ``best`` or ``last``.
        protocol: ``default`` (Lanczos, Hutch++) or ``paper`` (power iteration, Hutchinson).
        tolerance: eigenvalues: residual over magnitude.
        trace_tolerance: trace: standard error over magnitude.
        max_products: at most so many for the eigenvalues, and as many for the trace. Lanczos keeps a vector for each.
        chunk: images at a time: bounds the memory, changes no value.
        seed: of the random vectors; the same for every run, so that runs are compared with the same vectors.
        slices: names of ``SLICES``.
        items: at most so many items of a slice, chosen at random; null takes all.
        device: where the products are computed.

    Yields:
        ``parameters``, ``weight_norm`` (of the same parameters: curvature depends on their scale), ``sign_convention``,
        ``estimators``; per slice ``items`` (used), ``items_of`` (in the slice), ``QUANTITIES``: None, with a ``reason``,
        where the slice is empty. ``trace_products`` does not count the Lanczos products that it reuses.
    """
    _check(protocol, tolerance, trace_tolerance, max_products, slices)
    network = run.network(checkpoint, device)
    weights = [parameter.detach() for parameter in network.parameters() if parameter.requires_grad]
    yield "parameters", sum(weight.numel() for weight in weights)
    yield "weight_norm", float(torch.stack([weight.norm() for weight in weights]).norm())
    yield "sign_convention", SIGN_CONVENTION
    yield "estimators", "Lanczos, Hutch++ on its basis" if protocol == "default" else "power iteration, Hutchinson"
    inside = item_slices(run, run.split.evaluate)
    for name in slices:
        whole = run.split.evaluate[inside[name]]
        chosen = choose_items(whole, items, "hessian items") if items is not None else whole
        yield f"{name}/items", len(chosen)
        yield f"{name}/items_of", len(whole)
        if not len(chosen):
            yield f"{name}/reason", "no evaluation item is in this slice"
            yield from ((f"{name}/{quantity}", None) for quantity in QUANTITIES)
            continue
        product = HessianProducts(network, _Chunks(run, chosen, chunk, device), items=len(chosen))  # type: ignore[arg-type]
        limits = {"tolerance": tolerance, "trace_tolerance": trace_tolerance, "max_products": max_products}
        spectrum, trace = curvature(product, protocol=protocol, seed=seed, **limits)  # type: ignore[arg-type]
        values = (
            product.loss(), spectrum.largest.value, spectrum.largest.residual,
            spectrum.smallest.value if spectrum.smallest else None, spectrum.smallest.residual if spectrum.smallest else None,
            spectrum.products, spectrum.stopped_by,
            trace.value, trace.standard_error, trace.products, trace.stopped_by, CHECK_PRODUCTS,
        )  # fmt: skip
        yield from zip((f"{name}/{quantity}" for quantity in QUANTITIES), values, strict=True)


def _check(protocol: str, tolerance: float, trace_tolerance: float, max_products: int, slices: Sequence[str]) -> None:
    if protocol not in PROTOCOLS:
        raise InputError(f"hessian: protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}")
    for name, value in (("tolerance", tolerance), ("trace_tolerance", trace_tolerance)):
        if not 0 < value < 1:
            raise InputError(f"hessian: {name} must be between 0 and 1, got {value!r}")
    if max_products < 1:
        raise InputError(f"hessian: max_products must be at least 1, got {max_products!r}")
    if unknown := [name for name in slices if name not in SLICES]:
        raise InputError(f"hessian: slices must be among {', '.join(SLICES)}, got {unknown[0]!r}")
