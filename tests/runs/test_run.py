"""A run from configuration to folder: what is in it, what it says, and that an interruption changes nothing."""

import json
import shutil

import numpy as np
import pytest
import torch
from lightning import Callback
from omegaconf import OmegaConf

from hardlabels.errors import InputError
from hardlabels.metrics import METRICS, score
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.checkpoint import load_checkpoint
from hardlabels.runs.training.progress import RunProgress
from hardlabels.votes import split_items

FILES = {
    "config.yaml", "fingerprint.json", "environment.json", "history.csv", "best.ckpt", "last.ckpt", "predictions.npz",
    "result.json", "done",
}  # fmt: skip


def test_the_folder_of_a_finished_run(make_config, run_cell, tmp_path):
    cfg = make_config("method=sls", "K=5", "seed=3", "recipe.epochs=3")
    folder = run_cell(cfg)

    assert folder == tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=5/seed=3"
    assert {file.name for file in folder.iterdir()} == FILES
    assert OmegaConf.load(folder / "config.yaml").recipe.epochs == 3
    identity = json.loads((folder / "fingerprint.json").read_text())
    assert len(identity["fingerprint"]) == len(identity["data"]) == 64
    [environment] = json.loads((folder / "environment.json").read_text())
    assert environment["packages"]["torch"] == torch.__version__.split("+")[0]

    history = RunDirectory(folder).read_history()
    assert [row["epoch"] for row in history] == [0, 1, 2]
    assert {f"evaluate/{name}" for name in METRICS} <= set(history[0])
    assert {f"evaluate/high_disagreement/{name}" for name in METRICS} <= set(history[0])

    result = json.loads((folder / "result.json").read_text())
    best = min(history, key=lambda row: row["evaluate/soft_nll"])
    assert result["best"]["epoch"] == best["epoch"]
    assert result["last"]["epoch"] == 2
    for when, row in (("best", best), ("last", history[-1])):
        for name in METRICS:  # computed again from the saved checkpoint, in float64, by other code
            assert result[when]["full"][name] == pytest.approx(row[f"evaluate/{name}"], abs=2e-5), (when, name)
        assert set(result[when]) == {"epoch", "full", "non_unanimous", "high_disagreement", "truth"}

    saved = np.load(folder / "predictions.npz", allow_pickle=False)
    assert saved["logits"].shape == saved["p"].shape == (24, 3)
    assert score(saved["logits"], saved["p"]) == result["best"]["full"]
    assert score(saved["logits_last"], saved["p"]) == result["last"]["full"]


def test_p_of_the_evaluation_items_is_never_thinned(make_config, run_cell, tiny_source):
    folder = run_cell(make_config("K=2"))
    saved = np.load(folder / "predictions.npz")
    np.testing.assert_array_equal(saved["p"], tiny_source.votes.p[saved["index"]])


class _StopInTheSecondEpoch(Callback):
    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt


class _StopInTheThirdEpoch(Callback):
    """Fails at the end of an epoch, before that epoch is kept: as a kill would."""

    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch == 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("method", ["soft", "sls", "multipass", "mixup"])
