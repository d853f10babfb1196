"""What choosing the epoch flatters: by plain loops, and on curves whose luck is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics import leave_one_seed_out

tables = st.integers(2, 6).flatmap(
    lambda n: st.integers(1, 8).flatmap(
        lambda epochs: st.lists(st.lists(st.integers(0, 9), min_size=epochs, max_size=epochs), min_size=n, max_size=n)
    )
)


@given(tables)
@settings(deadline=None)
def test_it_is_the_loop_with_ties_to_the_first_epoch(rows):
    curves = dict(enumerate(rows))
    values = {seed: [10 * seed + epoch for epoch in range(len(row))] for seed, row in curves.items()}
    found = leave_one_seed_out(curves, values)
    for seed, row in curves.items():
        others = [sum(other[epoch] for s, other in curves.items() if s != seed) for epoch in range(len(row))]
        epochs = row.index(min(row)), others.index(min(others))
        one = found[seed]
        assert (one.own_epoch, one.others_epoch) == epochs
        assert (one.own, one.others) == tuple(10 * seed + epoch for epoch in epochs)
        assert one.optimism == epochs[1] - epochs[0]


@given(tables)
@settings(deadline=None)
def test_chosen_on_what_is_scored_it_is_never_negative(rows):
    curves = dict(enumerate(rows))
    assert all(one.optimism >= 0 for one in leave_one_seed_out(curves, curves).values())


@given(tables, st.randoms())
@settings(deadline=None)
def test_the_order_of_seeds_does_not_matter(rows, random):
    curves = list(enumerate(rows))
    mixed = list(curves)
    random.shuffle(mixed)
    assert leave_one_seed_out(dict(curves), dict(curves)) == leave_one_seed_out(dict(mixed), dict(mixed))


def test_it_finds_the_luck_of_the_minimum_and_none_where_selection_items_were_others():
    """A flat curve with independent noise: the minimum of 50 normal numbers is 2.25 below their mean, all of it luck."""
    rng = stream(0, "test optimism")
    scored, selecting = ({seed: rng.standard_normal(50) for seed in range(400)} for _ in range(2))
    same = [one.optimism for one in leave_one_seed_out(scored, scored).values()]
    apart = [one.optimism for one in leave_one_seed_out(selecting, scored).values()]
    assert np.mean(same) == pytest.approx(2.25, abs=0.2)
    assert np.mean(apart) == pytest.approx(0.0, abs=0.2)


def test_curves_without_noise_have_no_optimism():
    curve = [(epoch - 7) ** 2 for epoch in range(20)]
    found = leave_one_seed_out(dict.fromkeys(range(3), curve), dict.fromkeys(range(3), curve))
    assert {(one.own_epoch, one.others_epoch, one.optimism) for one in found.values()} == {(7, 7, 0)}


@pytest.mark.parametrize(
    ("monitored", "values", "message"),
    [
        ({0: [1.0]}, {0: [1.0]}, "two seeds or more, got 1"),
        ({}, {}, "monitored: curves must have one length, 1 epoch or more, got no seeds"),
        ({0: [], 1: []}, {0: [], 1: []}, "1 epoch or more, got 0"),
        ({0: [1.0], 1: [1.0, 2.0]}, {0: [1.0], 1: [1.0]}, "monitored: .* got 1, 2"),
        ({0: [1.0], 1: [1.0]}, {0: [1.0], 2: [1.0]}, "got seeds 0, 1 with 1 epochs and seeds 0, 2 with 1 epochs"),
        ({0: [1.0], 1: [1.0]}, {0: [1.0, 2.0], 1: [1.0, 2.0]}, "same seeds and lengths"),
        (
            {0: [1.0, 2.0], 7: [1.0, float("nan")]},
            {0: [1.0, 2.0], 7: [1.0, 2.0]},
            "seed 7 must have a finite value after epoch 1",
        ),
    ],
)
def test_curves_that_cannot_be_compared_are_refused(monitored, values, message):
    with pytest.raises(InputError, match=message):
        leave_one_seed_out(monitored, values)
