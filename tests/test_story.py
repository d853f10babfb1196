"""One item, from its votes to a cell of table 1. Read this first: it walks through the whole package."""

import json

import numpy as np
import torch
from torch.nn import functional as F

from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.sls import SLS
from hardlabels.delivery.soft import Soft
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.reporting.grid_summary import draw_table, prepare_summary, read_results
from hardlabels.reporting.number_formats import mean_and_sd
from hardlabels.reporting.tables import TABLES
from hardlabels.runs.records import read_records
from hardlabels.votes import Votes


def test_from_votes_to_the_loss():
    # Five annotators looked at one image: three said cat (0), two said dog (1), none said frog (2).
    votes = Votes.from_counts([[3, 2, 0]])
    assert votes.p.tolist() == [[0.6, 0.4, 0.0]]
    assert votes.majority.tolist() == [0]

    # Soft labels: every epoch shows the distribution itself.
    assert Soft(votes, seed=0)(epoch=0).round(4).tolist() == [[np.float32(0.6).round(4), np.float32(0.4).round(4), 0.0]]
    # Multipass: five epochs show the five votes, each once.
    multipass = Multipass(votes, seed=0)
    assert sorted(int(multipass(epoch)[0]) for epoch in range(5)) == [0, 0, 0, 1, 1]
    # SLS: every epoch shows one label drawn from the distribution; over many epochs it is the distribution.
    sls = SLS(votes, seed=0)
    shares = np.bincount([int(sls(epoch)[0]) for epoch in range(5000)], minlength=3) / 5000
    np.testing.assert_allclose(shares, [0.6, 0.4, 0.0], atol=0.02)

    # The loss takes both forms. Over a multipass cycle the mean hard loss is exactly the soft loss.
    logits = torch.tensor([[1.0, 0.5, -1.0]], dtype=torch.float64)
    soft = F.cross_entropy(logits, torch.from_numpy(votes.p))
    hard = torch.stack([F.cross_entropy(logits, torch.from_numpy(multipass(epoch))) for epoch in range(5)])
    torch.testing.assert_close(hard.mean(), soft)


def test_from_a_source_to_a_cell_of_table_1(make_config, run_cell, tiny_source):
    # The item's votes sit in a source, beside its image.
    item = int(DeliveryDataModule(tiny_source, Soft, seed=1).split.evaluate[0])
    assert tiny_source.votes.counts[item].sum() == 9

    # Two runs of one method, two seeds: each leaves a folder.
    folders = [run_cell(make_config("method=multipass", "K=5", f"seed={seed}")) for seed in (1, 2)]

    # The item was evaluated by seed 1: its prediction is in the folder, beside its full distribution, never thinned to K.
    saved = np.load(folders[0] / "predictions.npz")
    [row] = np.flatnonzero(saved["index"] == item)
    np.testing.assert_array_equal(saved["p"][row], tiny_source.votes.p[item])

    # Its part in the run's score, by hand: minus the sum of p log q.
    log_q = torch.log_softmax(torch.from_numpy(saved["logits"]).double(), 1).numpy()
    losses = -(saved["p"] * log_q).sum(1)
    scores = [json.loads((folder / "result.json").read_text())["best"]["full"]["soft_nll"] for folder in folders]
    assert np.isclose(scores[0], losses.mean())

    # The table that ends the grid: mean and SD over the two seeds.
    summary = prepare_summary(read_results(folders))
    assert summary.index.tolist() == [("multipass", 5)]
    cell = summary.loc[("multipass", 5), "soft_nll"]
    assert np.isclose(cell["mean"], np.mean(scores))
    assert np.isclose(cell["std"], np.std(scores, ddof=1))
    table = draw_table(summary, "story")
    assert list(table.columns[3].cells) == [mean_and_sd(np.mean(scores), np.std(scores, ddof=1))]

    # And the report: the folders as one table of records, from which table 1 is made, soft NLL by method and K.
    records = read_records([folders[0].parents[4]])
    cell = TABLES["1"](records).cells["multipass", "K = 5"]
    assert (cell.n, cell.text) == (2, None)
    assert np.isclose(cell.mean, np.mean(scores))
    assert np.isclose(cell.sd, np.std(scores, ddof=1))
