"""Soft targets keep their type on every way to a loss, and only losses that take them as a distribution take them."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.adapters.soft_targets import OTHER_LOSSES, SoftTargets

P = torch.tensor([[0.75, 0.25, 0.0], [0.2, 0.3, 0.5]])
SOFT = P.as_subclass(SoftTargets)


@pytest.mark.parametrize("loss", sorted(OTHER_LOSSES, key=lambda loss: loss.__name__), ids=lambda loss: loss.__name__)
def test_other_losses_refuse_them_by_name(loss):
    with pytest.raises(
        InputError, match=rf"soft targets were given to {loss.__name__}, which is then not H\(p, q\): .*trainer_parts"
    ):
        loss(torch.rand(2, 3), SOFT)


@pytest.mark.parametrize("loss", [torch.nn.BCEWithLogitsLoss(), torch.nn.BCELoss(), torch.nn.MSELoss()], ids=str)
def test_so_do_their_modules(loss):
    with pytest.raises(InputError, match="soft targets were given to"):
        loss(torch.rand(2, 3), SOFT)


@pytest.mark.parametrize(
    "way",
    [
        lambda p: torch.stack(list(p)),
        lambda p: torch.cat([p[:1], p[1:]]),
        lambda p: p.to("cpu", torch.float64).float(),
        lambda p: p.clone().detach().contiguous().cpu(),
        lambda p: p.view(-1, 3).unsqueeze(0).squeeze(0),
        lambda p: torch.cat(p.chunk(2)),
        lambda p: torch.cat(p.split(1)),
        copy.deepcopy,
        lambda p: pickle.loads(pickle.dumps(p)),
    ],
)
def test_collating_and_moving_keep_the_type_and_the_values(way):
    moved = way(SOFT)
    assert type(moved) is SoftTargets
    assert torch.equal(moved.as_subclass(torch.Tensor), P)


@pytest.mark.parametrize("workers", [{}, {"num_workers": 1}, {"num_workers": 1, "multiprocessing_context": "spawn"}], ids=str)
def test_so_do_loaders(workers):
    data = Delivered([{"x": i} for i in range(4)], deliver(Votes.from_counts([[3, 1]] * 4), "soft", seed=0))
    data.start_epoch(0)
    [batch] = DataLoader(data, batch_size=4, **workers)
    assert type(batch["labels"]) is SoftTargets
    assert batch["labels"].numpy().tolist() == [[0.75, 0.25]] * 4


def test_arithmetic_is_plain():
    logits = torch.randn(2, 3, requires_grad=True)
    for result in (F.cross_entropy(logits, SOFT), -(SOFT * logits.log_softmax(1)).sum(1).mean(), SOFT.argmax(1), SOFT.sum(1)):
        assert type(result) is torch.Tensor
    torch.testing.assert_close(F.cross_entropy(logits, SOFT), F.cross_entropy(logits, P))
    F.cross_entropy(logits, SOFT).backward()
    torch.testing.assert_close(logits.grad, (logits.softmax(1) - P) / 2)
    assert [[float(share) for share in row] for row in SOFT] == [[float(share) for share in row] for row in P]
    F.mse_loss(logits.softmax(1), SOFT.as_subclass(torch.Tensor))  # who does want the Brier score says so


def test_they_are_not_turned_into_lists_on_the_way():
    for lose in (lambda: SOFT.tolist(), lambda: torch.tensor([SOFT[0], SOFT[1]])):
        with pytest.raises(InputError, match="soft targets were given to"):
            lose()
