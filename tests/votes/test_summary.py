"""Agreement against explicit loops over pairs of votes, statsmodels, and tables that were worked out by hand."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as their_kappa

from hardlabels.comparing.answer import SIMPLEST
from hardlabels.votes import Votes
from hardlabels.votes.summary import (
    advise,
    class_counts,
    class_shares,
    expected_one_hot,
    fleiss_kappa,
    krippendorff_alpha,
    repeated_items,
    squares,
    summarise,
)

law = settings(derandomize=True, deadline=None, max_examples=100)


@st.composite
def multisets(draw):
    """(C, the votes of each item): ragged."""
    c = draw(st.integers(1, 4))
    return c, draw(st.lists(st.lists(st.integers(0, c - 1), min_size=1, max_size=6), min_size=1, max_size=8))


def table(c, items):
    return Votes.from_labels([vote for item in items for vote in item], np.cumsum([0, *map(len, items)]), c)


def coincidence_alpha(c, items):
    """Krippendorff's own way: a matrix of coincidences, filled by ordered pairs of votes; exact fractions."""
    matrix = [[Fraction(0)] * c for _ in range(c)]
    for item in items:
        for a, b in permutations(range(len(item)), 2):
            matrix[item[a]][item[b]] += Fraction(1, len(item) - 1)
    totals = [sum(row) for row in matrix]
    n = sum(totals)
    observed = sum(matrix[a][b] for a, b in product(range(c), repeat=2) if a != b)
    expected = sum(totals[a] * totals[b] for a, b in product(range(c), repeat=2) if a != b)
    return 1 - (n - 1) * observed / expected if expected else None


@law
@given(multisets())
def test_krippendorffs_alpha_is_that_of_the_coincidence_matrix(case):
    expected, found = coincidence_alpha(*case), krippendorff_alpha(table(*case))
    assert math.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-12)


