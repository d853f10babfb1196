import pickle

import numpy as np
import pytest
import torch

from hardlabels.learning.batches import Batches, Fetched, ReadAhead


def positions(batches: Batches) -> list[list[int]]:
    return [batch.position.tolist() for batch in batches]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_item_once_an_epoch_under_any_number_of_processes(n, world):
    shares = [Batches("train", n, 32, epoch=lambda: 5, seed=7, rank=rank, world=world) for rank in range(world)]
    assert all(len(share) == -(-n // 32) == len(list(share)) for share in shares)
    seen = sorted(position for share in shares for batch in positions(share) for position in batch)
    assert seen == list(range(n))


def test_processes_share_the_batches_of_a_single_one():
    alone = positions(Batches("train", 100, 32, epoch=lambda: 2, seed=7))
    shared = zip(*(positions(Batches("train", 100, 32, epoch=lambda: 2, seed=7, rank=r, world=2)) for r in (0, 1)), strict=True)
    assert [first + second for first, second in shared] == alone


def test_order_follows_seed_and_epoch():
    def order(seed, epoch):
        return positions(Batches("train", 50, 8, epoch=lambda: epoch, seed=seed))

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1) != order(1, 1)
    assert positions(Batches("evaluate", 5, 2, epoch=lambda: 3, seed=None)) == [[0, 1], [2, 3], [4]]


def test_the_epoch_is_asked_when_iteration_starts():
    now = {"epoch": 0}
    batches = Batches("train", 4, 2, epoch=lambda: now["epoch"], seed=0)
    assert [batch.epoch for batch in batches] == [0, 0]
    now["epoch"] = 9
    assert [(batch.epoch, batch.step) for batch in batches] == [(9, 0), (9, 1)]


def test_fetched_inputs_are_those_of_the_items():
    inputs, items = np.arange(20, dtype=np.uint8).reshape(10, 2), np.array([9, 3, 5])
    [batch] = list(Batches("train", 3, 3, epoch=lambda: 0, seed=None))
    assert torch.equal(Fetched(inputs, items)[batch].inputs, torch.tensor([[18, 19], [6, 7], [10, 11]], dtype=torch.uint8))


@pytest.fixture
def mapped(tmp_path):
    """Inputs on disk."""
    np.save(tmp_path / "inputs.npy", np.arange(2000, dtype=np.uint8).reshape(100, 20))
    return np.load(tmp_path / "inputs.npy", mmap_mode="r")


def test_inputs_on_disk_are_opened_by_a_worker_not_sent_to_it(mapped):
    fetched, batches = Fetched(mapped, np.arange(100)[::-1]), list(Batches("train", 100, 32, epoch=lambda: 0, seed=1))
    sent = pickle.dumps(fetched)
    assert len(sent) < 2000
    there = pickle.loads(sent)
    assert isinstance(there.inputs, np.memmap)
    assert all(torch.equal(there[batch].inputs, fetched[batch].inputs) for batch in batches)


def test_reading_ahead_gives_the_same_batches_in_the_same_order(mapped):
    now = {"epoch": 0}
    batches = Batches("train", 100, 32, epoch=lambda: now["epoch"], seed=1)
    fetched = Fetched(mapped, np.arange(100))
    ahead = ReadAhead(fetched, batches)
    for epoch in (0, 3):
        now["epoch"] = epoch
        pairs = list(zip(ahead, [fetched[batch] for batch in batches], strict=True))
        assert len(pairs) == len(ahead) == 4
        for ours, plain in pairs:
            assert ours.epoch == epoch
            assert torch.equal(ours.position, plain.position)
            assert torch.equal(ours.inputs, plain.inputs)


def test_what_goes_wrong_while_reading_ahead_is_raised_where_the_batch_is_asked_for(mapped):
    ahead = ReadAhead(Fetched(mapped[:50], np.arange(100)), Batches("evaluate", 100, 32, epoch=lambda: 0, seed=None))
    batches = iter(ahead)
    next(batches)
    with pytest.raises(IndexError):
        list(batches)
