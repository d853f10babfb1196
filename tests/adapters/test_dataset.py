"""The wrapper's targets are those of the epoch that runs: in workers that outlive epochs, spawned ones, after a break."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch
from torch import multiprocessing
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.delivery import methods
from hardlabels.delivery.soft import Soft

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


class Turning(Soft):
    """Soft targets that differ from epoch to epoch."""

    def in_epoch(self, epoch):
        return np.roll(super().in_epoch(epoch), epoch, axis=0)


@pytest.mark.parametrize("items", [Numbers(), [{"x": i} for i in range(N)]], ids=["inputs", "mappings"])
def test_a_kept_batch_does_not_change_with_the_epoch(items):
    data = Delivered(items, Turning(VOTES, 0))
    data.start_epoch(0)
    kept = data[5]["labels"] if isinstance(data[5], dict) else data[5][1]
    data.start_epoch(1)
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
        ({"x": 5, "label": 0}, {"x": 5, "labels": 1}),
        ({"x": 5, "label_ids": [0], "label": 0, "labels": 0}, {"x": 5, "labels": 1}),
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
    for epoch in (-1, 1.0, True, None, np.True_, 2**32):
        with pytest.raises(InputError, match=r"^epoch must be a whole number 0 \.\. 4294967295, got"):
            data.start_epoch(epoch)
    data.start_epoch(0)
    with pytest.raises(InputError, match=r"item 7: expected .* got 3 parts"):
        data[7]


def test_accelerate_cannot_set_the_epoch_behind_our_back():
    assert not hasattr(Delivered, "set_epoch")


# ---- other people's loops ----


def shown(data, **settings):
    """{item: label} of a pass through a loader."""
    return {int(i): int(y) for index, y in DataLoader(data, batch_size=7, **settings) for i, y in zip(index, y, strict=True)}


@pytest.mark.parametrize("workers", [{}, PERSISTENT], ids=["none", "persistent"])
def test_parts_and_unions_and_samplers_keep_each_item_with_its_label(workers):
    labels = deliver(VOTES, "sls", seed=3)
    data = Delivered(Numbers(), labels)
    first, second = random_split(data, [0.5, 0.5], generator=torch.Generator().manual_seed(0))
    loaders = [
        DataLoader(Subset(data, [3, 1, 39]), batch_size=7, **workers),
        DataLoader(first, batch_size=7, shuffle=True, **workers),
        DataLoader(ConcatDataset([second, first]), batch_size=7, shuffle=True, **workers),
        DataLoader(data, batch_size=7, sampler=DistributedSampler(data, num_replicas=3, rank=2, seed=1), **workers),
        DataLoader(data, batch_size=7, sampler=WeightedRandomSampler(VOTES.p[:, 0], 2 * N), **workers),
        DataLoader(Delivered(Subset(data, range(N)), labels), batch_size=7, shuffle=True, **workers),
    ]
    for epoch in range(3):
        loaders[-1].dataset.start_epoch(epoch)
        for loader in loaders:
            data.start_epoch(epoch)
            for index, target in loader:
                assert target.tolist() == labels(epoch)[index.numpy()].tolist()


def test_votes_of_all_items_do_not_fit_a_part_of_them():
    with pytest.raises(InputError, match="a data set of 40 items, as many as have votes, got 3"):
        Delivered(Subset(Numbers(), [3, 1, 39]), deliver(VOTES, "sls", seed=0))


@pytest.mark.parametrize("column", ["target", "targets", "y", "class", "Label", "gold_label", "fine_label", "noisy_labels"])
def test_a_column_that_may_be_an_old_target_is_refused_unless_it_is_the_key(column):
    labels = deliver(Votes.from_counts([[0, 3]]), "majority", seed=0)
    data = Delivered([{"x": 5, column: 0}], labels)
    data.start_epoch(0)
    with pytest.raises(InputError, match=f"column '{column}' may be an old target beside 'labels'.* pass key='{column}'"):
        data[0]
    data = Delivered([{"x": 5, column: 0, "label": 0}], labels, key=column)
    data.start_epoch(0)
    assert data[0] == {"x": 5, column: 1}


@pytest.mark.parametrize("index", [slice(0, 2), [0, 1], np.array([0, 1]), torch.tensor([0, 1]), 1.0, "1", None], ids=repr)
def test_a_batch_of_rows_is_no_item(index):
    """Two rows of a list looked like (input, old label), and the second was dropped without a word."""
    data = Delivered([{"x": i} for i in range(N)], deliver(VOTES, "sls", seed=0))
    data.start_epoch(0)
    with pytest.raises(InputError, match="items are read one by one: expected a whole number, got"):
        data[index]


def test_items_count_from_the_end_too_and_end():
    data = Delivered(Numbers(), deliver(VOTES, "sls", seed=0))
    data.start_epoch(0)
    assert data[-1] == data[N - 1] == data[np.int64(N - 1)] == data[torch.tensor(N - 1)]
    assert len(list(data)) == N
    for index in (N, -N - 1):
        with pytest.raises(IndexError, match="below 40, got"):
            data[index]


class TestIds:
    """A data set that was shuffled after the votes were collected has other rows; ids tell."""

    ids = tuple(f"d{i:02}" for i in range(N))

    def delivered(self, rows, method="sls", **settings):
        data = Delivered(rows, deliver(VOTES, method, seed=0), id_key="uid", **settings)
        data.start_epoch(0)
        return data

    def test_rows_in_the_votes_order_pass(self):
        rows = [{"x": i, "uid": name} for i, name in enumerate(self.ids)]
        assert [row["x"] for row in self.delivered(rows, ids=self.ids)] == list(range(N))
        assert len(list(self.delivered(rows, "repeated", ids=self.ids))) == 9 * N

    def test_numbers_and_tensors_are_ids_too(self):
        rows = [{"x": i, "uid": torch.tensor(i)} for i in range(N)]
        assert len(list(self.delivered(rows, ids=np.arange(N)))) == N
        assert len(list(self.delivered(rows, ids=[str(i) for i in range(N)]))) == N

    def test_rows_in_another_order_are_refused_by_name(self):
        rows = [{"x": i, "uid": name} for i, name in enumerate(self.ids)]
        rows[7], rows[9] = rows[9], rows[7]
        data = self.delivered(rows, ids=self.ids)
        assert data[8]["x"] == 8
        with pytest.raises(InputError, match="row 7 of the data set has id 'd09', item 7 of the votes is 'd07'"):
            data[7]

    def test_a_shuffled_data_set_of_hugging_face_is_refused(self):
        datasets = pytest.importorskip("datasets")
        rows = datasets.Dataset.from_dict({"x": list(range(N)), "uid": list(self.ids)})
        assert len(list(self.delivered(rows.map(lambda row: {"x": row["x"] + 1}), ids=self.ids))) == N
        for other in (rows.shuffle(seed=1), rows.select(range(N - 1, -1, -1)), rows.sort("x", reverse=True)):
            with pytest.raises(InputError, match=r"row \d+ of the data set has id"):
                list(self.delivered(other, ids=self.ids))

    def test_ids_that_cannot_be_compared_are_refused(self):
        with pytest.raises(InputError, match="expected 40 ids, one for each item that has votes, got 2"):
            self.delivered(Numbers(), ids=["a", "b"])
        for rows in (Numbers(), [{"id": name} for name in self.ids]):
            with pytest.raises(InputError, match="item 0: expected a mapping with its id as 'uid'"):
                self.delivered(rows, ids=self.ids)[0]


def test_an_epoch_that_is_never_started_anew_is_spoken_of():
    """What people write after "no epoch was started": one call before the loop."""
    data = Delivered(Numbers(), deliver(VOTES, "sls", seed=3))
    data.start_epoch(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown(data), shown(data)  # training, and scoring the training data
    with pytest.warns(RuntimeWarning, match=r"all items were read 2 times in epoch 0, with the same labels: call start_epoch"):
        shown(data)


@pytest.mark.parametrize(
    ("method", "settings"), [("soft", {}), ("majority", {}), ("repeated", {}), ("sls", {"hold": 5})], ids=str
)
def test_labels_that_would_be_the_same_anyway_are_not_spoken_of(method, settings):
    data = Delivered([{"i": i} for i in range(N)], deliver(VOTES, method, seed=3, **settings))
    data.start_epoch(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            list(data)
    if settings:
        with pytest.warns(RuntimeWarning, match="read 5 times in epoch 0"):
            list(data)


def test_an_epoch_may_be_started_again():
    data = Delivered(Numbers(), deliver(VOTES, "sls", seed=3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epoch in (0, 0, 0, 0, 1):
            data.start_epoch(epoch)
            assert len(shown(data)) == N


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))], ids=["deepcopy", "pickle"])
def test_a_copy_has_epochs_of_its_own_and_shares_them_with_its_workers(copied):
    """Its memory was copied, and no longer shared: persistent workers would have gone on with the first epoch."""
    labels = deliver(VOTES, "sls", seed=3)
    data = Delivered(Numbers(), labels)
    data.start_epoch(7)
    twin = copied(data)
    assert twin.epoch == 7
    assert stale_epochs(twin, labels, epochs=3, **PERSISTENT) == []
    assert data.epoch == 7


class Pictures(Numbers):
    """A data set as torchvision's and timm's: what it makes of an item may be set later."""

    transform = None

    def __getitem__(self, index):
        return index if self.transform is None else self.transform(index)


def test_a_transform_that_somebody_sets_arrives_at_the_data_set_below():
    """timm's create_loader sets it on what it is given: before, images came as they were, and its collator failed."""
    data = Delivered(Pictures(), deliver(VOTES, "sls", seed=0))
    data.transform = lambda index: -index
    data.start_epoch(0)
    assert data[3][0] == -3
    assert data.transform is data.dataset.transform
    plain = Delivered(Numbers(), deliver(VOTES, "sls", seed=0))
    assert not hasattr(plain, "transform")
    with pytest.raises(InputError, match="a transform was set on the delivered data set, and Numbers below has none"):
        plain.transform = str


