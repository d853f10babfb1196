"""The split: exact shares in every class, the same evaluation items under every protocol, uniform over seeds."""

import numpy as np
import pytest
from scipy import stats

from hardlabels.errors import InputError
from hardlabels.votes import SPLITS, split_items

PROTOCOLS = tuple(SPLITS)


def per_class(labels, index, c):
    return [int((labels[index] == k).sum()) for k in range(c)]


@pytest.fixture(scope="module")
def balanced():
    return np.random.default_rng(0).permutation(np.repeat(np.arange(10), 1000))  # as CIFAR-10's test set


@pytest.fixture(scope="module")
def unbalanced():
    """Classes of 1, 2, ... 300 items, in no order."""
    return np.random.default_rng(1).permutation(np.repeat(np.arange(300), np.arange(1, 301)))


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_exact_shares_on_balanced_data(balanced, seed):
    paper, three = (split_items(balanced, seed=seed, protocol=name) for name in ("paper", "three_way"))
    assert per_class(balanced, paper.train, 10) == [800] * 10
    assert per_class(balanced, paper.evaluate, 10) == [200] * 10
    assert per_class(balanced, three.train, 10) == [700] * 10
    assert per_class(balanced, three.select, 10) == [100] * 10
    assert per_class(balanced, three.evaluate, 10) == [200] * 10


def test_exact_shares_on_unbalanced_data(unbalanced):
    """A fifth, and three tenths, of each class in whole-number arithmetic, rounded up."""
    sizes = range(1, 301)
    paper, three = (split_items(unbalanced, seed=0, protocol=name) for name in ("paper", "three_way"))
    fifth, three_tenths = [-(-n // 5) for n in sizes], [-(-3 * n // 10) for n in sizes]
    assert per_class(unbalanced, paper.evaluate, 300) == fifth
    assert per_class(unbalanced, paper.train, 300) == [n - e for n, e in zip(sizes, fifth, strict=True)]
    assert per_class(unbalanced, three.select, 300) == [b - a for a, b in zip(fifth, three_tenths, strict=True)]
    assert per_class(unbalanced, three.train, 300) == [n - b for n, b in zip(sizes, three_tenths, strict=True)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", [0, 5])
def test_parts_are_sorted_disjoint_and_complete(unbalanced, protocol, seed):
    split = split_items(unbalanced, seed=seed, protocol=protocol)
    parts = [split.train, split.evaluate] + ([] if protocol == "paper" else [split.select])
    assert np.sort(np.concatenate(parts)).tolist() == list(range(len(unbalanced)))
    assert all((np.diff(part) > 0).all() for part in parts)


def test_the_paper_selects_on_its_evaluation_items(balanced):
    split = split_items(balanced, seed=0)
    assert split.select is split.evaluate  # the DataModule relies on identity


def test_both_protocols_evaluate_the_same_items(unbalanced):
    for seed in range(5):
        paper, three = (split_items(unbalanced, seed=seed, protocol=name) for name in ("paper", "three_way"))
        assert paper.evaluate.tolist() == three.evaluate.tolist()
        assert set(three.train) | set(three.select) == set(paper.train)


def test_the_seed_decides(balanced):
    first, again, other = (split_items(balanced, seed=seed) for seed in (0, 0, 1))
    assert first.evaluate.tolist() == again.evaluate.tolist()
    shared = len(set(first.evaluate) & set(other.evaluate))
    assert abs(shared - 400) < 5 * np.sqrt(10 * 200 * 0.2 * 0.8 * 800 / 999)  # hypergeometric, ten classes


def test_every_item_evaluates_equally_often():
    """Two of ten items per seed, without replacement: the counts' covariance gives this chi-square its 9 degrees of freedom."""
    seeds = 2000
    labels = np.array([0, 1] * 10)
    times = sum(np.bincount(split_items(labels, seed=seed).evaluate, minlength=20) for seed in range(seeds))
    for k in (0, 1):
        statistic = ((times[labels == k] - 0.2 * seeds) ** 2).sum() / (seeds * 0.2 * 0.8 * 10 / 9)
        assert 1e-3 < stats.chi2.sf(statistic, df=9) < 1 - 1e-3


def test_labels_may_be_names_and_need_not_be_whole_ranges():
    names = np.array(["cat", "dog"] * 10)
    numbers = np.where(names == "cat", -7, 400)
    assert split_items(names, seed=0).evaluate.tolist() == split_items(numbers, seed=0).evaluate.tolist()
    assert split_items(list(names), seed=0).evaluate.tolist() == split_items(names, seed=0).evaluate.tolist()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_train_items_is_a_nested_choice_of_the_training_items(balanced, protocol):
    full = split_items(balanced, seed=0, protocol=protocol)
    smaller = set()
    for size in (1, 10, 1000, 5000):
        split = split_items(balanced, seed=0, protocol=protocol, train_items=size)
        assert len(split.train) == size
        assert (np.diff(split.train) > 0).all()
        assert smaller < set(split.train) <= set(full.train)
        assert split.evaluate.tolist() == full.evaluate.tolist()
        assert split.select.tolist() == full.select.tolist()
        smaller = set(split.train)
    assert split_items(balanced, seed=0, protocol=protocol, train_items=10**6).train.tolist() == full.train.tolist()


def test_train_items_are_a_fair_sample_of_the_classes(balanced):
    split = split_items(balanced, seed=0, train_items=2000)
    assert stats.chisquare(per_class(balanced, split.train, 10)).pvalue > 1e-3


def test_refusals_name_what_is_wrong(balanced):
    with pytest.raises(InputError, match=r"one of paper, three_way, got 'four_way'"):
        split_items(balanced, seed=0, protocol="four_way")
    for size in (0, -5):
        with pytest.raises(InputError, match=rf"train_items must be at least 1 .* got {size}"):
            split_items(balanced, seed=0, train_items=size)
    with pytest.raises(InputError, match="'paper' of 3 items leaves the train part empty"):
        split_items(np.arange(3), seed=0)
    with pytest.raises(InputError, match="'three_way' of 2 items leaves the select part empty"):
        split_items(np.zeros(2), seed=0, protocol="three_way")
    with pytest.raises(InputError, match="of 0 items"):
        split_items(np.array([]), seed=0)
    with pytest.raises(InputError, match="seed of the 'split' stream"):
        split_items(balanced, seed=-1)


def test_a_split_never_changes_between_versions():
    assert split_items(np.repeat([0, 1], 10), seed=0).evaluate.tolist() == [3, 8, 11, 18]
