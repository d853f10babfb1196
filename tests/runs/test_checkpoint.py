"""``best.ckpt`` and ``last.ckpt`` as Lightning's own checkpoints: opened without anything of a run beside them."""

import shutil

import numpy as np
import pytest
import torch

from hardlabels.errors import InputError
from hardlabels.learning.module import Classifier
from hardlabels.metrics.temperature import fit_temperature
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.training.checkpoint import PREFIX, load_checkpoint, save_checkpoint


@pytest.fixture
def folder(make_config, run_cell, tmp_path):
    """A finished run whose selection items are its own, moved away from its outputs: only its checkpoints are looked at."""
    return shutil.move(run_cell(make_config("K=5", "recipe.epochs=3", "recipe.split=three_way")), tmp_path / "moved")


def test_lightning_opens_them_and_they_predict_what_the_run_predicted(folder, tiny_source):
    saved = np.load(folder / "predictions.npz")
    for name, logits in (("best", saved["logits"]), ("last", saved["logits_last"])):
        model = Classifier.load_from_checkpoint(folder / f"{name}.ckpt", weights_only=True).eval()
        about = model.hparams.preprocessing
        pixels = torch.from_numpy(tiny_source.inputs[saved["index"]]).float() / 255
        scaled = (pixels - torch.tensor(about["mean"])) / torch.tensor(about["std"])
        with torch.no_grad():
            np.testing.assert_allclose(model(scaled.permute(0, 3, 1, 2)).numpy(), logits, rtol=1e-4, atol=1e-5)


def test_they_carry_class_names_preprocessing_and_what_the_run_was(folder, tiny_source):
    about = Classifier.load_from_checkpoint(folder / "best.ckpt").hparams
    assert tuple(about.class_names) == tiny_source.class_names
    expected = {"items": "images", "takes": "images", "shape": [12, 12, 3], "encoder": None}
    assert expected.items() <= about.preprocessing.items()
    assert about.network["_target_"] == "hardlabels.learning.resnet.ResNet18"
    assert (about.trained_as["method"], about.trained_as["K"], about.trained_as["seed"]) == ("sls", 5, 0)
    assert len(about.trained_as["fingerprint"]) == 64


def test_the_best_one_has_the_temperature_of_the_selection_items(folder):
    saved, about = np.load(folder / "predictions.npz"), Classifier.load_from_checkpoint(folder / "best.ckpt").hparams
    assert about.temperature == fit_temperature(saved["select_logits"], saved["select_p"])
    assert about.temperature_from == "select"
    assert Classifier.load_from_checkpoint(folder / "last.ckpt").hparams.temperature is None


def test_without_selection_items_the_checkpoint_says_that_the_temperature_saw_the_evaluation_items(make_config, run_cell):
    folder = run_cell(make_config("recipe.split=paper"))
    saved, about = np.load(folder / "predictions.npz"), Classifier.load_from_checkpoint(folder / "best.ckpt").hparams
    assert about.temperature == fit_temperature(saved["logits"], saved["p"])
    assert about.temperature_from == "evaluate"


def test_a_checkpoint_cannot_name_code_that_is_no_network(folder):
    checkpoint = load_checkpoint(folder / "best.ckpt")
    checkpoint["hyper_parameters"]["network"] = {"_target_": "os.system", "command": "false"}
    save_checkpoint(folder / "best.ckpt", checkpoint)
    with pytest.raises(InputError, match="standard library"):
        Classifier.load_from_checkpoint(folder / "best.ckpt")


def test_the_scale_of_long_vectors_is_kept_as_tensors_and_read_as_the_same_numbers(tmp_path):
    """Pickled number by number they would take longer than the weights; checkpoints that have lists are read too."""
    mean = np.random.default_rng(0).standard_normal(1536).tolist()
    carried = {"preprocessing": {"items": "vectors", "mean": mean, "std": [0.1] * 1536}, "class_names": ["a", "b"]}
    save_checkpoint(tmp_path / "packed.ckpt", {"state_dict": {}, "hyper_parameters": carried})
    torch.save({"state_dict": {}, "hyper_parameters": carried}, tmp_path / "lists.ckpt")
    stored = torch.load(tmp_path / "packed.ckpt", weights_only=True)["hyper_parameters"]["preprocessing"]
    assert isinstance(stored["mean"], torch.Tensor)
    for name in ("packed", "lists"):
        assert load_checkpoint(tmp_path / f"{name}.ckpt")["hyper_parameters"] == carried
    network = {"_target_": "hardlabels.learning.mlp.MLP", "num_classes": 2, "in_features": 3, "width": 1}
    assert Classifier(network, preprocessing=stored).hparams.preprocessing == carried["preprocessing"]


def test_checkpoints_of_the_first_version_are_read_and_resumed(make_config, run_cell, tmp_path):
    """Weights, optimizer, epochs and steps under names of our own, as the runs of earlier studies have them."""
    cfg = make_config("recipe.epochs=4")
    whole = shutil.copytree(run_cell(cfg), tmp_path / "whole")
    folder = run_cell(cfg)
    now = {name: load_checkpoint(folder / f"{name}.ckpt") for name in ("best", "last")}
    weights = {name: {key.removeprefix(PREFIX): value for key, value in now[name]["state_dict"].items()} for name in now}
    torch.save({"network": weights["best"], "epoch": now["best"]["epoch"]}, folder / "best.ckpt")
    last = {"network": weights["last"], "optimizer": now["last"]["optimizer_states"][0]}
    torch.save({**last, "epochs": 4, "steps": now["last"]["global_step"]}, folder / "last.ckpt")

    network = FinishedRun.open(folder).network("last")
    assert all(torch.equal(value, weights["last"][key]) for key, value in network.state_dict().items())
    (folder / "done").unlink()
    assert run_cell(cfg) == folder
    assert (folder / "result.json").read_bytes() == (whole / "result.json").read_bytes()
