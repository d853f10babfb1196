"""The Hessian of the soft cross-entropy as something to multiply with: chunk by chunk, counted, checked."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from hardlabels.randomness import stream

CHECK_PRODUCTS = 2
"""Products that the check for determinism makes before anything else."""
ROUNDING = 1e-3
"""Two passes over the same items may differ by this share of the product: by rounding alone, where sums change their order."""


class HessianProducts:
    r"""Products with :math:`\nabla^2 \frac1n \sum_i H(p_i, q_\theta(x_i))`, over all trainable parameters of a network.

    By differentiating twice, :math:`Hv = \nabla (\nabla L \cdot v)`: the numbers of curvlinops, which takes 1.5 times as long.
    The network is put in eval mode: batch normalisation is frozen and no item depends on another, so chunks only bound the
    memory. It is checked, once, that two passes agree.

    Args:
        network: maps inputs to logits (n, C).
        chunks: iterated once for every product: (inputs (b, ...), p (b, C)), on the network's device and in its type.
        items: n, in all chunks together.

    Attributes:
        count: products so far, a pass over all chunks each; those of the check are not among them.

    Raises:
        RuntimeError: when the network is not deterministic.

    >>> network = nn.Linear(1, 2, bias=False)
    >>> _ = nn.init.zeros_(network.weight)  # q = (1/2, 1/2), so H = Diag(q) - qq' whatever p is
    >>> H = HessianProducts(network, [(torch.ones(3, 1), torch.tensor([[1.0, 0.0]] * 3))], items=3)
    >>> H(torch.tensor([1.0, 0.0])).tolist(), H.count
    ([0.25, -0.25], 1)
    """

    def __init__(self, network: nn.Module, chunks: Iterable[tuple[Tensor, Tensor]], *, items: int):
        self.network, self.chunks, self.items = network.eval(), chunks, items
        self.parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.count = 0
        v = torch.from_numpy(stream(0, "hessian check").standard_normal(len(self.zeros()))).to(self.zeros())
        first, second = (self(v) for _ in range(CHECK_PRODUCTS))
        if float((first - second).norm()) > ROUNDING * float(first.norm()):
            raise RuntimeError("the network is not deterministic: two passes over the same items give two Hessian products")
        self.count = 0

    def __call__(self, v: Tensor) -> Tensor:
        """(D,) to (D,): Hv, in the order of ``network.parameters()``."""
        self.count += 1
        sizes = [parameter.numel() for parameter in self.parameters]
        parts = [part.view_as(parameter) for part, parameter in zip(v.split(sizes), self.parameters, strict=True)]
        product = torch.zeros_like(v)
        with _twice_differentiable():
            for x, p in self.chunks:
                loss = nn.functional.cross_entropy(self.network(x), p, reduction="sum") / self.items
                gradient = torch.autograd.grad(loss, self.parameters, create_graph=True, materialize_grads=True)
                along = [(g, part) for g, part in zip(gradient, parts, strict=True) if g.requires_grad]
                columns = torch.autograd.grad(
                    [g for g, _ in along], self.parameters, [part for _, part in along], materialize_grads=True
                )
                product += torch.cat([column.reshape(-1) for column in columns])
        return product

    def zeros(self) -> Tensor:
        """A (D,) vector of zeros, of the parameters' type and on their device."""
        return torch.zeros(sum(parameter.numel() for parameter in self.parameters)).to(self.parameters[0].detach())

    @torch.no_grad()
    def loss(self) -> float:
        """The mean soft cross-entropy, of which H is the Hessian."""
        total = sum(float(nn.functional.cross_entropy(self.network(x), p, reduction="sum")) for x, p in self.chunks)
        return total / self.items


@contextmanager
def _twice_differentiable() -> Iterator[None]:
    """Convolutions that repeat to the bit and do not round to TF32 (a matter of GPUs); attention that has a second derivative."""
    exact = torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)
    with exact, sdpa_kernel(SDPBackend.MATH):
        yield
