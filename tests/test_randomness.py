"""Streams are pure functions of their words: same words same numbers, any other word unrelated numbers, for ever."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import hardlabels
from hardlabels.errors import InputError
from hardlabels.randomness import MAX_SEED, stream, torch_seed

word = st.integers(0, MAX_SEED)
words = st.tuples(word, st.sampled_from(["sls", "split", "mixup", "", "SLS", "sls "]), st.lists(word, max_size=3).map(tuple))


def numbers(seed, purpose, *counters, n=4):
    return stream(seed, purpose, *counters).random(n).tolist()


@settings(derandomize=True, deadline=None, max_examples=100)
@given(words)
def test_same_words_give_the_same_stream(one):
    seed, purpose, counters = one
    np.random.seed(1)
    first = numbers(seed, purpose, *counters)
    np.random.random(17)  # the global generator has no say
    assert numbers(seed, purpose, *counters) == first


@settings(derandomize=True, deadline=None, max_examples=200)
@given(words, words)
def test_any_other_word_gives_another_stream(one, other):
    same = one == other
    assert (numbers(one[0], one[1], *one[2]) == numbers(other[0], other[1], *other[2])) == same


def test_neighbouring_and_padded_words_differ():
    close = [(0, "a"), (1, "a"), (0, "b"), (0, "a", 0), (0, "a", 1), (1, "a", 0), (0, "a", 0, 0), (0, "a", 0, 1), (0, "a", 1, 0)]
    close += [(MAX_SEED, "a"), (0, "a", MAX_SEED), (0, ""), (0, "a "), (0, "A")]
    for one, other in combinations(close, 2):
        assert not set(numbers(*one)) & set(numbers(*other)), (one, other)


def test_integers_of_numpy_are_the_same_words():
    assert numbers(np.int64(5), "sls", np.uint32(2)) == numbers(5, "sls", 2)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((-1, "sls"), ("seed", "'sls'", "-1")),
        ((2**32, "sls"), ("seed", "4294967295", "4294967296")),
        ((0, "sls", -3), ("counter 0", "-3")),
        ((0, "mixup", 1, 2**40), ("counter 1", "'mixup'", str(2**40))),
        ((1.5, "sls"), ("seed", "integer", "1.5")),
        ((float("nan"), "sls"), ("seed", "integer", "nan")),
        (("1", "sls"), ("seed", "integer", "'1'")),
        ((0, "sls", 2.0), ("counter 0", "integer", "2.0")),
    ],
)
def test_words_out_of_range_are_refused_by_name(arguments, named):
    with pytest.raises(InputError) as refusal:
        stream(*arguments)
    assert all(part in str(refusal.value) for part in named), refusal.value


def test_the_ends_of_the_range_are_allowed():
    assert len({*numbers(0, "x", 0), *numbers(MAX_SEED, "x", MAX_SEED)}) == 8


@pytest.mark.parametrize("of", ["epoch", "seed", "step"])
def test_streams_that_differ_by_one_are_independent(of):
    make = {
        "epoch": lambda t: stream(3, "sls", t),
        "seed": lambda t: stream(t, "sls", 3),
        "step": lambda t: stream(3, "mixup", 5, t),
    }[of]
    table = np.stack([make(t).random(50) for t in range(2000)])
    assert stats.kstest(table.ravel(), "uniform").pvalue > 1e-3
    assert stats.kstest(table[:, 0], "uniform").pvalue > 1e-3  # the first number of many streams, not only many of one
    for lag in (1, 2, 1000):
        r = np.corrcoef(table[lag:].ravel(), table[:-lag].ravel())[0, 1]
        assert abs(r) < 4.5 / np.sqrt(table[lag:].size)
    # Item by item: neighbouring items in one epoch.
    assert abs(np.corrcoef(table[:, 1:].ravel(), table[:, :-1].ravel())[0, 1]) < 4.5 / np.sqrt(table[:, 1:].size)


def test_purposes_of_one_seed_are_independent():
    a, b = stream(0, "sls", 1).random(100_000), stream(0, "subsample", 1).random(100_000)
    assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / np.sqrt(len(a))


def test_no_two_purposes_of_the_package_share_a_stream():
    source = "\n".join(path.read_text() for path in Path(hardlabels.__file__).parent.rglob("*.py"))
    purposes = set(re.findall(r"(?:stream|torch_seed)\(\s*[\w.+ ]+,\s*\"([^\"]+)\"", source))
    assert {"sls", "multipass", "shuffled_sls", "mixup", "split", "subsample"} <= purposes
    assert len({tuple(numbers(0, purpose)) for purpose in purposes}) == len(purposes)


def test_streams_never_change_between_versions():
    """Literal numbers: a change here changes every published run, so it must be a decision and not an accident."""
    assert numbers(0, "sls", 3, n=3) == [0.666864582836059, 0.5804026464663005, 0.023551504974205772]
    assert stream(7, "split").integers(1000, size=5).tolist() == [935, 531, 1, 924, 58]
    assert numbers(MAX_SEED, "mixup", MAX_SEED, 1, n=2) == [0.7728325463160258, 0.7566124301803063]
    assert torch_seed(0, "weights") == 6007383883543269288


def test_torch_seeds_fill_the_range_that_torch_takes():
    seeds = [torch_seed(seed, purpose) for seed in range(200) for purpose in ("weights", "other")]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert stats.kstest(np.array(seeds) / 2**63, "uniform").pvalue > 1e-3
