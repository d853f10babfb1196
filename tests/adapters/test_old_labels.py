"""A data set's own labels are dropped; before that they tell whether its rows and classes are those of the votes."""

import sys
import warnings

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered

N, C = 200, 4
RNG = np.random.default_rng(0)
VOTES = Votes.from_counts(np.stack([RNG.multinomial(7, RNG.dirichlet(np.ones(C) / 4)) for _ in range(N)]))
ORDER = RNG.permutation(N)
CLASSES = np.array([2, 3, 1, 0])


def warned(data, *, workers=0):
    """What is said in one pass through the data."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in data.epochs(1):
            for _ in DataLoader(data, batch_size=16, num_workers=workers, shuffle=True):
                pass
    return [str(one.message) for one in found if one.category is RuntimeWarning]


def as_tuples(labels):
    return TensorDataset(torch.zeros(N, 2), torch.as_tensor(labels))


def as_mappings(labels):
    return [{"x": 0.0, "label": int(label)} for label in labels]


@pytest.mark.parametrize("make", [as_tuples, as_mappings])
@pytest.mark.parametrize("method", ["soft", "sls"])
def test_rows_and_classes_in_another_order_are_spoken_of(make, method):
    """Nothing else could tell: every item has an input and a label of some other item."""
    labels = deliver(VOTES, method, seed=0)
    noisy = np.where(RNG.random(N) < 0.2, RNG.integers(C, size=N), VOTES.majority)
    assert warned(Delivered(make(noisy), labels)) == []
    [message] = warned(Delivered(make(noisy[ORDER]), labels))
    assert "as by chance" in message
    assert "other rows than those of the votes, or in another order? Delivered(ids=..., classes=...)" in message
    [message] = warned(Delivered(make(CLASSES[noisy]), labels))
    assert f"if 0, 1, ... are its {', '.join(map(str, CLASSES))}: other classes" in message


def test_two_classes_that_were_exchanged_are_found():
    swapped = np.array([0, 1, 3, 2])[VOTES.majority]
    [message] = warned(Delivered(as_tuples(swapped), deliver(VOTES, "sls", seed=0)))
    assert "if 0, 1, ... are its 0, 1, 3, 2" in message


def test_it_is_said_by_workers_too(capfd, monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", lambda message, *args, **kwargs: print(message, file=sys.stderr))
    data = Delivered(as_tuples(VOTES.majority[ORDER]), deliver(VOTES, "sls", seed=0))
    for _ in data.epochs(1):
        assert len(list(DataLoader(data, batch_size=16, num_workers=2))) == 13
    assert capfd.readouterr().err.count("as by chance") in (1, 2)  # once, or once by each of two that get there at the same time


@pytest.mark.parametrize("labels", [np.zeros(N, dtype=int), VOTES.majority + C, VOTES.majority[:, None].astype(float) + 0.0])
def test_labels_that_tell_nothing_are_not_spoken_of(labels):
    """One class for all, other numbers than those of the classes, floats."""
    votes = VOTES if labels.any() else Votes.from_counts([[3] + [0] * (C - 1)] * N)
    assert warned(Delivered(as_tuples(labels), deliver(votes, "sls", seed=0))) == []


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ((torch.zeros(1, 8, 8), torch.ones(1, 8, 8)), r"the second part, a Tensor of shape \(1, 8, 8\), is no label"),
        ((torch.zeros(3), torch.zeros(3)), r"the second part, a Tensor of shape \(3,\), is no label"),
        (("premise", 0.25), "the second part, a float, is no label"),
        (("image", {"boxes": [], "labels": []}), "the second part, a dict, is no label"),
        ([0.25, 3], r"expected an input, got a list of numbers, \[0.25, 3\]"),
        ([7], r"expected an input, got a list of numbers, \[7\]"),
        ((), "got 0 parts"),
    ],
)
def test_a_second_input_is_not_dropped_as_an_old_label(item, message):
    """Before, the second of two inputs was replaced by the target, and the network never saw it."""
    data = Delivered([item] * N, deliver(VOTES, "sls", seed=0))
    data.start_epoch(0)
    with pytest.raises(InputError, match=f"item 0: .*{message}"):
        data[0]


@pytest.mark.parametrize(
    "label", [3, "cat", None, torch.tensor(2), torch.tensor([2]), torch.zeros(C), [0.1] * C, np.int64(1)], ids=str
)
def test_every_kind_of_old_label_is_replaced(label):
    data = Delivered([("input", label)] * N, deliver(VOTES, "majority", seed=0))
    data.start_epoch(0)
    assert data[0] == ("input", VOTES.majority[0])
