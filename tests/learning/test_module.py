"""One LightningModule for all methods: its learning rate and its loss."""

import math

import pytest
import torch
from lightning import Trainer
from torch import nn

from hardlabels.learning.datamodule import Training
from hardlabels.learning.module import Classifier, cosine


def test_cosine_against_torchs_scheduler():
    parameter = torch.nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    for epoch in range(20):
        assert math.isclose(optimizer.param_groups[0]["lr"], 0.1 * cosine(epoch, 20), rel_tol=1e-9)
        optimizer.step()
        scheduler.step()


class _Logits(nn.Module):
    """A network whose logits are its parameters: their gradient is that of the loss by the logits."""

    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(logits)

    def forward(self, inputs):
        return self.logits


@pytest.fixture
def gradient(tmp_path):
    """The gradient of the loss that ``training_step`` returns, by the logits (B, C), and that loss."""

    def of(logits, target):
        module = Classifier(_Logits(logits))
        module.trainer = Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, default_root_dir=tmp_path)
        loss = module.training_step(Training(torch.zeros(len(logits), 1), target, total=len(logits)), 0)
        loss.backward()
        return module.network.logits.grad, float(loss.detach())

    return of


def test_the_expected_gradient_of_sampled_labels_is_that_of_soft_labels(gradient):
    """Proposition 1 for the loss of a training step: E[grad_z] = (q - p) / B, exactly, by weighting each label with p."""
    torch.manual_seed(0)
    logits, p = torch.randn(6, 4), torch.rand(6, 4)
    p = p / p.sum(1, keepdim=True)
    q = logits.softmax(1)

    soft, loss = gradient(logits, p)
    hard = sum(gradient(logits, torch.full((6,), label))[0] * p[:, [label]] for label in range(4))

    torch.testing.assert_close(soft, (q - p) / 6, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(hard, (q - p) / 6, rtol=1e-5, atol=1e-7)
    assert math.isclose(loss, -float((p * q.log()).sum()) / 6, rel_tol=1e-5)
