"""The wrapper's targets are those of the epoch that runs: in workers that outlive epochs, spawned ones, after a break."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.delivery import methods

N, C = 40, 3
COUNTS = np.random.default_rng(0).multinomial(9, [0.5, 0.3, 0.2], size=N)
VOTES = Votes.from_counts(COUNTS)


class Numbers(Dataset):
    """Item i is i, so that a batch tells which items it holds."""

    def __len__(self):
        return N

    def __getitem__(self, index):
        return index


class Naive(Numbers):
    """What people write: labels as an attribute of the data set."""

    def __init__(self, labels):
        self.labels = labels
        self.start_epoch(0)

    def start_epoch(self, epoch):
        self.now = self.labels(epoch)

    def __getitem__(self, index):
        return index, int(self.now[index])


def stale_epochs(data, labels, *, epochs, stop_after=None, **settings):
    """Which epochs had a target that is not theirs; every item must come once, unless we stop after some batches."""
    loader, stale = DataLoader(data, batch_size=7, shuffle=True, **settings), []
    for epoch in range(epochs):
        data.start_epoch(epoch)
        seen, right = [], True
        for step, (index, target) in enumerate(loader):
            if step == stop_after:
                break
            seen += index.tolist()
            right &= np.array_equal(target.numpy(), labels(epoch)[index.numpy()])
        assert stop_after is not None or sorted(seen) == list(range(N))
        stale += [] if right else [epoch]
    return stale


PERSISTENT = {"num_workers": 2, "persistent_workers": True}


@pytest.mark.parametrize("method", ["sls", "multipass", "stratified_sls", "soft"])
@pytest.mark.parametrize("workers", [{}, {"num_workers": 2}, PERSISTENT], ids=["none", "new each epoch", "persistent"])
def test_every_target_is_that_of_its_epoch(method, workers):
    labels = deliver(VOTES, method, seed=3)
    assert stale_epochs(Delivered(Numbers(), labels), labels, epochs=4, **workers) == []


def test_labels_in_the_data_set_would_be_stale_in_persistent_workers():
    """The fault that the wrapper is for: this test could not tell without it."""
    labels = deliver(VOTES, "sls", seed=3)
    assert stale_epochs(Naive(labels), labels, epochs=4, num_workers=2) == []
    assert stale_epochs(Naive(labels), labels, epochs=4, **PERSISTENT) == [1, 2, 3]


def test_an_epoch_that_is_left_early_leaves_nothing_behind():
    """Workers have fetched ahead; none of it reaches the next epoch."""
    labels = deliver(VOTES, "sls", seed=3)
    assert stale_epochs(Delivered(Numbers(), labels), labels, epochs=6, stop_after=2, prefetch_factor=4, **PERSISTENT) == []


def test_spawned_workers_share_the_targets_too():
    """A spawned worker gets a pickle, not a copy of the memory."""
    labels, data = deliver(VOTES, "sls", seed=3), TensorDataset(torch.arange(N))
    assert stale_epochs(
        Delivered(data, labels), labels, epochs=3, num_workers=1, persistent_workers=True, multiprocessing_context="spawn"
    ) == []  # fmt: skip


def test_a_kept_batch_does_not_change_with_the_epoch():
    data = Delivered(Numbers(), deliver(Votes.from_probabilities(VOTES.p), "soft", seed=0))
    data.start_epoch(0)
    kept = data[5][1]
    data._targets.zero_()
    np.testing.assert_allclose(kept.numpy(), VOTES.p[5], atol=1e-7)


def test_epochs_starts_each_epoch_and_can_go_on_after_a_resume():
    labels = deliver(VOTES, "sls", seed=0)
    data = Delivered(Numbers(), labels)
    seen = [(epoch, data.epoch, [data[i][1] for i in range(N)]) for epoch in data.epochs(5, start=2)]
    assert seen == [(epoch, epoch, labels(epoch).tolist()) for epoch in (2, 3, 4)]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("x", ("x", 1)),
        (("x",), ("x", 1)),
        (("x", "old"), ("x", 1)),
        (["x", "old"], ("x", 1)),
        ({"x": 5, "labels": 0}, {"x": 5, "labels": 1}),
        ({"x": 5}, {"x": 5, "labels": 1}),
    ],
    ids=str,
)
def test_what_becomes_of_an_item(item, expected):
    data = Delivered([item], deliver(Votes.from_counts([[0, 3]]), "majority", seed=0))
    data.start_epoch(0)
    assert data[0] == expected


def test_the_targets_key_can_be_chosen():
    data = Delivered([{"x": 5}], deliver(Votes.from_counts([[0, 3]]), "majority", seed=0), key="y")
    data.start_epoch(0)
    assert data[0] == {"x": 5, "y": 1}


def test_repeated_shows_every_vote_with_its_own_input():
    data = Delivered(Numbers(), deliver(VOTES, "repeated", seed=0))
    table = np.zeros((N, C), dtype=int)
    for _ in data.epochs(1):
        for item, label in DataLoader(data, batch_size=16, shuffle=True, **PERSISTENT):
            np.add.at(table, (item.numpy(), label.numpy()), 1)
    assert len(data) == 9 * N
    np.testing.assert_array_equal(table, COUNTS)


@pytest.mark.parametrize("method", sorted(set(methods()) - {"mixup", "dawid_skene"}))
def test_every_method_but_mixup_can_be_wrapped(method):
    labels = deliver(VOTES, method, seed=0)
    data = Delivered(Numbers(), labels)
    data.start_epoch(4)
    np.testing.assert_array_equal([data[i][1] for i in range(len(data))], labels(4))


def test_mistakes_are_named():
    sls = deliver(VOTES, "sls", seed=0)
    with pytest.raises(InputError, match="Mixup blends whole batches"):
        Delivered(Numbers(), deliver(VOTES, "mixup", seed=0))
    with pytest.raises(InputError, match="a data set of 40 items, as many as have votes, got 3"):
        Delivered([1, 2, 3], sls)
    with pytest.raises(InputError, match="with a length and items by number, got generator"):
        Delivered((i for i in range(N)), sls)
    with pytest.raises(InputError, match=r"what hardlabels\.deliver returns, got ndarray"):
        Delivered(Numbers(), sls(0))
    data = Delivered([(1, 2, 3)] * N, sls)
    with pytest.raises(RuntimeError, match="no epoch was started"):
        data[0]
    for epoch in (-1, 1.0, True, None):
        with pytest.raises(InputError, match="epoch must be a whole number, at least 0, got"):
            data.start_epoch(epoch)
    data.start_epoch(0)
    with pytest.raises(InputError, match=r"item 7: expected .* got 3 parts"):
        data[7]


def test_accelerate_cannot_set_the_epoch_behind_our_back():
    assert not hasattr(Delivered, "set_epoch")