def test_an_interrupted_run_ends_bit_for_bit_as_the_whole_one(make_config, run_cell, monkeypatch, tmp_path, method, workers):
    cfg = make_config(f"method={method}", "K=4", "recipe.epochs=4", f"workers={workers}")
    whole = shutil.move(run_cell(cfg), tmp_path / "whole")

    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _StopInTheThirdEpoch)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run_cell(cfg)
    folder = tmp_path / "outputs/synthetic/smoke,tag=tiny" / method / "K=4/seed=0"
    assert load_checkpoint(folder / "last.ckpt")["epoch"] + 1 == 2
    assert not (folder / "done").exists()

    assert run_cell(cfg) == folder
    for name in ("best.ckpt", "last.ckpt"):
        ours, theirs = load_checkpoint(folder / name), load_checkpoint(whole / name)
        assert ours["state_dict"].keys() == theirs["state_dict"].keys()
        assert all(torch.equal(ours["state_dict"][key], theirs["state_dict"][key]) for key in ours["state_dict"])
    for name in ("history.csv", "result.json"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    ours, theirs = np.load(folder / "predictions.npz"), np.load(whole / "predictions.npz")
    assert all(np.array_equal(ours[key], theirs[key]) for key in theirs)
    assert len(json.loads((folder / "environment.json").read_text())) == 2


@pytest.mark.parametrize("optimizer", ["Adafactor", "NAdam", "ASGD"])
def test_a_run_is_resumed_whatever_its_optimizer_keeps(make_config, run_cell, monkeypatch, tmp_path, optimizer):
    """What an optimizer keeps of a weight need not have the weight's shape: Adafactor keeps a row and a column of it."""
    settings = f"recipe.optimizer={{_target_: torch.optim.{optimizer}, _partial_: true, lr: 0.01}}"
    cfg = make_config(settings, "~recipe.optimizer.momentum", "~recipe.optimizer.nesterov", "~recipe.optimizer.weight_decay")
    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _StopInTheSecondEpoch)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run_cell(cfg)
    folder = run_cell(cfg)
    resumed = shutil.move(folder, tmp_path / "resumed")
    assert len(json.loads((resumed / "environment.json").read_text())) == 2
    assert (resumed / "history.csv").read_bytes() == (run_cell(cfg) / "history.csv").read_bytes()


def test_a_run_that_died_after_its_last_epoch_only_writes_its_result(make_config, run_cell):
    folder = run_cell(make_config())
    expected = (folder / "result.json").read_bytes()
    for name in ("done", "result.json", "predictions.npz"):
        (folder / name).unlink()
    before = (folder / "last.ckpt").stat().st_mtime_ns
    run_cell(make_config())
    assert (folder / "result.json").read_bytes() == expected
    assert (folder / "last.ckpt").stat().st_mtime_ns == before


def test_the_bar_of_a_resumed_run_begins_with_the_best_value_before(make_config, run_cell, monkeypatch):
    began = []

    class Watched(RunProgress):
        def on_train_start(self, trainer, pl_module):
            super().on_train_start(trainer, pl_module)
            began.append((trainer.current_epoch, self.best))

    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _StopInTheThirdEpoch)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run_cell(make_config("recipe.epochs=4"))
        patch.setattr("hardlabels.runs.training.progress.RunProgress", Watched)
        folder = run_cell(make_config("recipe.epochs=4"))
    before = [row["evaluate/soft_nll"] for row in RunDirectory(folder).read_history()[:2]]
    assert began == [(2, min(before))]


def test_a_best_checkpoint_of_another_epoch_is_no_result(make_config, run_cell):
    """A kill between the two checkpoints, and a GPU that repeats the epoch with other last digits: then it may not be best."""
    folder = run_cell(make_config("recipe.epochs=3"))
    best = json.loads((folder / "result.json").read_text())["best"]["epoch"]
    checkpoint = torch.load(folder / "best.ckpt", weights_only=True)
    assert checkpoint["epoch"] == best
    torch.save({**checkpoint, "epoch": best + 1}, folder / "best.ckpt")
    (folder / "done").unlink()
    with pytest.raises(
        InputError, match=rf"best\.ckpt holds the network of epoch {best + 1}, and .* the best one is epoch {best}"
    ):
        run_cell(make_config("recipe.epochs=3"))
    assert not (folder / "done").exists()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_run_on_a_gpu_is_predicted_there(make_config, run_cell, monkeypatch):
    from hardlabels.runs.training import result

    devices, predict = [], result.predict

    def watched(network, *arguments, **settings):
        devices.append(next(network.parameters()).device.type)
        return predict(network, *arguments, **settings)

    monkeypatch.setattr(result, "predict", watched)
    run_cell(make_config("trainer.accelerator=gpu"))
    assert set(devices) == {"cuda"}


