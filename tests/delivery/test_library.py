"""``from hardlabels import Votes, deliver``: every method by its name, numpy only, mistakes named."""

import importlib
import re
import subprocess
import sys

import numpy as np
import pytest

from hardlabels import InputError, Votes, deliver
from hardlabels.configuration import CONF
from hardlabels.delivery import methods
from hardlabels.delivery.base import FEWEST_VOTES
from hardlabels.delivery.multipass import Multipass, multipass
from hardlabels.delivery.sls import sls

VOTES = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.5, 0.3, 0.2], size=50))


def test_it_is_the_method_of_the_command():
    labels = deliver(VOTES, "sls", seed=3, hold=5)
    for epoch in (0, 4, 5, 99):
        np.testing.assert_array_equal(labels(epoch), sls(VOTES, seed=3, epoch=epoch, hold=5))
    control = deliver(VOTES, "deterministic_control", seed=3)  # a yaml of its own, no module
    np.testing.assert_array_equal(control(7), Multipass(VOTES, 3, seed_offset=1000)(7))


@pytest.mark.parametrize("method", ["soft", "sls", "multipass", "deterministic_control", "stratified_sls"])
def test_a_single_vote_is_what_every_delivery_shows(method):
    one = VOTES.subsample(FEWEST_VOTES - 1, seed=4)
    for epoch in range(3):
        shown = deliver(one, method, seed=4)(epoch)
        np.testing.assert_array_equal(shown.argmax(1) if shown.ndim == 2 else shown, one.majority)
    two = VOTES.subsample(FEWEST_VOTES, seed=4)  # and two votes can differ
    assert any((deliver(two, "sls", seed=4)(epoch) != two.majority).any() for epoch in range(5))


def test_every_yaml_is_a_method():
    assert list(methods()) == sorted(path.stem for path in (CONF / "method").glob("*.yaml"))
    for name in methods():
        if name == "dawid_skene":
            with pytest.raises(InputError, match="DawidSkene needs to know who voted"):
                deliver(VOTES, name, seed=0)
        else:
            assert len(deliver(VOTES, name, seed=0)(2)) == (450 if name == "repeated" else 50)


@pytest.mark.parametrize("method", ["sls", "multipass", "shuffled_sls", "mixup"])
def test_a_seed_of_numpy_is_that_number(method):
    for seed in np.arange(2):
        assert np.array_equal(deliver(VOTES, method, seed=seed)(1), deliver(VOTES, method, seed=int(seed))(1))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"method": "slss"}, r"'slss' is no method: expected one of .*multipass, .*sls, soft"),
        ({"method": None}, "None is no method: expected one of"),
        ({"method": "sls", "holdd": 5}, "'holdd' is no setting of 'sls': expected hold"),
        ({"method": "soft", "hold": 5}, "'hold' is no setting of 'soft': expected none"),
        ({"method": "mixup", "_target_": "os.system"}, "'_target_' is no setting of 'mixup': expected alpha, targets"),
        ({"method": "sls", "hold": 0}, r"method\.hold must be a whole number .*got 0"),
        ({"method": "sls", "seed": -1}, r"seed must be an integer 0 \.\. 4294967295, got -1"),
        ({"method": "soft", "seed": 1.5}, "seed must be an integer .*got 1.5"),
        ({"method": "soft", "seed": True}, "seed must be an integer .*got True"),
        ({"method": "soft", "votes": VOTES.counts}, r"deliver needs Votes, got ndarray: .*Votes\.from_counts"),
        ({"method": "multipass", "votes": Votes.from_probabilities(VOTES.p)}, "Multipass .*only probabilities"),
    ],
    ids=str,
)
def test_mistakes_are_named(arguments, named):
    arguments = {"votes": VOTES, "seed": 0, **arguments}
    with pytest.raises(InputError, match=named):
        deliver(arguments.pop("votes"), arguments.pop("method"), **arguments)


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("multipass", "Multipass shows observed votes one by one"),
        ("deterministic_control", "Multipass shows observed votes one by one"),
        ("repeated", "Repeated shows every observed vote as an example of its own"),
        ("dawid_skene", "DawidSkene fits a model of the annotators"),
    ],
)
def test_a_method_that_needs_votes_says_what_it_does_with_them_and_where_to_get_some(method, said):
    """For a command and for Python: ``deliver`` has no K, but votes can be drawn from probabilities."""
    bare = Votes.from_probabilities(VOTES.p)
    with pytest.raises(InputError, match=said) as refused:
        deliver(bare, method, seed=0)
    drawn = bare.subsample(5, seed=0)
    if method == "dawid_skene":
        assert "Votes.from_labels(..., annotators=...)" in str(refused.value)
        with pytest.raises(InputError, match="who voted"):  # so the message does not send there
            deliver(drawn, method, seed=0)
    else:
        assert "K=..." in str(refused.value)
        assert "votes.subsample(K, seed=...)" in str(refused.value)
        assert len(deliver(drawn, method, seed=0)(0)) in (len(VOTES), 5 * len(VOTES))


NO_EPOCHS = [-1, np.int64(-3), 1.0, np.float64(2), float("nan"), "1", None, True, np.True_, [1], 2**32, np.uint64(2**40)]


def voted():
    """A delivery of every method there is a yaml for."""
    who = [f"w{worker}" for _ in range(50) for worker in range(9)]
    votes = Votes.from_labels(VOTES.labels, VOTES.offsets, VOTES.num_classes, annotators=who)
    for method in methods():
        if method != "dawid_skene" or importlib.util.find_spec("crowdkit") is not None:
            yield deliver(votes, method, seed=0)


@pytest.mark.parametrize("epoch", NO_EPOCHS, ids=repr)
def test_what_is_no_epoch_is_refused_by_all_methods_in_the_same_words(epoch):
    message = f"epoch must be a whole number 0 .. 4294967295, got {epoch!r}"
    calls = [call for labels in voted() for call in (labels, lambda e, labels=labels: labels.mix([], [], epoch=e, step=0))]
    for call in (*calls, lambda e: sls(VOTES, seed=0, epoch=e), lambda e: multipass(VOTES, seed=0, epoch=e)):
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            call(epoch)


def test_numpys_whole_numbers_are_epochs_too():
    for labels in voted():
        for epoch in (np.int64(3), np.uint8(3), np.array(3)[()]):
            np.testing.assert_array_equal(labels(epoch), labels(3))
        assert len(labels(2**32 - 1)) == len(labels(0))


def test_it_needs_numpy_and_scipy_only():
    """In a process of its own: a data scientist without torch, or in a hurry, can use it."""
    code = (
        "import sys; from hardlabels import Votes, deliver\n"
        "votes = Votes.from_counts([[3, 2], [0, 5]])\n"
        "for method in ('soft', 'sls', 'multipass', 'stratified_sls', 'repeated'): deliver(votes, method, seed=0)(3)\n"
        "print(sorted({'torch', 'lightning', 'pandas', 'hydra', 'omegaconf', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
