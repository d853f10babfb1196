"""Logits of any items, outside the trainer: for saved predictions and for probes."""

import numpy as np
import torch
from torch import nn

from hardlabels.learning.augment import normalise
from hardlabels.sources.source import Source


@torch.no_grad()
def predict(network: nn.Module, source: Source, items: np.ndarray, *, batch_size: int = 500) -> np.ndarray:
    """(n, C) float32 logits of these items, in eval mode, unaugmented, on the network's own device."""
    device = next(network.parameters()).device
    mean, std = torch.tensor(source.mean, device=device), torch.tensor(source.std, device=device)
    was_training = network.training
    network.eval()
    logits = [
        network(normalise(torch.from_numpy(source.shown[items[start : start + batch_size]]).to(device), mean, std)).float().cpu()
        for start in range(0, len(items), batch_size)
    ]
    network.train(was_training)
    return torch.cat(logits).numpy()
