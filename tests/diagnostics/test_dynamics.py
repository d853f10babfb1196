"""Training dynamics: milestones of histories written by hand, and of real ones."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hardlabels.diagnostics.dynamics import dynamics, milestones
from hardlabels.errors import InputError


def brute_force(loss, within):
    best = min(loss)
    near = [epoch for epoch, value in enumerate(loss) if value <= best * (1 + within)]
    return best, loss.index(best), near[0], loss[-1] - best


@pytest.mark.parametrize("within", [0.0, 0.05, 0.5])
def test_milestones_are_those_of_a_plain_search(within):
    rng = np.random.default_rng(0)
    for _ in range(50):
        loss = rng.choice([1.0, 1.04, 1.06, 1.2, 1.6, 2.0], size=12)  # with ties
        found = milestones(np.arange(12), loss, within)
        names = ("best", "best_epoch", "near_best_epoch", "overfit")
        assert tuple(found[name] for name in names) == pytest.approx(brute_force(loss.tolist(), within))
        assert found["near_best_epoch"] <= found["best_epoch"] <= found["last_epoch"] == 11


def test_exactly_five_percent_above_the_best_is_near():
    assert milestones(np.arange(3), np.array([2.0, 1.05, 1.0]), 0.05)["near_best_epoch"] == 1
    assert milestones(np.arange(3), np.array([2.0, 1.0500001, 1.0]), 0.05)["near_best_epoch"] == 2


def test_epochs_keep_the_numbers_of_the_history():
    found = milestones(np.array([5, 6, 7]), np.array([1.0, 0.5, 0.7]), 0.05)
    assert (found["best_epoch"], found["last_epoch"]) == (6, 7)


def test_diverged_epochs_are_passed_over():
    found = milestones(np.arange(4), np.array([np.nan, 0.8, 0.9, np.inf]), 0.05)
    assert (found["best_epoch"], found["near_best_epoch"], found["last_epoch"]) == (1, 1, 3)
    assert found["overfit"] == math.inf
    assert set(milestones(np.arange(2), np.array([np.nan, np.nan]), 0.05).values()) == {None}


@pytest.mark.parametrize("split", ["paper", "three_way"])
def test_the_best_epoch_is_that_of_the_checkpoint(finished, split):
    run = finished("sls", 0, "recipe.epochs=4", f"recipe.split={split}", f"run.tag={split}")
    values = dict(dynamics(run, within=0.05, device="cpu"))
    part = {"paper": "evaluate", "three_way": "select"}[split]
    assert values["monitor"] == f"{part}/soft_nll"
    assert values["full/best_epoch"] == run.result["best"]["epoch"]
    assert values["full/last_epoch"] == run.result["last"]["epoch"] == 3
    assert values["full/curve"] == [row[f"{part}/soft_nll"] for row in run.history]
    assert values["high_disagreement/best"] == min(row[f"{part}/high_disagreement/soft_nll"] for row in run.history)
    if split == "paper":
        assert values["full/best"] == pytest.approx(run.result["best"]["full"]["soft_nll"], abs=1e-4)
        assert values["full/overfit"] == pytest.approx(run.result["last"]["full"]["soft_nll"] - values["full/best"], abs=1e-4)


def test_a_missing_history_and_a_negative_share_are_refused(finished):
    empty = SimpleNamespace(history=[], directory=SimpleNamespace(history="there/history.csv"))
    with pytest.raises(InputError, match=r"history.csv is not there"):
        list(dynamics(empty, within=0.05, device="cpu"))
    with pytest.raises(InputError, match="within"):
        list(dynamics(finished("sls"), within=-0.1, device="cpu"))


def test_the_probe_leaves_the_run_as_it_was_and_needs_its_history_only(finished, contents, device):
    run = finished("sls")
    before = contents(run)
    assert dict(dynamics(run, within=0.05, device=device))
    assert contents(run) == before
    bare = SimpleNamespace(history=run.history)
    assert dict(dynamics(bare, within=0.05, device=device))["full/best_epoch"] == run.result["best"]["epoch"]
