"""A run whose numbers are no longer numbers fails: one line, exit code 1, no result; the rest of a grid goes on."""

import json
import math
import re

import numpy as np
import pytest

from hardlabels.metrics import METRICS
from hardlabels.reporting.grid_summary import read_results
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.records import read_records
from hardlabels.runs.training.checkpoint import load_checkpoint
from hardlabels.runs.training.divergence import DivergenceError, check_finite

FOLDER = "outputs/synthetic/smoke,tag=tiny/sls/K=all/seed=0"


def test_a_learning_rate_of_1e8_is_one_line_and_code_1_and_again_when_repeated(command, tiny, tmp_path):
    for _ in range(2):
        code, out, err = command(*tiny, "recipe.optimizer.lr=1e8")
        assert code == 1, out + err
        assert len(err.splitlines()) == 1
        assert re.match(
            r"error: sls K=all seed=0: diverged in epoch \d at learning rate \S+: \S+ is (nan|inf) \(.*\); try a ", err
        )
        assert "soft NLL" not in out
        folder = tmp_path / FOLDER
        assert not any((folder / name).exists() for name in ("done", "result.json", "predictions.npz"))
        assert (folder / "error.txt").read_text().strip() in err


def test_a_grid_goes_on_and_lists_it(command, tiny, tmp_path):
    code, out, err = command("-m", *tiny, "recipe.optimizer.lr=1e8,0.1", "run.tag='lr${recipe.optimizer.lr}'")
    assert code == 1
    assert "1 of 2 cells did not finish" in err
    assert "diverged in epoch" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert len(list(tmp_path.glob("outputs/**/done"))) == 1
    assert "mean ± SD over seeds" in out


class _BreaksInEpoch2:
    """Makes the training loss of one epoch infinite, after two good ones."""

    def __init__(self, module):
        self.original = module.on_train_epoch_end

    def __call__(self, classifier):
        self.original(classifier)
        if classifier.current_epoch == 2:
            classifier.epoch_metrics["train/loss"] = math.inf


def test_the_last_good_epoch_is_kept_and_a_repeated_command_ends_at_the_same_epoch(make_config, run_cell, monkeypatch, tmp_path):
    from hardlabels.learning.module import Classifier

    breaks = _BreaksInEpoch2(Classifier)
    cfg, folder = make_config("recipe.epochs=4"), tmp_path / FOLDER
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(Classifier, "on_train_epoch_end", lambda module: breaks(module))
            with pytest.raises(
                DivergenceError, match=r"epoch 2 at learning rate 0\.05: train/loss is inf \(\d\.\d+ in epoch 1\)"
            ):
                run_cell(cfg)
        assert load_checkpoint(folder / "last.ckpt")["epoch"] + 1 == 2
        assert len(RunDirectory(folder).read_history()) == 2
    assert (run_cell(cfg) / "done").is_file()  # the fault was elsewhere, and is gone
    assert not (folder / "error.txt").exists()


def test_a_checkpoint_that_an_earlier_version_kept_of_a_diverged_run_is_not_trained_on(make_config, run_cell, tmp_path):
    folder = run_cell(make_config("recipe.epochs=3"))
    (folder / "done").unlink()
    history = RunDirectory(folder).read_history()
    history[1] |= {"evaluate/soft_nll": math.nan}
    RunDirectory(folder).write_history(history)
    before = (folder / "last.ckpt").stat().st_mtime_ns
    with pytest.raises(DivergenceError, match=r"diverged in epoch 1 .*evaluate/soft_nll is nan \(1\.\d+ in epoch 0\)"):
        run_cell(make_config("recipe.epochs=3"))
    assert (folder / "last.ckpt").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["evaluate/ent_corr", "evaluate/high_disagreement/soft_nll", "evaluate/truth/soft_nll"])
def test_what_may_be_undefined_does_not_end_a_run(name):
    check_finite({"epoch": 0, "lr": 0.1, "train/loss": 1.0, "evaluate/soft_nll": 1.0, name: math.nan}, [])


@pytest.mark.parametrize("name", ["train/loss", "evaluate/soft_nll", "select/soft_nll"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_must_be_finite_does(name, value):
    with pytest.raises(DivergenceError, match=name):
        check_finite(
            {"epoch": 0, "lr": 0.1, "train/loss": 1.0, "evaluate/soft_nll": 1.0, "select/soft_nll": 1.0, name: value}, []
        )


def test_unanimous_votes_have_no_entropy_correlation_and_are_trained_on(make_config, run_cell):
    overrides = ["data.ambiguous=0.0", "data.skill=1.0", "run.tag=unanimous"]
    result = json.loads((run_cell(make_config(*overrides)) / "result.json").read_text())
    assert result["best"]["full"]["ent_corr"] is None
    assert result["best"]["full"]["soft_nll"] > 0


@pytest.fixture
def diverged(make_config, run_cell):
    """A finished folder as earlier versions left it behind."""
    folder = run_cell(make_config())
    result = json.loads((folder / "result.json").read_text())
    for checkpoint in ("best", "last"):
        result[checkpoint]["full"] = dict.fromkeys(METRICS)
    del result["prior"]
    (folder / "result.json").write_text(json.dumps(result))
    return folder


def test_a_folder_that_an_earlier_version_finished_with_null_is_failed_by_name(diverged, command, tiny, tmp_path):
    code, out, err = command(*tiny)
    assert code == 1
    assert "skipped" not in out
    assert err.startswith("error: sls K=all seed=0: diverged: soft NLL of the best checkpoint (epoch ")
    assert str(diverged.relative_to(tmp_path)) in err

    code, out, err = command("-m", *tiny, "seed=0,1")
    assert code == 1
    assert "grid of 2 cells, 0 finished already" in out
    assert "1 of 2 cells did not finish" in err

    assert read_results([diverged]).empty
    records = read_records([tmp_path / "outputs"])
    assert [path for path, _ in records.unfinished] == [diverged]
    assert records.unfinished[0][1].startswith("failed: diverged: ")
    assert set(records.table["seed"]) == {1}


def test_logits_that_are_no_numbers_are_no_result(make_config, run_cell, monkeypatch, tmp_path):
    from hardlabels.runs.training import result

    monkeypatch.setattr(result, "predict", lambda *arguments, **settings: np.full((24, 3), -np.inf))
    with pytest.raises(DivergenceError, match="logits that are no finite numbers, for 24 of 24 items"):
        run_cell(make_config())
    assert not (tmp_path / FOLDER / "done").exists()
