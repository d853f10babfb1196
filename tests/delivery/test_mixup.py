"""Mixup against a loop over the examples, with lambda and the partners tested by their laws."""

import pickle
import warnings
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch
from scipy import stats

from hardlabels import deliver
from hardlabels.delivery.mixup import Mixup, mixup
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.votes import Votes

VOTES = Votes.from_counts([[3, 1, 0], [0, 2, 2], [1, 0, 9], [5, 0, 0]])


def recover(delivery, size, epoch, step):
    """(lambda, partners) of a batch, from what mixing does to the unit vectors: lambda I + (1 - lambda) P."""
    mixed, _ = delivery.mix(np.eye(size), np.eye(size), epoch=epoch, step=step)
    weight = mixed.diagonal().min()  # 1 where an example is its own partner
    return weight, (mixed - weight * np.eye(size)).argmax(1)


def test_mixing_is_that_of_a_loop():
    rng = np.random.default_rng(0)
    inputs, targets, partner, weight = rng.random((6, 3, 4)), rng.dirichlet(np.ones(5), size=6), rng.permutation(6), 0.3
    mixed = mixup(inputs, targets, weight=weight, partner=partner)
    for i in range(6):
        np.testing.assert_allclose(mixed[0][i], 0.3 * inputs[i] + 0.7 * inputs[partner[i]], atol=1e-15)
        np.testing.assert_allclose(mixed[1][i], 0.3 * targets[i] + 0.7 * targets[partner[i]], atol=1e-15)


def test_the_ends_of_lambda():
    x, y, partner = np.arange(6.0).reshape(3, 2), np.eye(3), np.array([1, 2, 0])
    np.testing.assert_array_equal(mixup(x, y, weight=1.0, partner=partner)[0], x)
    np.testing.assert_array_equal(mixup(x, y, weight=0.0, partner=partner)[1], y[partner])


@pytest.mark.parametrize("tokens", [np.ones((4, 9), dtype=np.int32), torch.ones(4, 9, dtype=torch.int64)], ids=["numpy", "torch"])
def test_token_ids_are_refused(tokens):
    """Blended and rounded to whole numbers again, two sentences would become words that are in neither."""
    with pytest.raises(InputError, match=f"floating point numbers or the bytes of images, got {str(tokens.dtype)[-5:]}"):
        Mixup(VOTES, 0).mix(tokens, np.eye(4), epoch=0, step=0)


def test_bytes_of_images_are_blended_as_numbers():
    images, partner = np.array([[0], [200]], dtype=np.uint8), np.array([1, 0])
    assert mixup(images, np.eye(2), weight=0.75, partner=partner)[0].tolist() == [[50.0], [150.0]]


def test_targets_are_majority_one_hot():
    assert Mixup(VOTES, 0)(5).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_targets_can_be_the_annotators_distributions():
    for votes in (VOTES, Votes.from_probabilities(VOTES.p)):
        delivery = Mixup(votes, 0, targets="soft")
        np.testing.assert_allclose(delivery(5), VOTES.p, atol=1e-7)
        weight, partner = recover(delivery, 4, epoch=2, step=1)
        mixed = delivery.mix(np.zeros(4), delivery(2), epoch=2, step=1)[1]
        np.testing.assert_allclose(mixed, weight * VOTES.p + (1 - weight) * VOTES.p[partner], atol=1e-6)


def test_soft_targets_are_a_variant_with_a_folder_of_its_own(make_config):
    assert Cell.from_config(make_config("method=mixup")).method == "mixup"
    assert Cell.from_config(make_config("method=mixup", "method.targets=soft")).variant == "mixup,targets=soft"


def test_both_kinds_of_targets_are_mixed_by_the_same_pairs():
    """One stream: a comparison of the two is paired."""
    one, other = (recover(Mixup(VOTES, 3, targets=kind), 8, epoch=4, step=2) for kind in ("majority", "soft"))
    assert one[0] == other[0]
    assert one[1].tolist() == other[1].tolist()


def test_inputs_and_targets_are_mixed_alike_and_targets_stay_distributions():
    delivery, rng = Mixup(VOTES, 0), np.random.default_rng(0)
    inputs, targets = rng.random((50, 7)), np.eye(3, dtype=np.float32)[rng.integers(3, size=50)]
    weight, partner = recover(delivery, 50, epoch=2, step=9)
    mixed = delivery.mix(inputs, targets, epoch=2, step=9)
    np.testing.assert_allclose(mixed[0], weight * inputs + (1 - weight) * inputs[partner], atol=1e-14)
    np.testing.assert_allclose(mixed[1], weight * targets + (1 - weight) * targets[partner], atol=1e-6)
    np.testing.assert_allclose(mixed[1].sum(1), 1, atol=1e-6)
    assert mixed[1].dtype == np.float32


