"""A multilayer perceptron for feature vectors, with the parts that probes ask of every network: ``features`` and ``fc``."""

from itertools import pairwise

from torch import Tensor, nn

from hardlabels.errors import InputError

UNITS = 8


class MLP(nn.Module):
    r"""Hidden layers :math:`h \leftarrow ReLU(LN(Wh))` of ``8 * width`` units, then a linear layer.

    So a recipe's width gives it as many penultimate features as a ResNet-18 of that width. Layers are normalised (LayerNorm) for
    the recipes' learning rate; not by batch, so that batches and processes' shares of any size, one item too, train alike.

    Args:
        num_classes: C.
        in_features: d, the length of a feature vector.
        width: hidden layers have 8 times as many units.
        depth: hidden layers, at least 1.

    >>> sum(p.numel() for p in MLP(num_classes=3, in_features=5, width=1, depth=2).parameters())  # 5*8 + 8*8 + 2*16 + 8*3 + 3
    163
    """

    takes = "vectors"

    def __init__(self, num_classes: int, in_features: int, width: int = 64, depth: int = 2):
        super().__init__()
        for name, value in (("width", width), ("depth", depth)):
            if value < 1:
                raise InputError(f"model.{name} must be a whole number of at least 1, got {value}")
        units = UNITS * width
        sizes = [in_features] + [units] * depth
        self.hidden = nn.Sequential(
            *(nn.Sequential(nn.Linear(a, b, bias=False), nn.LayerNorm(b), nn.ReLU()) for a, b in pairwise(sizes))
        )
        self.fc = nn.Linear(units, num_classes)
        for module in self.hidden.modules():
            if isinstance(module, nn.Linear):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")

    def features(self, x: Tensor) -> Tensor:
        """(B, d) to the penultimate features (B, 8 * width)."""
        return self.hidden(x)

    def forward(self, x: Tensor) -> Tensor:
        """(B, d) to logits (B, C)."""
        return self.fc(self.features(x))
