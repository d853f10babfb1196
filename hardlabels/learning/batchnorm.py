"""Batch normalisation over the batch of all processes: several devices train the network that one device would."""

from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.modules.batchnorm import _BatchNorm


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


class GlobalBatchNorm(_BatchNorm):
    """Batch normalisation whose mean and variance are those of the whole batch, however it is shared out (a share may be empty).

    torch's own ``SyncBatchNorm`` does the same, on GPUs only. It stands for the layers of one, two and three dimensions alike.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, ...) normalised over B and all further dimensions, of all processes."""
        if not self.training:
            return super().forward(x)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # a sum of bfloat16 has three digits
        around = [axis for axis in range(x.ndim) if axis != 1]
        by_channel = (1, -1, *[1] * (x.ndim - 2))
        share = wide.new_tensor([x.numel() / x.shape[1]])
        total = _SumOverProcesses.apply(torch.cat([wide.sum(around), share]))
        count, mean = total[-1].detach(), total[:-1] / total[-1].detach()
        centred = wide - mean.view(by_channel)
        variance = _SumOverProcesses.apply(centred.square().sum(around)) / count  # after the mean: no cancellation
        self._track(mean.detach(), (variance * count / (count - 1)).detach())
        scaled = centred * (variance + self.eps).rsqrt().view(by_channel)
        if self.affine:
            scaled = scaled * self.weight.view(by_channel) + self.bias.view(by_channel)
        return scaled.to(x.dtype)

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked += 1
        newest = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum  # None: the average of all
        self.running_mean.lerp_(mean.to(self.running_mean), newest)
        self.running_var.lerp_(variance.to(self.running_var), newest)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected inputs of shape (B, C, ...), got {tuple(input.shape)}")


def synchronised(network: nn.Module, device: torch.device) -> nn.Module:
    """The network with its batch normalisation taken over all processes; parameters and state stay the same objects.

    Layers that do more than normalise stay as they are: torch would replace timm's ``BatchNormAct2d`` without its activation.
    Those of a pretrained encoder keep their statistics, so that there is nothing to take over processes; others are named by
    :func:`unsynchronised`.
    """
    for parent in list(network.modules()):
        for name, child in parent.named_children():
            if type(child) in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d):
                twin = nn.SyncBatchNorm.convert_sync_batchnorm(child) if device.type == "cuda" else _twin(child)
                setattr(parent, name, twin.train(child.training))
    return network


def unsynchronised(network: nn.Module) -> list[str]:
    """The names of layers whose statistics, in training, are those of the items of one process: each has another network then.

    >>> unsynchronised(nn.Sequential(nn.BatchNorm1d(3), nn.BatchNorm2d(3).eval(), GlobalBatchNorm(3)))
    ['0']
    """
    global_ones = (GlobalBatchNorm, nn.SyncBatchNorm)
    layers = [(name, layer) for name, layer in network.named_modules() if isinstance(layer, _BatchNorm) and layer.training]
    return [name for name, layer in layers if not isinstance(layer, global_ones)]


def _twin(layer: nn.Module) -> GlobalBatchNorm:
    """The layer with the statistics of all processes, where there is no GPU for torch's own, which is faster."""
    assert isinstance(layer, _BatchNorm)
    twin = GlobalBatchNorm(layer.num_features, layer.eps, layer.momentum, layer.affine, layer.track_running_stats)
    twin._parameters, twin._buffers = layer._parameters, layer._buffers
    return twin
