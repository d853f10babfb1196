"""Dawid-Skene: crowd-kit's posterior in the order of our items and classes; who voted must be known, crowd-kit installed."""

import importlib
import sys
from types import ModuleType

import numpy as np
import pytest

from hardlabels.delivery.dawid_skene import DawidSkene, dawid_skene
from hardlabels.errors import InputError
from hardlabels.votes import Votes

INSTALLED = importlib.util.find_spec("crowdkit") is not None


def crowd(items=60, workers=8, classes=4, never=3, seed=0):
    """Two good annotators, the rest guess; class ``never`` gets no vote. (votes, truth)."""
    rng = np.random.default_rng(seed)
    possible = [c for c in range(classes) if c != never]
    truth = rng.choice(possible, size=items)
    said = np.where(np.arange(workers) < 2, truth[:, None], rng.choice(possible, size=(items, workers)))
    who = [f"w{w}" for _ in range(items) for w in range(workers)]
    return Votes.from_labels(said.ravel(), np.arange(items + 1) * workers, classes, annotators=who), truth


@pytest.fixture
def stub(monkeypatch):
    """A crowd-kit whose 'posterior' is the share of votes, in shuffled rows and columns: what we do around it is ours to test."""
    import pandas as pd

    calls = []

    class Model:
        def __init__(self, n_iter, tol):
            calls.append({"n_iter": n_iter, "tol": tol})

        def fit_predict_proba(self, table):
            calls[-1]["table"] = table
            shares = pd.crosstab(table["task"], table["label"], normalize="index")
            return shares.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=0)

    package, module = ModuleType("crowdkit"), ModuleType("crowdkit.aggregation")
    module.DawidSkene = Model
    monkeypatch.setitem(sys.modules, "crowdkit", package)
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", module)
    return calls


def test_rows_and_columns_come_back_in_our_order(stub):
    votes, _ = crowd()
    targets = DawidSkene(votes, 0, iterations=7, tolerance=0.5)(3)
    assert targets.dtype == np.float32
    np.testing.assert_allclose(targets, votes.p, atol=1e-6)
    assert (targets[:, 3] == 0).all()  # nobody voted for it
    assert (stub[0]["n_iter"], stub[0]["tol"]) == (7, 0.5)
    table = stub[0]["table"]
    assert table["label"].tolist() == votes.labels.tolist()
    assert table["worker"].tolist() == votes.annotators.tolist()
    assert table["task"].tolist() == np.repeat(np.arange(60), 8).tolist()


def test_only_the_votes_it_is_given_count(stub):
    """The DataModule gives it those of the training items: who voted there, and nothing of the others."""
    votes, _ = crowd()
    DawidSkene(votes.take([5, 3]), 0)
    assert len(stub[0]["table"]) == 16
    assert stub[0]["table"]["worker"].tolist() == votes.annotators.reshape(60, 8)[[5, 3]].ravel().tolist()
    with pytest.raises(InputError, match="who voted"):
        DawidSkene(votes.subsample(3, seed=0), 0)  # drawn, by nobody


def test_votes_of_nobody_are_refused_with_the_way_out():
    with pytest.raises(InputError, match=r"DawidSkene needs to know who voted.*table of task, worker and label.*K="):
        DawidSkene(Votes.from_counts([[2, 1]]), 0)
    with pytest.raises(InputError, match=r"DawidSkene fits a model of the annotators .*only probabilities.*annotators=\.\.\."):
        DawidSkene(Votes.from_probabilities([[0.5, 0.5]]), 0)


@pytest.mark.skipif(INSTALLED, reason="crowd-kit is installed")
def test_without_crowd_kit_it_says_what_to_install():
    with pytest.raises(InputError, match=r"DawidSkene needs crowd-kit: pip install 'hardlabels\[crowd\]'"):
        DawidSkene(crowd()[0], 0)


def test_settings_are_refused_by_name():
    for settings, named in (({"iterations": 0}, r"method\.iterations"), ({"tolerance": -1.0}, r"method\.tolerance")):
        with pytest.raises(InputError, match=named):
            DawidSkene(crowd()[0], 0, **settings)


def test_the_real_posterior_believes_the_annotators_who_are_right():
    pytest.importorskip("crowdkit", reason="crowd-kit is not installed (what is around it is tested with a stub)")
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Theirs

    votes, truth = crowd()
    ours = dawid_skene(votes)
    assert (ours.argmax(1) == truth).mean() > (votes.majority == truth).mean()
    table = pd.DataFrame({"task": np.repeat(np.arange(60), 8), "worker": votes.annotators, "label": votes.labels})
    theirs = Theirs(n_iter=100).fit_predict_proba(table.sample(frac=1, random_state=0))
    for task in range(60):
        for label in range(3):
            assert ours[task, label] == pytest.approx(theirs.loc[task, label], abs=1e-3)
