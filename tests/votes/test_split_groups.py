"""Groups stay on one side of a split, and a given split is what was given."""

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.votes import split_items

LABELS = np.random.default_rng(0).integers(0, 3, 600)
GROUPS = np.random.default_rng(1).integers(0, 150, 600)


def sides(split):
    return [set(split.train), set(split.select), set(split.evaluate)]


@pytest.mark.parametrize("protocol", ["paper", "three_way"])
@pytest.mark.parametrize("seed", range(5))
def test_a_group_is_on_one_side_and_the_shares_hold(protocol, seed):
    split = split_items(LABELS, seed=seed, protocol=protocol, groups=GROUPS)
    parts = [split.train, split.evaluate] if protocol == "paper" else [split.train, split.select, split.evaluate]
    assert sorted(np.concatenate(parts).tolist()) == list(range(600))
    groups = [set(GROUPS[part]) for part in parts]
    assert sum(map(len, groups)) == len(set().union(*groups))
    assert abs(len(split.evaluate) - 120) < 15  # 20 % of 600, within the size of a group for each class


@pytest.mark.parametrize("protocol", ["paper", "three_way"])
def test_groups_of_one_item_are_no_groups(protocol):
    plain = split_items(LABELS, seed=3, protocol=protocol)
    single = split_items(LABELS, seed=3, protocol=protocol, groups=np.arange(600))
    assert sides(plain) == sides(single)


def test_every_class_has_its_share_where_groups_are_small():
    split = split_items(LABELS, seed=0, groups=np.arange(600) // 2)
    shares = [np.bincount(LABELS[part], minlength=3) / len(part) for part in (split.train, split.evaluate)]
    assert np.abs(shares[0] - shares[1]).max() < 0.1


def test_groups_evaluate_equally_often_whatever_their_size():
    groups = np.repeat(np.arange(30), np.tile([1, 2, 5], 10))
    times = np.zeros(30)
    for seed in range(300):
        times[np.unique(groups[split_items(np.zeros(len(groups)), seed=seed, groups=groups).evaluate])] += 1
    assert abs(times.mean() / 300 - 0.2) < 0.02
    assert times.min() / 300 > 0.1


def test_one_large_group_is_never_divided_and_too_few_are_refused():
    with pytest.raises(InputError, match=r"leaves the .* part empty: more groups, or smaller ones, are needed"):
        split_items(np.zeros(100), seed=0, groups=np.zeros(100, dtype=int))


@pytest.mark.parametrize("protocol", ["paper", "three_way"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_given_split_is_the_same_for_every_seed(protocol, seed):
    parts = np.arange(600) % 3
    split = split_items(LABELS, seed=seed, protocol=protocol, parts=parts)
    assert [part.tolist() for part in (split.train, split.select, split.evaluate)] == [
        np.flatnonzero(parts == place).tolist() for place in range(3)
    ]


def test_without_items_to_select_on_an_eighth_of_the_training_items_does():
    parts = np.where(np.arange(600) < 200, 2, 0)
    split = split_items(LABELS, seed=0, protocol="three_way", parts=parts, groups=np.arange(600) // 4)
    assert split.evaluate.tolist() == list(range(200))
    assert abs(len(split.select) - 50) <= 8
    assert {*split.train, *split.select} == set(range(200, 600))
    assert not set(split.train // 4) & set(split.select // 4)
    paper = split_items(LABELS, seed=0, parts=parts)
    assert paper.select is paper.evaluate


def test_train_items_are_chosen_of_a_given_split_too():
    parts = np.arange(600) % 3
    split = split_items(LABELS, seed=0, parts=parts, train_items=10)
    assert len(split.train) == 10
    assert (parts[split.train] == 0).all()


@pytest.mark.parametrize(
    ("parts", "groups", "said"),
    [
        ([0] * 600, None, "the given split of 600 items leaves the .* part empty"),
        ([5] * 600, None, "must have a part 0 .. 2 for each of 600 items"),
        ([0, 2], None, "must have a part 0 .. 2 for each of 600 items"),
        (
            np.arange(600) % 3,
            np.arange(600) // 2,
            "divides 300 of 300 groups; first: items 0 .train. and 1 .select. are one group",
        ),
    ],
)
def test_a_given_split_that_cannot_be_is_refused(parts, groups, said):
    with pytest.raises(InputError, match=said):
        split_items(LABELS, seed=0, parts=np.asarray(parts), groups=groups)
