"""SLS: label frequencies, independence over epochs and items, and the hold."""

import numpy as np
import pytest
from scipy import stats

from hardlabels.delivery.sls import SLS, sls
from hardlabels.votes import Votes

ROWS = np.array([[6, 3, 1], [0, 5, 5], [0, 0, 9], [1, 1, 1], [40, 1, 9]])
EPOCHS = 6000


@pytest.fixture(scope="module", params=["votes", "probabilities"])
def votes(request):
    return Votes.from_counts(ROWS) if request.param == "votes" else Votes.from_probabilities(Votes.from_counts(ROWS).p)


@pytest.fixture(scope="module")
def labels(votes):
    return np.stack([sls(votes, seed=0, epoch=epoch) for epoch in range(EPOCHS)])


def contingency(a, b):
    table = np.zeros((3, 3))
    np.add.at(table, (a, b), 1)
    return stats.chi2_contingency(table[table.sum(1) > 0][:, table.sum(0) > 0]).pvalue


@pytest.mark.parametrize("i", range(len(ROWS)))
def test_label_frequencies_over_epochs_are_p(labels, i):
    observed, possible = np.bincount(labels[:, i], minlength=3), ROWS[i] > 0
    assert observed[possible].sum() == EPOCHS
    assert possible.sum() == 1 or stats.chisquare(observed[possible], EPOCHS * ROWS[i][possible] / ROWS[i].sum()).pvalue > 1e-3


def test_label_frequencies_over_seeds_are_p(votes):
    over_seeds = np.stack([sls(votes, seed=seed, epoch=7) for seed in range(3000)])
    for i in (0, 3):
        assert stats.chisquare(np.bincount(over_seeds[:, i]), 3000 * ROWS[i] / ROWS[i].sum()).pvalue > 1e-3


def test_epochs_and_items_are_independent(labels):
    assert contingency(labels[:-1, 0], labels[1:, 0]) > 1e-3
    assert contingency(labels[:-1, 3], labels[1:, 3]) > 1e-3
    assert contingency(labels[:, 0], labels[:, 3]) > 1e-3


def test_no_two_runs_share_an_epoch():
    """Epoch t of a seed is not epoch t - 1 of the next: means over seeds would be worth less than they look."""
    votes = Votes.from_counts(np.ones((64, 4), dtype=int))
    drawn = [tuple(sls(votes, seed=seed, epoch=epoch)) for seed in range(20) for epoch in range(20)]
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("hold", [1, 5, 10, 50])
def test_labels_are_held_and_then_redrawn(hold):
    votes = Votes.from_counts(np.ones((200, 10), dtype=int))
    delivery = SLS(votes, 0, hold=hold)
    epochs = np.stack([delivery(epoch) for epoch in range(4 * hold)])
    windows = epochs.reshape(4, hold, 200)
    assert (windows == windows[:, :1]).all()  # constant inside a window
    for one, other in zip(windows[:-1, 0], windows[1:, 0], strict=True):  # a tenth agree by chance across its edge
        assert abs((one == other).mean() - 0.1) < 4.5 * np.sqrt(0.09 / 200)
    np.testing.assert_array_equal(windows[3, 0], SLS(votes, 0)(3))  # window w of any hold is the draw w


def test_class_and_function_agree(votes):
    for epoch in range(6):
        np.testing.assert_array_equal(SLS(votes, 3, hold=2)(epoch), sls(votes, seed=3, epoch=epoch, hold=2))


def test_labels_never_change_between_versions():
    votes = Votes.from_counts([[2, 1, 0], [1, 1, 4], [0, 3, 3], [5, 0, 5]])
    assert sls(votes, seed=0, epoch=3).tolist() == [1, 2, 1, 0]
