"""Outlier scores of a trained classifier, one function per detector. A higher score means more of an outlier, everywhere.

The paper names its six detectors and gives no settings. Energy, MSP and ODIN's perturbation are pytorch-ood's. Ours are: the
logit margin, which it has not; the entropy, because it clips probabilities at 1e-7 and so reorders confident images; KNN, because
its own needs scikit-learn and takes every core. Scores are computed in float64: in float32 a confident softmax is 1 exactly, and
the ties would cost AUROC.
"""

from collections.abc import Callable

import torch
from pytorch_ood.detector import EnergyBased, MaxSoftmax, odin_preprocessing  # type: ignore[import-untyped]
from torch import Tensor, nn
from torch.nn import functional as F

from hardlabels.errors import InputError
from hardlabels.votes.distances import entropy

ODIN_FORMULAS = ("liang2018", "raw_logit")
MAX_DISTANCES = 1 << 22  # computed at once by KNN: 32 MB, and a few times that while they are sorted out


def energy(logits: Tensor) -> Tensor:
    r"""Negative log-sum-exp of the logits (Liu et al. 2020, temperature 1): :math:`-\ln \sum_c e^{z_c}`.

    >>> energy(torch.tensor([[0.0, 0.0]]).double()).tolist()  # -ln 2
    [-0.6931471805599453]
    """
    return EnergyBased.score(logits, t=1.0)


def msp(logits: Tensor) -> Tensor:
    r"""Negative maximum softmax probability (Hendrycks and Gimpel 2017): :math:`-\max_c q_c`.

    >>> msp(torch.tensor([[0.0, 0.0]]).double()).tolist()
    [-0.5]
    """
    return MaxSoftmax.score(logits)


def predictive_entropy(logits: Tensor) -> Tensor:
    r"""Entropy of the softmax in nats: :math:`-\sum_c q_c \ln q_c`.

    >>> predictive_entropy(torch.tensor([[0.0, 0.0]]).double()).tolist()  # ln 2
    [0.6931471805599453]
    """
    return torch.from_numpy(entropy(logits.softmax(1).numpy()))


def logit_margin(logits: Tensor) -> Tensor:
    r"""Negative distance of the two largest logits: :math:`z_{(2)} - z_{(1)}`.

    >>> logit_margin(torch.tensor([[5.0, 1.0, 2.0]]).double()).tolist()
    [-3.0]
    """
    top = logits.topk(2, dim=1).values
    return top[:, 1] - top[:, 0]


LOGIT_DETECTORS: dict[str, Callable[[Tensor], Tensor]] = {
    "energy": energy,
    "msp": msp,
    "entropy": predictive_entropy,
    "logit_margin": logit_margin,
}
"""Detectors that need nothing but (n, C) float64 logits on the CPU: one forward pass feeds them all."""

DETECTORS = ("energy", "msp", "odin", "entropy", "logit_margin", "knn")
"""All of them, in the order of the paper's table 7."""


def odin(
    network: nn.Module,
    inputs: Tensor,
    *,
    std: tuple[float, ...],
    temperature: float = 1000.0,
    epsilon: float = 0.0014,
    formula: str = "liang2018",
) -> Tensor:
    r"""ODIN (Liang et al. 2018): a small step towards the predicted class, then the maximum softmax at a high temperature.

    With :math:`S(x; T) = \mathrm{softmax}(z(x) / T)` and :math:`\hat y` the predicted class, the formula ``liang2018`` is

    .. math:: \hat x = x + \tfrac{\epsilon}{\sigma} \mathrm{sign}(\nabla_x \ln S_{\hat y}(x; T)), \qquad -\max_c S_c(\hat x; T).

    The formula ``raw_logit``, pytorch-ood's before its version 0.4, climbs the logit itself and scores without temperature:

    .. math:: \hat x = x + \tfrac{\epsilon}{\sigma} \mathrm{sign}(\nabla_x z_{\hat y}(x)), \qquad -\max_c S_c(\hat x; 1).

    Args:
        network: in eval mode; makes (n, C) logits.
        inputs: (n, channels, H, W) normalised.
        std: one a channel: that of the normalisation, so that ``epsilon`` is in units of the full pixel range 0 .. 1.
        temperature: T.
        epsilon: length of the step.
        formula: one of ``ODIN_FORMULAS``.

    Returns:
        (n,) float64 on the CPU.

    >>> network = nn.Linear(2, 2, bias=False).double()
    >>> _ = network.weight.data.copy_(torch.eye(2))
    >>> x = torch.tensor([[1.0, 0.0]]).double()
    >>> odin(network, x, std=(1.0, 1.0), temperature=1.0, epsilon=0.5)  # x becomes (1.5, -0.5): -1 / (1 + exp(-2))
    tensor([-0.8808], dtype=torch.float64)
    """
    if formula not in ODIN_FORMULAS:
        raise InputError(f"odin_formula must be one of {', '.join(ODIN_FORMULAS)}, got {formula!r}")
    if not temperature > 0 or not epsilon >= 0:
        raise InputError(f"odin needs a temperature above 0 and an epsilon of at least 0, got {temperature} and {epsilon}")
    as_published = formula == "liang2018"
    moved = odin_preprocessing(
        network,
        inputs,
        criterion=F.cross_entropy if as_published else F.nll_loss,  # nll_loss of raw logits is minus the logit
        eps=epsilon,
        temperature=temperature,
        norm_std=list(std),
    )
    with torch.no_grad():
        logits = network(moved).cpu().double()
    return MaxSoftmax.score(logits, t=temperature if as_published else 1.0)


def knn(features: Tensor, train: Tensor, *, k: int = 50) -> Tensor:
    r"""Distance to the k-th nearest training image (Sun et al. 2022): :math:`\|u - u_{(k)}\|`, :math:`u = \phi / \|\phi\|`.

    The search is exact, a chunk of rows at a time: at most ``MAX_DISTANCES`` distances are in memory. Sun et al. take k = 50 for
    CIFAR-10's 50,000 training images, of unit length as here.

    Args:
        features: (n, d) penultimate features.
        train: (m, d) those of the training images.
        k: which neighbour, 1 .. m.

    Returns:
        (n,) float64, in [0, 2].

    >>> train = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> [round(knn(torch.tensor([[3.0, 0.0]]), train, k=k).item(), 4) for k in (1, 2)]
    [0.0, 1.4142]
    """
    if not 1 <= k <= len(train):
        raise InputError(f"ood.knn_k must be 1 .. {len(train)}, the number of training images, got {k}")
    features, train = F.normalize(features.double()), F.normalize(train.double())
    rows = max(1, MAX_DISTANCES // len(train))
    # topk, not kthvalue: five times faster.
    return torch.cat([torch.cdist(chunk, train).topk(k, largest=False).values[:, -1] for chunk in features.split(rows)])
