"""The Hessian of the soft cross-entropy as something to multiply with: chunk by chunk, counted, checked."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*torch.jit.script.*")  # einconv, which curvlinops imports
    from curvlinops import HessianLinearOperator  # type: ignore[import-untyped]

CHECK_PRODUCTS = 2
"""What curvlinops' check for determinism makes before anything else, beside two gradients."""


class HessianProducts:
    r"""Products with :math:`\nabla^2 \frac1n \sum_i H(p_i, q_\theta(x_i))`, over all trainable parameters of a network.

    The network is put in eval mode: batch normalisation is frozen and no item depends on another, so chunks only bound the
    memory. curvlinops checks, once, that two passes agree (loss, gradient, product).

    Args:
        network: maps inputs to logits (n, C).
        chunks: iterated once for every product: (inputs (b, ...), p (b, C)), on the network's device and in its type.
        items: n, in all chunks together.

    Attributes:
        count: products so far, a pass over all chunks each; those of the check are not among them.

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
        device = self.parameters[0].device
        # The check draws a vector from torch's global generator, which is not ours to move.
        with _reproducible(), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            self._operator = HessianLinearOperator(
                self.network, nn.CrossEntropyLoss(), self.parameters, self.chunks, check_deterministic=True, num_data=items
            )

    def __call__(self, v: Tensor) -> Tensor:
        """(D,) to (D,): Hv, in the order of ``network.parameters()``."""
        self.count += 1
        with _reproducible():
            return self._operator @ v

    def zeros(self) -> Tensor:
        """A (D,) vector of zeros, of the parameters' type and on their device."""
        return torch.zeros(sum(parameter.numel() for parameter in self.parameters)).to(self.parameters[0].detach())

    @torch.no_grad()
    def loss(self) -> float:
        """The mean soft cross-entropy, of which H is the Hessian."""
        total = sum(float(nn.functional.cross_entropy(self.network(x), p, reduction="sum")) for x, p in self.chunks)
        return total / self.items


@contextmanager
def _reproducible() -> Iterator[None]:
    """Convolutions that give the same bits twice and do not round to TF32 (no effect on a CPU); without torch's own warnings."""
    exact = torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)
    with exact, warnings.catch_warnings():
        for message in (".*torch.jit.script.*", ".*not yet implemented the batching rule.*"):
            warnings.filterwarnings("ignore", message=message)
        yield
