"""A run that learned nothing does not look like a run: the prior beside every result, and a warning where it is no worse."""

import json

import numpy as np
import pytest

from hardlabels.metrics.prior import class_shares, score_prior
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import read_records
from hardlabels.runs.training.compose import make_datamodule
from hardlabels.runs.training.notices import doubts, few_steps

LEARNED = ["recipe.epochs=12", "data.items=300", "recipe.width=8", "data.noise=0.01", "method=soft", "run.tag=learned"]


@pytest.mark.parametrize("overrides", [["K=2", "seed=3"], ["method=repeated"], ["recipe.split=three_way"]], ids=" ".join)
def test_the_prior_is_the_mean_of_what_training_saw_on_every_slice(make_config, run_cell, tiny_source, overrides):
    cfg = make_config(*overrides)
    result = json.loads((run_cell(cfg) / "result.json").read_text())
    datamodule = make_datamodule(cfg, tiny_source)
    votes = tiny_source.votes if cfg.K is None else tiny_source.votes.subsample(cfg.K, cfg.seed)
    shares = votes.p[datamodule.split.train].mean(0)
    np.testing.assert_allclose(class_shares(datamodule.training_votes.p), shares)
    assert result["prior"].keys() == result["best"].keys() - {"epoch"}
    for view, (mask, target) in datamodule.views.items():
        items = datamodule.split.evaluate[mask[datamodule.split.evaluate]]
        expected = score_prior(shares, target[items])
        for name, value in result["prior"][view].items():
            assert value is None if np.isnan(expected[name]) else value == pytest.approx(expected[name])


def test_a_run_says_its_prior_and_what_is_doubtful(command, tiny, tmp_path):
    code, out, err = command(*tiny, "recipe.optimizer.lr=3", "run.tag=nothing")
    assert code == 0
    result = json.loads(next(tmp_path.glob("outputs/**/result.json")).read_text())
    assert f"prior {result['prior']['full']['soft_nll']:.4f}" in out
    assert "warning: sls K=all seed=0: no better than the class shares of the training votes" in err
    assert result["predicted_classes"]["best"] == 1
    assert "one class predicted for all items" in err


def test_a_run_that_learned_has_no_warning(command, tiny, tmp_path):
    code, out, err = command(*tiny, *LEARNED)
    assert code == 0
    assert "warning" not in out + err
    result = json.loads(next(tmp_path.glob("outputs/**/result.json")).read_text())
    assert result["best"]["full"]["soft_nll"] < result["prior"]["full"]["soft_nll"]
    predictions = np.load(next(tmp_path.glob("outputs/**/predictions.npz")))["logits"]
    assert result["predicted_classes"]["best"] == len(np.unique(predictions.argmax(1)))


def test_a_grid_has_the_prior_in_its_table_and_names_the_doubtful_cells(command, tiny, tmp_path):
    code, out, err = command("-m", *tiny, "recipe.optimizer.lr=1e-12", "method=soft,sls", "K=3", "seed=range(2)")
    assert code == 0
    [row] = [line for line in out.splitlines() if "prior" in line and "│" in line]
    results = [json.loads(file.read_text()) for file in tmp_path.glob("outputs/**/sls/**/result.json")]
    assert f"{np.mean([result['prior']['full']['soft_nll'] for result in results]):.4f}" in row
    assert "warning: 4 of 4 cells: no better than the class shares of the training votes: soft K=3 seed=0, " in err


def test_the_prior_is_in_the_records_and_in_the_main_tables(command, tiny, tmp_path):
    from hardlabels.reporting.tables import TABLES

    assert command("-m", *tiny, "method=soft,sls", "K=3,null", "seed=range(2)")[0] == 0
    records = read_records([tmp_path / "outputs"])
    prior = Quantity("soft_nll", "prior").column
    [mean] = {round(records.values(prior, method=method, K=np.inf).mean(), 12) for method in ("soft", "sls")}
    for number, column in {"2": "soft NLL ↓", "3": "soft NLL ↓", "1": "K = all"}.items():
        table = TABLES[number](records)
        assert table.rows[-2:] == ["prior", "oracle"]
        entry = table.cells["prior", column]
        assert (round(entry.mean, 12), entry.n, entry.best) == (mean, 2, False)
        assert table.cells["oracle", column].mean < mean  # the annotators' entropy
    assert TABLES["5"](records).cells["prior", "soft Brier ↓"].n == 2


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"best": {"epoch": 3, "full": {"soft_nll": 0.5, "hard_acc": 0.9}}}, []),
        ({"best": {"epoch": 3, "full": {"soft_nll": 1.1, "hard_acc": 0.9}}}, ["no better"]),
        ({"best": {"epoch": 3, "full": {"soft_nll": 1011.0, "hard_acc": 0.1}}}, ["no better"]),
        ({"best": {"epoch": 0, "full": {"soft_nll": 0.5, "hard_acc": 0.9}}}, ["first epoch"]),
        ({"best": {"epoch": 0, "full": {"soft_nll": 0.5, "hard_acc": 0.9}}, "last": {"epoch": 0}}, []),  # there is no other
        ({"best": {"epoch": 3, "full": {"soft_nll": 0.5, "hard_acc": 0.9}}, "predicted_classes": {"best": 1}}, ["one class"]),
        ({"best": {"epoch": 3, "full": {"soft_nll": 0.5, "hard_acc": 1.0}}, "predicted_classes": {"best": 1}}, []),  # rightly
    ],
)
def test_doubts(result, expected):
    found = doubts({"last": {"epoch": 9}, "prior": {"full": {"soft_nll": 1.1}}, **result})
    assert len(found) == len(expected)
    assert all(word in line for word, line in zip(expected, found, strict=True))


def test_a_result_of_an_earlier_version_gives_no_doubt_about_its_prior():
    assert doubts({"best": {"epoch": 3, "full": {"soft_nll": 9.0, "hard_acc": 0.1}}, "last": {"epoch": 9}}) == []


def test_few_steps_are_said_once_at_the_start_with_what_to_set(command, tiny):
    code, out, _ = command("-m", *tiny, "recipe.batch_size=128", "seed=range(2)")
    assert code == 0
    line = (
        "few steps: 96 training examples at recipe.batch_size=128 are 1 an epoch, 2 in all; recipe.batch_size=8 gives 12 an epoch"
    )
    assert out.count(line) == 1


@pytest.mark.parametrize("examples", [1, 5, 17, 46, 100, 400])
@pytest.mark.parametrize("batch_size", [1, 4, 32, 128])
def test_the_advice_on_few_steps_gives_more(examples, batch_size):
    line, steps = few_steps(examples, batch_size, epochs=3), -(-examples // batch_size)
    assert (line is None) == (steps >= 5)
    if line is not None and "gives" in line:
        assert int(line.split(" gives ")[1].split()[0]) > steps
