"""Repeated: every vote is an example; under the DataModule too, with K, several processes and workers."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from hardlabels.delivery.repeated import Repeated, repeated
from hardlabels.delivery.soft import Soft
from hardlabels.learning.batches import Batches
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.runs.finished import FinishedRun
from hardlabels.votes import Votes

ROWS = np.array([[6, 3, 1], [0, 1, 0], [0, 2, 2], [1, 1, 1]])
VOTES = Votes.from_counts(ROWS)


def test_an_epoch_shows_every_vote_once_with_its_item():
    delivery = Repeated(VOTES, 0)
    for epoch in (0, 1, 9):
        table = np.zeros_like(ROWS)
        np.add.at(table, (delivery.items, delivery(epoch)), 1)
        np.testing.assert_array_equal(table, ROWS)
    np.testing.assert_array_equal(repeated(VOTES)[1], delivery(0))


def test_the_mean_gradient_is_soft_with_items_weighted_by_their_votes():
    logits = torch.from_numpy(np.random.default_rng(0).normal(size=ROWS.shape)).requires_grad_()
    items, labels = map(torch.from_numpy, repeated(VOTES))
    [ours] = torch.autograd.grad(cross_entropy(logits[items], labels), logits)
    per_item = cross_entropy(logits, torch.from_numpy(Soft(VOTES, 0)(0)).double(), reduction="none")
    weight = torch.from_numpy(VOTES.sizes / VOTES.sizes.sum())
    [weighted] = torch.autograd.grad((weight * per_item).sum(), logits)
    np.testing.assert_allclose(ours.numpy(), weighted.numpy(), atol=1e-7)


def batches(data, epoch=0):
    data.setup("fit")
    data.start_epoch(epoch)
    loader = list(data.train_dataloader())
    return loader, [data.on_after_batch_transfer(batch, 0) for batch in loader]


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("workers", [0, 1])
def test_the_datamodule_shows_each_vote_once_and_has_more_batches(tiny_source, k, workers):
    data = DeliveryDataModule(tiny_source, Repeated, seed=0, K=k, batch_size=50, workers=workers)
    plain = DeliveryDataModule(tiny_source, Soft, seed=0, K=k, batch_size=50, workers=workers)
    loader, shown = batches(data)
    votes = data.delivery.votes
    m = 9 if k is None else k
    assert len(loader) == -(-96 * m // 50)
    assert len(batches(plain)[0]) == 2
    table = np.zeros_like(votes.counts)
    for batch, (_, target, total) in zip(loader, shown, strict=True):
        np.add.at(table, (data.delivery.items[batch.position.numpy()], target.numpy()), 1)
        assert total == len(target)
    np.testing.assert_array_equal(table, votes.counts)


@pytest.mark.parametrize("workers", [0, 1])
def test_inputs_are_those_of_the_votes_item(tiny_source, workers):
    """Without crops an example is its item's input, normalised; as the same item looks when it is evaluated."""
    still = tiny_source.__class__(**{**tiny_source.__dict__, "crop_padding": 0, "flip": False})
    data = DeliveryDataModule(still, Repeated, seed=0, batch_size=64, workers=workers)
    loader, shown = batches(data)
    mean, std = (np.array(values, dtype=np.float32).reshape(-1, 1, 1) for values in (still.mean, still.std))
    for batch, (inputs, *_) in zip(loader, shown, strict=True):
        items = data.split.train[data.delivery.items[batch.position.numpy()]]
        expected = (still.inputs[items].transpose(0, 3, 1, 2).astype(np.float32) / 255 - mean) / std
        np.testing.assert_allclose(inputs.numpy(), expected, atol=1e-5)


def test_processes_share_the_votes_of_a_batch():
    items = Repeated(VOTES, 0).items
    shares = [list(Batches("train", len(items), 4, epoch=lambda: 2, seed=0, rank=rank, world=2)) for rank in (0, 1)]
    seen = [position for share in shares for batch in share for position in batch.position.tolist()]
    assert sorted(seen) == list(range(VOTES.sizes.sum()))


def test_a_run_trains_to_its_end_and_is_a_cell_of_its_own(make_config, run_cell):
    folder = run_cell(make_config("method=repeated", "K=2", "seed=0"))
    assert folder.parts[-3:] == ("repeated", "K=2", "seed=0")
    run = FinishedRun.open(folder)
    assert len(run.predictions["logits"]) == 24
    assert len(run.history) == 2
