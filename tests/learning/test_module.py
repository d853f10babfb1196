import math

import torch
from torch.nn import functional as F

from hardlabels.learning.module import cosine


def test_cosine_against_torchs_scheduler():
    parameter = torch.nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    for epoch in range(20):
        assert math.isclose(optimizer.param_groups[0]["lr"], 0.1 * cosine(epoch, 20), rel_tol=1e-9)
        optimizer.step()
        scheduler.step()


def test_the_expected_gradient_of_sampled_labels_is_that_of_soft_labels():
    """Proposition 1 through the loss that is really used: E[grad_z] = q - p, exactly, by weighting each label with p."""
    torch.manual_seed(0)
    logits, p = torch.randn(6, 4, dtype=torch.float64, requires_grad=True), torch.rand(6, 4, dtype=torch.float64)
    p = p / p.sum(1, keepdim=True)
    q = logits.softmax(1)

    [soft] = torch.autograd.grad(F.cross_entropy(logits, p, reduction="sum"), logits)
    hard = torch.zeros_like(soft)
    for label in range(4):
        loss = F.cross_entropy(logits, torch.full((6,), label), reduction="none")
        hard += torch.autograd.grad((loss * p[:, label]).sum(), logits)[0]

    torch.testing.assert_close(soft, q - p)
    torch.testing.assert_close(hard, q - p)
