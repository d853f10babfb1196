"""What holds for every method there is a yaml for, found by glob: a new one is tested by being there."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from hardlabels.delivery import Delivery
from hardlabels.errors import InputError
from hardlabels.votes import Votes

METHODS = {path.stem: OmegaConf.load(path) for path in sorted((Path(__file__).parents[2] / "conf/method").glob("*.yaml"))}
if importlib.util.find_spec("crowdkit") is None:
    del METHODS["dawid_skene"]  # needs pip install 'hardlabels[crowd]'
EIGHT = {"soft", "sls", "multipass", "deterministic_control", "shuffled_sls", "majority", "label_smoothing", "mixup"}
N, C = 60, 4


def build(name, votes, seed=0):
    settings = {key: value for key, value in METHODS[name].items() if key not in ("_target_", "_partial_", "delivery")}
    return get_class(METHODS[name].delivery)(votes, seed, **settings)


def examples(delivery):
    """How many targets an epoch has: one an item, unless the method says otherwise."""
    return len(delivery.votes) if delivery.items is None else len(delivery.items)


@pytest.fixture(scope="module")
def votes():
    """Ragged: 1 to 12 votes per item, some unanimous, some tied; it is known who voted, since a method may ask."""
    rng = np.random.default_rng(0)
    return named(Votes.from_counts([rng.multinomial(1 + i % 12, rng.dirichlet(np.full(C, 0.5))) for i in range(N)]))


def named(plain):
    """The same votes, the first one of every item by the same annotator, and so on."""
    workers = [f"w{worker}" for size in plain.sizes for worker in range(size)]
    return Votes.from_labels(plain.labels, plain.offsets, C, annotators=workers)


def test_the_eight_methods_are_there():
    assert set(METHODS) >= EIGHT


@pytest.mark.parametrize("name", METHODS)
def test_an_epoch_has_n_targets_that_the_loss_takes(name, votes):
    delivery = build(name, votes)
    assert isinstance(delivery, Delivery)
    forms = set()
    for epoch in (0, 1, 2, 3, 11, 12, 199, 10**6):
        targets = delivery(epoch)
        assert len(targets) == examples(delivery)
        forms.add((targets.dtype, targets.shape))
        if targets.ndim == 1:
            assert targets.dtype == np.int64
            assert targets.min() >= 0
            assert targets.max() < C
        else:
            assert targets.dtype == np.float32
            assert targets.shape == (examples(delivery), C)
            assert targets.min() >= 0
            np.testing.assert_allclose(targets.sum(1, dtype=np.float64), 1, atol=1e-6)
    assert len(forms) == 1
    assert (delivery.items is None) == (name != "repeated")
    assert delivery.items is None or set(delivery.items.tolist()) == set(range(N))  # no item is left out


@pytest.mark.parametrize("name", METHODS)
def test_it_is_a_pure_function_of_votes_seed_and_epoch(name, votes):
    state = np.random.get_state()[1].copy()
    forward = {epoch: build(name, votes)(epoch) for epoch in range(8)}  # every epoch from a new object, as after a resume
    delivery = build(name, votes)
    for epoch in (7, 0, 3, 3, 5, 1, 0, 7, 2, 6, 4):
        np.testing.assert_array_equal(delivery(epoch), forward[epoch])
    assert (np.random.get_state()[1] == state).all()  # the global generator is left alone


@pytest.mark.parametrize("name", METHODS)
def test_writing_into_the_targets_reaches_no_other_epoch(name, votes):
    delivery = build(name, votes)
    before, p, majority = delivery(2).copy(), votes.p.copy(), votes.majority.copy()
    delivery(2)[...] = 0
    np.testing.assert_array_equal(delivery(2), before)
    np.testing.assert_array_equal(votes.p, p)
    np.testing.assert_array_equal(votes.majority, majority)


@pytest.mark.parametrize("name", sorted(EIGHT))
def test_the_seed_matters_where_something_is_drawn(name, votes):
    one, other = ([build(name, votes, seed)(epoch).tolist() for epoch in range(4)] for seed in (0, 1))
    drawn = name in ("sls", "multipass", "deterministic_control", "shuffled_sls")
    assert (one != other) == drawn
    assert (one[0] != one[1]) == drawn  # and epochs differ in just these


@pytest.mark.parametrize("name", METHODS)
def test_unanimous_items_show_their_label_in_every_epoch(name):
    votes = named(Votes.from_counts(np.eye(C, dtype=int)[[2] * 30] * 7))
    for epoch in range(10):
        targets = build(name, votes)(epoch)
        assert ((targets if targets.ndim == 1 else targets.argmax(1)) == 2).all()


@pytest.mark.parametrize("name", METHODS)
def test_k_votes_and_a_single_item(name, votes):
    if name == "dawid_skene":
        with pytest.raises(InputError, match="DawidSkene needs to know who voted"):  # a subsample draws votes of nobody
            build(name, votes.subsample(5, seed=0))
        return
    for few, n in ((votes.subsample(5, seed=0), N), (Votes.from_counts([[1, 1, 0, 2]]), 1), (Votes.from_counts([[4], [1]]), 2)):
        assert len(build(name, few)(3)) == (n if name != "repeated" else few.sizes.sum())


@pytest.mark.parametrize("name", METHODS)
def test_probabilities_will_do_or_are_refused_by_name(name, votes):
    bare = Votes.from_probabilities(votes.p)
    kind = get_class(METHODS[name].delivery)
    if kind.needs_votes:
        with pytest.raises(InputError, match=rf"{kind.__name__} .*only probabilities.*K="):
            build(name, bare)
        if name != "dawid_skene":
            assert len(build(name, bare.subsample(5, seed=0))(0)) in (N, 5 * N)  # the way out that the message names
    else:
        assert len(build(name, bare)(0)) == N
    assert kind.needs_votes == (name in ("multipass", "deterministic_control")) or name not in EIGHT


@pytest.mark.parametrize("name", METHODS)
def test_only_mixup_touches_the_batch(name, votes):
    delivery = build(name, votes)
    inputs, targets = np.random.default_rng(0).random((examples(delivery), 3)), delivery(0)
    mixed = delivery.mix(inputs, targets, epoch=0, step=0)
    if name == "mixup":
        assert not np.array_equal(mixed[0], inputs)
    elif name in EIGHT:
        assert mixed[0] is inputs
        assert mixed[1] is targets


@pytest.mark.parametrize(
    ("name", "setting", "value", "named"),
    [
        ("sls", "hold", 0, "method.hold must be .*at least 1, got 0"),
        ("sls", "hold", -5, "method.hold .*got -5"),
        ("sls", "hold", 2.5, "method.hold must be a whole number .*got 2.5"),
        ("sls", "hold", "five", "method.hold must be a whole number .*got five"),
        ("shuffled_sls", "hold", 0, "method.hold .*got 0"),
        ("label_smoothing", "smoothing", 2, r"method.smoothing must be in \[0, 1\], got 2"),
        ("label_smoothing", "smoothing", -0.1, "method.smoothing .*got -0.1"),
        ("label_smoothing", "smoothing", float("nan"), "method.smoothing .*got nan"),
        ("mixup", "alpha", 0, "method.alpha must be .*greater than 0, got 0"),
        ("mixup", "alpha", -1.0, "method.alpha .*got -1"),
        ("mixup", "alpha", float("inf"), "method.alpha must be a finite .*got inf"),
        ("mixup", "targets", "hard", "method.targets must be majority or soft, got hard"),
        ("multipass", "seed_offset", -1, "method.seed_offset .*at least 0, got -1"),
        ("deterministic_control", "seed_offset", 0.5, "method.seed_offset must be an integer.*got 0.5"),
    ],
)
def test_settings_are_refused_by_name_before_the_first_epoch(votes, name, setting, value, named):
    with pytest.raises(InputError, match=named):
        get_class(METHODS[name].delivery)(votes, 0, **{setting: value})


@pytest.mark.parametrize("name", METHODS)
def test_an_unknown_setting_is_an_error(name, votes):
    with pytest.raises(TypeError, match="holdd"):
        get_class(METHODS[name].delivery)(votes, 0, holdd=5)