def test_methods_and_k_of_a_seed_start_from_the_same_weights(make_config, tiny_source):
    from hardlabels.runs.training.compose import make_network

    def weights(*overrides):
        return make_network(make_config(*overrides), tiny_source).state_dict()

    reference = weights("method=soft", "seed=5")
    for overrides in (["method=sls", "seed=5"], ["method=mixup", "seed=5", "K=3"]):
        torch.rand(7)  # whatever the global generator did before
        assert all(torch.equal(value, reference[key]) for key, value in weights(*overrides).items())
    assert not torch.equal(weights("seed=6")["conv1.weight"], reference["conv1.weight"])


def test_a_finished_run_is_skipped_and_another_configuration_refused(make_config, run_cell, capsys):
    folder = run_cell(make_config())
    stamp = (folder / "done").stat().st_mtime_ns
    capsys.readouterr()
    run_cell(make_config("logger=tensorboard", "workers=1"))  # how it runs is not what it is
    assert "finished already, skipped" in capsys.readouterr().out
    assert (folder / "done").stat().st_mtime_ns == stamp
    with pytest.raises(InputError, match=r"recipe\.epochs: 2 there, 3 now"):
        run_cell(make_config("recipe.epochs=3"))


def test_other_data_in_the_same_place_are_refused(make_config, run_cell):
    folder = run_cell(make_config())
    (folder / "done").unlink()
    with pytest.raises(InputError, match="the data's content"):
        run_cell(make_config("data.noise=0.2"))


def test_three_way_split_selects_on_the_middle_part(make_config, run_cell):
    folder = run_cell(make_config("recipe.split=three_way", "recipe.epochs=4"))
    history, result = RunDirectory(folder).read_history(), json.loads((folder / "result.json").read_text())
    assert result["best"]["epoch"] == min(history, key=lambda row: row["select/soft_nll"])["epoch"]
    best = history[result["best"]["epoch"]]
    assert result["best"]["full"]["soft_nll"] == pytest.approx(best["evaluate/soft_nll"], abs=2e-5)


def test_predictions_of_the_selection_items_are_kept_where_they_are_a_part_of_their_own(make_config, run_cell, tiny_source):
    folder = run_cell(make_config("recipe.split=three_way"))
    saved, directory = np.load(folder / "predictions.npz"), RunDirectory(folder)
    split = split_items(tiny_source.labels, seed=0, protocol="three_way")
    np.testing.assert_array_equal(saved["select_index"], split.select)
    np.testing.assert_array_equal(saved["select_p"], tiny_source.votes.p[split.select])
    history = directory.read_history()
    best = json.loads((folder / "result.json").read_text())["best"]["epoch"]
    for name, row in (("select_logits", history[best]), ("select_logits_last", history[-1])):
        assert score(saved[name], saved["select_p"])["soft_nll"] == pytest.approx(row["select/soft_nll"], abs=2e-5)

    paper = np.load(run_cell(make_config("recipe.split=paper", "run.tag=paper")) / "predictions.npz")
    # The selection items are the evaluation items.
    assert set(paper) == {"logits", "logits_last", "index", "p", "class_names"}


def test_compiling_changes_nothing_but_rounding(make_config, run_cell):
    plain = RunDirectory(run_cell(make_config("run.tag=plain"))).read_history()
    compiled = RunDirectory(run_cell(make_config("run.tag=compiled", "model.compile=aot_eager"))).read_history()
    for a, b in zip(plain, compiled, strict=True):
        assert a["train/loss"] == pytest.approx(b["train/loss"], rel=1e-3)


def test_bf16_mixed_trains_on_the_same_batches_at_lower_precision(make_config, run_cell):
    plain = RunDirectory(run_cell(make_config("run.tag=plain"))).read_history()
    mixed = RunDirectory(run_cell(make_config("run.tag=mixed", "trainer.precision=bf16-mixed"))).read_history()
    assert mixed[0]["train/loss"] == pytest.approx(plain[0]["train/loss"], rel=0.05)
    assert mixed[0]["train/loss"] != plain[0]["train/loss"]


def test_cells_of_one_process_load_the_data_once(make_config, run_cell):
    from hardlabels.runs.data import load_source

    load_source.cache_clear()
    for seed in range(3):
        run_cell(make_config(f"seed={seed}"))
    assert load_source.cache_info().misses == 1
