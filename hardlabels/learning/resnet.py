"""ResNet-18 for small images: torchvision's, with a 3x3 stem, no max-pool and a width of choice."""

import torch
from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock, ResNet

CHANNELS_LAST_FROM = 16
"""The least width for channels-last memory, the faster one. Below it oneDNN writes out of bounds in the backward pass of a
strided 1x1 convolution with fewer input channels than its block, 8 or 16 by the CPU: crashes, hangs, wrong gradients (oneDNN
issue 6035)."""


class ResNet18(ResNet):
    """torchvision's ResNet-18, adapted to 32x32 images (11,173,962 parameters at width 64 and 10 classes).

    Args:
        num_classes: C.
        width: channels of the first stage; the four stages have 1, 2, 4 and 8 times as many.
        stride: of the stem. 1 is CIFAR's; 2 halves the side of every feature map: a quarter of the work, the same parameters.

    >>> sum(p.numel() for p in ResNet18(10).parameters())
    11173962
    """

    takes = "images"

    def __init__(self, num_classes: int, width: int = 64, stride: int = 1):
        # Every layer with weights is made anew below: torchvision's own, 11 million random numbers, would only take time.
        with torch.device("meta"):
            super().__init__(BasicBlock, [2, 2, 2, 2], num_classes=num_classes)
        self.inplanes = width
        self.conv1 = nn.Conv2d(3, width, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.Identity()
        self.layer1 = self._make_layer(BasicBlock, width, 2)
        self.layer2 = self._make_layer(BasicBlock, 2 * width, 2, stride=2)
        self.layer3 = self._make_layer(BasicBlock, 4 * width, 2, stride=2)
        self.layer4 = self._make_layer(BasicBlock, 8 * width, 2, stride=2)
        self.fc = nn.Linear(8 * width, num_classes)
        for module in self.modules():  # as torchvision initialises its own layers
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.memory_format = torch.channels_last if width >= CHANNELS_LAST_FROM else torch.contiguous_format
        self.to(memory_format=self.memory_format)

    def features(self, x: Tensor) -> Tensor:
        """(B, 3, H, W) to the penultimate features (B, 8 * width)."""
        x = x.contiguous(memory_format=self.memory_format)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return torch.flatten(self.avgpool(x), 1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 3, H, W) to logits (B, C)."""
        return self.fc(self.features(x))