def test_krippendorffs_alpha_of_his_own_example():
    """Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: nominal alpha 0.743, 40 pairable values."""
    coders = {
        "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    }
    items = [[values[unit] - 1 for values in coders.values() if values[unit] is not None] for unit in range(12)]
    assert krippendorff_alpha(table(5, items)) == pytest.approx(0.743, abs=5e-4)


def test_fleiss_kappa_of_his_own_example():
    """Fleiss (1971) as worked out by Wikipedia: 10 subjects, 14 raters, 5 categories, kappa 0.210."""
    rows = """0 0 0 0 14, 0 2 6 4 2, 0 0 3 5 6, 0 3 9 2 0, 2 2 8 1 1, 7 7 0 0 0, 3 2 6 3 0, 2 5 3 2 2, 6 5 2 1 0, 0 2 2 3 7"""
    counts = [[int(cell) for cell in row.split()] for row in rows.split(",")]
    assert fleiss_kappa(Votes.from_counts(counts)) == pytest.approx(0.210, abs=5e-4)


@law
@given(st.integers(2, 4), st.integers(2, 6), st.integers(1, 8), st.data())
def test_fleiss_kappa_is_that_of_statsmodels(c, m, n, data):
    items = data.draw(st.lists(st.lists(st.integers(0, c - 1), min_size=m, max_size=m), min_size=n, max_size=n))
    votes = table(c, items)
    found = fleiss_kappa(votes)
    with np.errstate(invalid="ignore"):
        theirs = float(their_kappa(votes.counts, method="fleiss"))
    if len({vote for item in items for vote in item}) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(theirs, abs=1e-10)


def test_fleiss_kappa_needs_the_same_number_of_votes_on_every_item():
    assert fleiss_kappa(Votes.from_counts([[2, 1], [1, 1]])) is None
    assert fleiss_kappa(Votes.from_counts([[1, 0], [0, 1]])) is None


@law
@given(multisets())
def test_alpha_and_kappa_differ_by_the_correction_for_few_votes_alone(case):
    c, items = case
    m = min(map(len, items))
    votes = table(c, [item[:m] for item in items])
    kappa, alpha, n = fleiss_kappa(votes), krippendorff_alpha(votes), len(votes.labels)
    if kappa is None or math.isnan(kappa):
        assert math.isnan(alpha)
    else:
        assert 1 - alpha == pytest.approx((1 - kappa) * (n - 1) / n, abs=1e-12)


@law
@given(multisets(), st.integers(1, 4))
def test_the_expected_one_hot_share_is_that_of_all_ways_to_draw(case, k):
    c, items = case
    total = Fraction(0)
    for item in items:
        draws = list(product(item, repeat=k))
        total += Fraction(sum(len(set(draw)) == 1 for draw in draws), len(draws))
    votes = table(c, items)
    assert expected_one_hot(votes, k) == pytest.approx(float(total / len(items)), abs=1e-12)
    assert expected_one_hot(Votes.from_probabilities(votes.p), k) == pytest.approx(float(total / len(items)), abs=1e-12)


def test_the_expected_one_hot_share_is_what_subsampling_gives():
    votes = Votes.from_counts([[6, 3, 1]] * 20_000)
    seen = (votes.subsample(3, seed=0).entropy == 0).mean()
    expected = expected_one_hot(votes, 3)
    assert expected == pytest.approx(0.6**3 + 0.3**3 + 0.1**3)
    assert abs(seen - expected) < 4 * math.sqrt(expected * (1 - expected) / 20_000)


@law
@given(multisets(), st.sampled_from([1, 3, 1 << 20]))
def test_sums_do_not_depend_on_the_blocks(case, block):
    c, items = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hardlabels.votes.votes_table.BLOCK_VOTES", block)
        votes = table(c, items)
        assert squares(votes).tolist() == (votes.counts**2).sum(1).tolist()
        assert class_counts(votes).tolist() == votes.counts.sum(0).tolist()
        np.testing.assert_allclose(class_shares(votes), votes.p.mean(0), atol=1e-12)


@law
@given(
    st.lists(st.lists(st.sampled_from([-7, 2, 5]), min_size=1, max_size=5), min_size=1, max_size=6),
    st.sampled_from([1, 4, 1 << 20]),
)
def test_items_with_an_annotator_twice_are_counted_once_each(people, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hardlabels.votes.votes_table.BLOCK_VOTES", block)
        flat = [person for item in people for person in item]
        votes = Votes.from_labels([0] * len(flat), np.cumsum([0, *map(len, people)]), 1, annotators=flat)
        assert repeated_items(votes) == sum(len(set(item)) < len(item) for item in people)
        assert summarise(votes).annotators == len(set(flat))


@pytest.mark.parametrize("classes", [2, 3, 6, 7])
def test_the_normalised_entropy_is_no_more_than_1(classes):
    """Entropies are rounded: of two equal votes the share was 1.00000000006."""
    assert summarise(Votes.from_counts(np.ones((3, classes)))).normalised_entropy == pytest.approx(1, abs=1e-9)
    assert summarise(Votes.from_counts(np.ones((3, classes)))).normalised_entropy <= 1


def test_a_table_worked_out_by_hand():
    votes = Votes.from_labels([0, 0, 1, 1, 1, 0, 1], [0, 4, 5, 7], 2, annotators=[0, 1, 2, 3, 0, 1, 0])
    found = summarise(votes)
    assert (found.items, found.classes, found.votes, found.annotators, found.repeats) == (3, 2, 7, 4, 0)
    assert str(found.per_item) == "1 / 2 / 4"
    assert str(found.per_annotator) == "1 / 1.5 / 3"
    assert found.entropy == pytest.approx(2 / 3 * math.log(2))
    assert found.normalised_entropy == pytest.approx(2 / 3)
    assert found.unanimous == pytest.approx(1 / 3)
    assert found.class_shares.tolist() == pytest.approx([1 / 3, 2 / 3])
    # Items 0 and 2 count, 6 votes, 3 of each class: D_o = 8/3 + 2 = 14/3, D_e = 36 - 18; 1 - 5 (14/3) / 18.
    assert found.alpha == pytest.approx(1 - 5 * (14 / 3) / 18)
    assert found.kappa is None
    assert found.one_hot == pytest.approx({1: 1, 2: 2 / 3, 3: 1 / 2, 5: 3 / 8, 10: (1 + 2 / 2**9) / 3})


def test_probabilities_have_no_votes_to_count():
    found = summarise(Votes.from_probabilities([[0.5, 0.5], [1, 0]]))
    assert (found.votes, found.per_item, found.annotators, found.alpha, found.kappa) == (None, None, None, None, None)
    assert found.unanimous == 0.5
    assert found.one_hot[2] == 0.75


@pytest.mark.parametrize(
    ("votes", "delivery", "says"),
    [
        (Votes.from_counts([[5, 0], [0, 5]]), "any", "100.0% of the items are unanimous"),
        (Votes.from_counts([[3, 2], [1, 4]]), "soft", "few votes (here a median of 5 votes per item)"),
        (Votes.from_counts([[30, 21], [11, 40]]), "soft", "many votes (here a median of 51 votes per item)"),
        (Votes.from_probabilities([[0.3, 0.7]]), "soft", "multipass cannot be used"),
        (Votes.from_probabilities([[0.0, 1.0]]), "any", "unanimous"),
    ],
)
def test_advice_follows_the_votes(votes, delivery, says):
    found, why = advise(summarise(votes))
    assert found == delivery
    assert says in why


@pytest.mark.parametrize("counts", [[[3, 2], [1, 4]], [[30, 21], [11, 40]]])
def test_advice_is_that_of_compare_where_nothing_was_resolved(counts):
    """``hardlabels compare`` takes the simplest method then, and it measures. Majority is warned against."""
    found, why = advise(summarise(Votes.from_counts(counts)))
    assert found == SIMPLEST[0]
    assert "`hardlabels compare` measures it" in why
    assert "Do not take majority" in why
    assert "favours" not in why
