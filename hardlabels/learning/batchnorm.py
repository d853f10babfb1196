"""Batch normalisation over the batch of all processes: several devices train the network that one device would."""

from typing import Any

import torch
from torch import Tensor, distributed, nn


class _SumOverProcesses(torch.autograd.Function):
    """The sum over processes; its gradient is summed too, since every process's loss depends on it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].contiguous().clone()
        distributed.all_reduce(total)
        return total


class GlobalBatchNorm2d(nn.BatchNorm2d):
    """``BatchNorm2d`` whose mean and variance are those of the whole batch, however it is shared out (a share may be empty).

    torch's own ``SyncBatchNorm`` does the same, on GPUs only.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) normalised over all processes' B, H and W."""
        if not self.training:
            return super().forward(x)
        share = x.new_tensor([x.numel() / x.shape[1]])
        total = _SumOverProcesses.apply(torch.cat([x.sum((0, 2, 3)), share]))
        count, mean = total[-1].detach(), total[:-1] / total[-1].detach()
        centred = x - mean[:, None, None]
        variance = _SumOverProcesses.apply(centred.square().sum((0, 2, 3))) / count  # after the mean: no cancellation
        with torch.no_grad():
            assert self.running_mean is not None
            assert self.running_var is not None
            assert self.num_batches_tracked is not None
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum or 0.0)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum or 0.0)
        scaled = centred * (variance + self.eps).rsqrt()[:, None, None]
        return scaled * self.weight[:, None, None] + self.bias[:, None, None]


def synchronised(network: nn.Module, device: torch.device) -> nn.Module:
    """The network with its batch normalisation taken over all processes; parameters and state stay the same objects.

    On GPUs these are torch's layers of one, two and three dimensions; elsewhere those of images, which have a twin here.

    Layers that do more than normalise stay as they are: torch would replace timm's ``BatchNormAct2d`` without its activation.
    Those of a pretrained encoder keep their statistics, so that there is nothing to take over processes.
    """
    on_gpu = device.type == "cuda"
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d) if on_gpu else (nn.BatchNorm2d,)
    for parent in list(network.modules()):
        for name, child in parent.named_children():
            if type(child) in kinds:
                twin = nn.SyncBatchNorm.convert_sync_batchnorm(child) if on_gpu else _twin(child)
                setattr(parent, name, twin.train(child.training))
    return network


def _twin(layer: nn.Module) -> GlobalBatchNorm2d:
    """The layer with the statistics of all processes, where there is no GPU for torch's own, which is faster."""
    assert isinstance(layer, nn.BatchNorm2d)
    twin = GlobalBatchNorm2d(layer.num_features, layer.eps, layer.momentum)
    twin._parameters, twin._buffers = layer._parameters, layer._buffers
    return twin