def test_a_part_of_the_data_has_a_part_of_the_votes():
    """As the page says it for a data set that was divided before."""
    part, _ = random_split(Numbers(), [0.75, 0.25], generator=torch.Generator().manual_seed(0))
    with pytest.raises(InputError, match=r"expected a data set of 40 items.* got 30.*votes\.take"):
        Delivered(part, deliver(VOTES, "sls", seed=0))
    data = Delivered(part, deliver(VOTES.take(part.indices), "soft", seed=0))
    data.start_epoch(0)
    for place, (item, target) in enumerate(data[place] for place in range(len(data))):
        assert item == part.indices[place]
        np.testing.assert_allclose(target.numpy(), VOTES.p[item], rtol=1e-6)


def _two_epochs(data, labels, first, barrier, wrong):
    """A run of its own, in a process of its own: it starts its epochs while the other one is in the middle of another."""
    for epoch in (first, first + 1):
        data.start_epoch(epoch)
        barrier.wait()
        loader = DataLoader(data, batch_size=7, num_workers=1)
        for index, target in loader:
            wrong.value += int((target.numpy() != labels(epoch)[index.numpy()]).sum())
        barrier.wait()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_start_epochs_do_not_turn_each_others_page(method):
    """Runs in a pool, ranks of a launcher: the data set was built before, and its memory was shared by all of them."""
    context = multiprocessing.get_context(method)
    labels = deliver(VOTES, "sls", seed=3)
    data, barrier, wrong = Delivered(TensorDataset(torch.arange(N)), labels), context.Barrier(2), context.Value("i", 0)
    data.start_epoch(50)
    runs = [context.Process(target=_two_epochs, args=(data, labels, first, barrier, wrong)) for first in (0, 10)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(120)
    assert [run.exitcode for run in runs] == [0, 0]
    assert wrong.value == 0
    assert list(shown(data).values()) == labels(50).tolist()