def test_tensors_are_mixed_like_arrays():
    delivery, rng = Mixup(VOTES, 3), np.random.default_rng(0)
    inputs, targets = rng.random((8, 3, 5, 5), dtype=np.float32), np.eye(3, dtype=np.float32)[rng.integers(3, size=8)]
    arrays = delivery.mix(inputs, targets, epoch=1, step=4)
    tensors = delivery.mix(torch.from_numpy(inputs), torch.from_numpy(targets), epoch=1, step=4)
    for array, tensor in zip(arrays, tensors, strict=True):
        assert tensor.dtype == torch.float32
        np.testing.assert_allclose(tensor.numpy(), array, atol=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 0.4, 5.0])
def test_lambda_is_beta_and_partners_are_uniform(alpha):
    delivery = Mixup(VOTES, 0, alpha=alpha)
    weights, partners = zip(*(recover(delivery, 8, epoch=step // 40, step=step % 40) for step in range(2000)), strict=True)
    assert stats.kstest(weights, stats.beta(alpha, alpha).cdf).pvalue > 1e-3
    usable = np.array([p for w, p in zip(weights, partners, strict=True) if w < 1 - 1e-6])  # lambda = 1 hides the partner
    assert all(sorted(p) == list(range(8)) for p in usable.tolist())
    for i in range(8):
        assert stats.chisquare(np.bincount(usable[:, i], minlength=8)).pvalue > 1e-3


def test_lambda_and_partners_are_independent_of_the_last_step():
    weights = np.array([recover(Mixup(VOTES, 0), 8, epoch=0, step=step)[0] for step in range(2000)])
    assert abs(np.corrcoef(weights[1:], weights[:-1])[0, 1]) < 4.5 / np.sqrt(len(weights))


def test_all_permutations_of_a_small_batch_are_equally_likely():
    seen = Counter()
    for step in range(3000):
        mixed, _ = Mixup(VOTES, 1).mix(np.eye(3), np.eye(3), epoch=0, step=step)
        weight = mixed.diagonal().min()
        seen[tuple((mixed - weight * np.eye(3)).argmax(1).tolist()) if weight < 1 - 1e-12 else (0, 1, 2)] += 1
    assert set(seen) == set(permutations(range(3)))
    assert stats.chisquare(list(seen.values())).pvalue > 1e-3


def test_a_batch_is_mixed_by_its_seed_epoch_and_step_alone():
    def weight(seed=0, epoch=0, step=0):
        delivery = Mixup(VOTES, seed)
        delivery.mix(np.eye(4), np.eye(4), epoch=9, step=9)  # what came before does not matter
        return recover(delivery, 8, epoch, step)[0]

    assert weight() == weight()
    assert len({weight(), weight(seed=1), weight(epoch=1), weight(step=1), weight(epoch=1, step=1)}) == 5


def test_a_last_batch_of_one_is_left_as_it_is():
    mixed = Mixup(VOTES, 0).mix(np.array([[2.0]]), np.array([[0.0, 1.0]]), epoch=0, step=3)
    np.testing.assert_allclose(mixed[0], [[2.0]], atol=1e-15)
    np.testing.assert_allclose(mixed[1], [[0.0, 1.0]], atol=1e-15)


@pytest.mark.parametrize(("targets", "shown"), [("majority", "plain majority labels"), ("soft", "plain soft labels")])
def test_a_loop_that_never_mixes_is_warned_once(targets, shown):
    """Its labels are those of another method. The warning changes none of them."""
    labels = deliver(VOTES, "mixup", seed=0, targets=targets)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, again = labels(0), labels(0)
        assert not caught  # one epoch may be looked at
        later = [labels(epoch) for epoch in (1, 2, 0)]
    assert len(caught) == 1
    assert caught[0].category is RuntimeWarning
    assert shown in str(caught[0].message)
    assert "labels.mix(inputs, targets, epoch=epoch, step=step)" in str(caught[0].message)
    assert caught[0].filename == __file__  # the line of the loop, not of this package
    for taken in (again, *later):
        np.testing.assert_array_equal(taken, first)


def test_a_loop_that_mixes_is_not_warned():
    labels = deliver(VOTES, "mixup", seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epoch in range(3):
            labels.mix(np.eye(4), labels(epoch), epoch=epoch, step=0)


def test_a_worker_is_not_warned(monkeypatch):
    """It takes labels of every epoch, and mixes none: the loop does, in the process that made the object."""
    labels = pickle.loads(pickle.dumps(deliver(VOTES, "mixup", seed=0)))
    monkeypatch.setattr("os.getpid", lambda: -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epoch in range(3):
            labels(epoch)
