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
        with pytest.raises(InputError, match=r"soft targets were given to .*plain numbers.* targets\.numpy"):
            lose()


def test_they_are_no_classes_for_losses_and_mixup_that_take_these():
    """As in timm's: label smoothing gathers by classes, mixup makes them one-hot. Shares as whole numbers would all be 0."""
    log_q = torch.zeros(2, 3).log_softmax(1)
    for lose in (lambda: SOFT.long(), lambda: SOFT.int(), lambda: log_q.gather(1, SOFT), lambda: torch.gather(log_q, 1, SOFT)):
        with pytest.raises(InputError, match="takes classes: a loss or mixup for hard labels only"):
            lose()
    assert SOFT.gather(1, SOFT.argmax(1, keepdim=True)).shape == (2, 1)  # the share of the class that most people chose


# ---- loops as other people write them: (input, label), a loss, an accuracy ----


def loop(data, step, batch_size):
    """What a script does with its batches; the network says nothing about the inputs."""
    for _ in data.epochs(2):
        for x, y in DataLoader(data, batch_size=batch_size, shuffle=True):
            step(torch.zeros(len(x), 3, requires_grad=True), y)


@pytest.mark.parametrize("batch_size", [3, 4], ids=["as many items as classes", "more"])
@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda out, y: F.nll_loss(out.log_softmax(1), y), r"nll_loss, which takes classes: .* cross_entropy\(outputs"),
        (lambda out, y: torch.nn.NLLLoss()(out.log_softmax(1), y), "nll_loss, which takes classes"),
        (lambda out, y: out.max(1)[1].eq(y).sum(), r"compared with classes \(eq\): .*targets\.argmax\(1\)"),
        (lambda out, y: (out.argmax(1) == y).float().mean(), "compared with classes"),
        (lambda out, y: (y != out.argmax(1)).sum(), "compared with classes"),
        (lambda out, y: torch.eq(out.argmax(1), y), "compared with classes"),
        (lambda out, y: out.argmax(1, keepdim=True).eq(y.view_as(out.argmax(1, keepdim=True))), "compared with classes"),
        (lambda out, y: out.topk(2)[1].t().eq(y.view(1, -1).expand_as(out.topk(2)[1].t())), "compared with classes"),
        (lambda out, y: F.binary_cross_entropy_with_logits(out, y), r"binary_cross_entropy_with_logits, which is then not H"),
        (lambda out, y: F.mse_loss(out.softmax(1), y), r"mse_loss, which is then not H"),
    ],
    ids=["nll_loss", "NLLLoss", "eq", "==", "!=", "torch.eq", "view_as", "expand_as", "bce", "mse"],
)  # fmt: skip
def test_pairs_refuse_what_takes_them_for_classes(step, message, batch_size):
    """Where B is C, pred.eq(targets) compares item j's class with column j of all items: an accuracy of nothing."""
    data = Delivered(torch.zeros(12, 2), deliver(Votes.from_counts([[3, 1, 1]] * 12), "soft", seed=0))
    with pytest.raises(InputError, match=message):
        loop(data, step, batch_size)


def test_pairs_of_soft_targets_train_with_the_cross_entropy_and_can_be_compared_as_classes():
    data = Delivered(torch.zeros(12, 2), deliver(Votes.from_counts([[3, 1, 1]] * 12), "soft", seed=0))
    losses, correct = [], []

    def step(out, y):
        losses.append(torch.nn.CrossEntropyLoss()(out, y))
        losses[-1].backward()
        correct.append((out.argmax(1) == y.argmax(1)).all())

    loop(data, step, 4)
    torch.testing.assert_close(torch.stack(losses), torch.full((6,), 3.0).log())
    assert all(correct)
    assert (SOFT == P).all()
    assert SOFT.ne(-100).all()


def test_a_compiled_step_takes_them():
    step = torch.compile(lambda out, y: F.cross_entropy(out, y), backend="eager")
    torch.testing.assert_close(step(torch.zeros(2, 3), SOFT), torch.tensor(3.0).log())
