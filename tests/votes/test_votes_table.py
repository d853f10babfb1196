"""The Votes table against explicit loops: what is stored, what is derived, and which items are taken."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hardlabels.votes import Votes

law = settings(derandomize=True, deadline=None, max_examples=100)


@st.composite
def multisets(draw):
    """(C, the votes of each item in some order): ragged."""
    c = draw(st.integers(1, 5))
    item = st.lists(st.integers(0, c - 1), min_size=1, max_size=9)
    return c, draw(st.lists(item, min_size=1, max_size=8))


def flat(items):
    return [vote for item in items for vote in item], np.cumsum([0] + [len(item) for item in items])


def counted(c, items):
    return [[item.count(k) for k in range(c)] for item in items]


def loop_majority(row):
    best = 0
    for k, count in enumerate(row):
        if count > row[best]:  # strictly: the lowest class keeps a tie
            best = k
    return best


@law
@given(multisets())
def test_a_table_is_its_multisets(case):
    c, items = case
    for votes in (Votes.from_labels(*flat(items), c), Votes.from_counts(counted(c, items))):
        assert len(votes) == len(items)
        assert votes.num_classes == c
        assert votes.has_votes
        assert votes.sizes.tolist() == [len(item) for item in items]
        for i, item in enumerate(items):
            assert votes.labels[votes.offsets[i] : votes.offsets[i + 1]].tolist() == sorted(item)
        assert votes.counts.tolist() == counted(c, items)


@law
@given(multisets(), st.sampled_from([1, 2, 3, 5, 1 << 20]))
def test_derived_quantities_are_those_of_a_loop(case, block):
    """For any block size: items cross its boundary, fill it exactly, or are larger than a block."""
    c, items = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hardlabels.votes.votes_table.BLOCK_VOTES", block)
        votes = Votes.from_labels(*flat(items), c)
        assert votes.majority.tolist() == [loop_majority(row) for row in counted(c, items)]
        for i, item in enumerate(items):
            share = Counter(item)
            assert votes.p[i].tolist() == [float(Fraction(share[k], len(item))) for k in range(c)]
            assert votes.entropy[i] == pytest.approx(stats.entropy([share[k] for k in range(c)]), abs=1e-9)
            assert (votes.entropy[i] == 0) == (len(share) == 1)


@law
@given(multisets())
def test_probabilities_derive_the_same(case):
    c, items = case
    votes = Votes.from_counts(counted(c, items))
    same = Votes.from_probabilities(votes.p)
    assert not same.has_votes
    assert len(same) == len(votes)
    np.testing.assert_allclose(same.p, votes.p, atol=1e-15)
    np.testing.assert_allclose(same.entropy, votes.entropy, atol=1e-9)
    assert same.majority.tolist() == votes.majority.tolist()


@pytest.mark.parametrize("block", [1, 16, 1003, 1004, 1005])
def test_an_item_larger_than_a_block(monkeypatch, block):
    monkeypatch.setattr("hardlabels.votes.votes_table.BLOCK_VOTES", block)
    rows = [[1, 0, 0], [500, 501, 2], [0, 0, 3], [4, 0, 4], [0, 900, 900]]
    votes = Votes.from_counts(rows)
    assert votes.majority.tolist() == [0, 1, 2, 0, 1]
    np.testing.assert_allclose(votes.entropy, [stats.entropy(row) for row in rows], atol=1e-9)


def test_a_block_of_real_size_is_crossed():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(55, rng.dirichlet(np.full(10, 0.3), size=40_000))  # 2.2 million votes
    votes = Votes.from_counts(counts)
    np.testing.assert_array_equal(votes.counts, counts)
    np.testing.assert_array_equal(votes.majority, counts.argmax(1))
    np.testing.assert_allclose(votes.entropy, stats.entropy(counts, axis=1), atol=1e-9)


@pytest.mark.parametrize("c", [1, 2, 255, 256, 257, 65536, 65537])
def test_majority_and_counts_for_any_number_of_classes(c):
    """256 and 65536 classes fill their label type to the brim."""
    rows = np.zeros((3, c), dtype=int)
    rows[0, c - 1] = 3
    rows[1, [0, c // 2, c - 1]] = [1, 2, 1]
    rows[2, c // 2 :] = 1
    votes = Votes.from_counts(rows)
    assert votes.majority.tolist() == [loop_majority(row) for row in rows.tolist()]
    np.testing.assert_array_equal(votes.counts, rows)
    assert votes.majority.dtype == np.int64


def test_unanimous_entropy_is_exactly_zero():
    for m in range(1, 200):
        assert Votes.from_counts([[0, m, 0]]).entropy[0] == 0
    assert Votes.from_probabilities(np.eye(7)).entropy.tolist() == [0] * 7
    assert Votes.from_probabilities([[1.00005, 0.0], [0.0, 0.99995]]).entropy.tolist() == [0, 0]


def test_entropy_does_not_depend_on_the_order_of_the_classes():
    """To the last bit: entropies are compared by slices and ranks, where [3, 1, 1] and [1, 3, 1] are a tie."""
    for multiset in combinations_with_replacement(range(8), 5):
        if sum(multiset) == 17:
            rows = sorted(set(permutations(multiset)))
            assert len(set(Votes.from_counts(rows).entropy)) == 1
            assert len(set(Votes.from_probabilities(np.array(rows) / 17).entropy)) == 1


def test_rows_are_normalised_exactly():
    p = np.random.default_rng(0).dirichlet(np.ones(10), size=200).astype(np.float32) * np.float32(1.00005)
    np.testing.assert_allclose(Votes.from_probabilities(p).p.sum(1), 1, rtol=0, atol=4e-16)


@law
@given(multisets(), st.data())
def test_take_repeats_reorders_and_leaves_out(case, data):
    c, items = case
    n = len(items)
    index = data.draw(st.lists(st.integers(-n, n - 1), max_size=12))
    votes = Votes.from_labels(*flat(items), c)
    for table in (votes, Votes.from_probabilities(votes.p)):
        taken = table.take(index)
        assert len(taken) == len(index)
        np.testing.assert_array_equal(taken.p, table.p[index].reshape(len(index), c))
        np.testing.assert_array_equal(taken.majority, table.majority[index])
        np.testing.assert_array_equal(taken.entropy, table.entropy[index])
    expected = [counted(c, items)[i] for i in index]
    assert votes.take(index).counts.tolist() == expected
    assert votes.take(np.array(index, dtype=np.int32)).counts.tolist() == expected


def test_take_by_mask_keeps_the_marked_items():
    votes = Votes.from_counts([[1, 0], [0, 2], [3, 0], [1, 4]])
    mask = np.array([False, True, False, True])
    assert votes.take(mask).counts.tolist() == [[0, 2], [1, 4]]
    assert Votes.from_probabilities(votes.p).take(mask).p.tolist() == [[0, 1], [0.2, 0.8]]
    assert len(votes.take(~mask & mask)) == 0


@pytest.mark.parametrize("index", [[4], [-5], [0.5], [True, False]])
def test_take_refuses_what_is_no_item(index):
    with pytest.raises(IndexError):
        Votes.from_counts([[1, 0], [0, 2], [3, 0], [1, 4]]).take(index)


def test_later_changes_to_the_input_do_not_reach_the_table():
    counts, labels, offsets, p = np.array([[2, 1]]), np.array([0, 0, 1]), np.array([0, 3]), np.array([[0.5, 0.5]])
    tables = [Votes.from_counts(counts), Votes.from_labels(labels, offsets, 2), Votes.from_probabilities(p)]
    for array in (counts, labels, offsets, p):
        array[:] = 0
    assert [table.p.round(3).tolist() for table in tables] == [[[0.667, 0.333]], [[0.667, 0.333]], [[0.5, 0.5]]]


def test_votes_are_stored_in_the_smallest_type():
    assert Votes.from_counts(np.ones((3, 10), dtype=int)).labels.itemsize == 1
    assert Votes.from_labels([0, 255], [0, 2], 256).labels.itemsize == 1
    assert Votes.from_labels([0, 256], [0, 2], 257).labels.itemsize == 2


def test_repr_says_what_it_is():
    assert repr(Votes.from_counts([[2, 1], [0, 4]])) == "Votes(2 items, 2 classes, 7 votes)"
    assert repr(Votes.from_probabilities([[0.5, 0.5]])) == "Votes(1 items, 2 classes, probabilities)"
