"""The ood probe: what is compared with what, what is refused, and a full pass over the real sets."""

import inspect
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from scipy.special import logsumexp, softmax
from sklearn.metrics import roc_auc_score

from hardlabels.configuration import CONF
from hardlabels.diagnostics import ood as module
from hardlabels.diagnostics.detectors import DETECTORS
from hardlabels.diagnostics.driver import run_probes
from hardlabels.diagnostics.leaks import copies, refuse_copies, refuse_overlap
from hardlabels.diagnostics.ood import SETS, check_before_runs, forward, ood
from hardlabels.diagnostics.probe import Probe
from hardlabels.errors import InputError
from hardlabels.runs.finished import FinishedRun
from hardlabels.sources.cifar10h import batch_images, cifar10h, unpickle
from hardlabels.sources.outliers import FILES, Outliers, noise
from hardlabels.votes import Split

real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")
SCORES = ("auroc", "aupr", "fpr95")
ARRAYS = ("histogram_edges", "histogram_in", "histogram_out", "roc_fpr", "roc_tpr")


def values(run: FinishedRun, **settings) -> dict:
    return dict(ood(run, **{"sets": ["noise"], **settings}))


def with_split(run: FinishedRun, **parts) -> FinishedRun:
    """The same run, as if its split were another one."""
    split = run.split
    run.__dict__["split"] = Split(**{"train": split.train, "select": split.select, "evaluate": split.evaluate, **parts})
    return run


def test_every_detector_yields_its_scores_and_its_picture(finished, device):
    found = values(finished(), device=device)
    assert set(found) == {"in_distribution", "sets"} | {
        f"noise/{detector}/{quantity}" for detector in DETECTORS for quantity in (*SCORES, *ARRAYS)
    }
    n = len(finished().split.evaluate)
    assert found["in_distribution"] == {"items": n, "of": n}
    assert found["sets"] == {"noise": {"items": n, "of": n, "content": "uniform noise"}}
    for detector in DETECTORS:
        assert all(0 <= found[f"noise/{detector}/{score}"] <= 1 for score in SCORES)
        assert found[f"noise/{detector}/histogram_in"].sum() == found[f"noise/{detector}/histogram_out"].sum() == n
        assert len(found[f"noise/{detector}/roc_fpr"]) <= 200


def test_the_energy_auroc_is_that_of_the_saved_predictions(finished):
    """In-distribution logits from predictions.npz, outlier logits from the network, energy from scipy, AUROC from sklearn."""
    run = finished()
    images = torch.from_numpy(noise(len(run.split.evaluate), (12, 12, 3)).images).double() / 255
    inputs = ((images - torch.tensor(run.source.mean)) / torch.tensor(run.source.std)).permute(0, 3, 1, 2).float()
    with torch.no_grad():
        outside = run.network()(inputs).numpy().astype(np.float64)
    inside = run.predictions["logits"].astype(np.float64)
    scores = -logsumexp(np.concatenate([inside, outside]), axis=1)
    expected = roc_auc_score([0] * len(inside) + [1] * len(outside), scores)
    assert values(run, detectors=["energy"])["noise/energy/auroc"] == pytest.approx(expected, abs=2e-3)  # float32 may swap a pair


def test_one_pass_gives_the_networks_own_logits(finished):
    run = finished()
    features, logits = forward(run.network(), run.source.inputs[run.split.evaluate], run.source, "cpu")
    np.testing.assert_allclose(logits, run.predictions["logits"], atol=1e-5)
    weight, bias = run.network().fc.weight.detach().double(), run.network().fc.bias.detach().double()
    np.testing.assert_allclose(features @ weight.T + bias, logits, atol=1e-4)
    assert features.dtype == logits.dtype == torch.float64


def test_in_distribution_are_the_evaluation_items_and_knn_is_fit_on_the_training_items(finished, monkeypatch):
    run, seen = finished(), []
    plain = module.forward

    def watched(network, images, *rest):
        seen.append(images)
        return plain(network, images, *rest)

    monkeypatch.setattr(module, "forward", watched)
    values(run)
    train, inside, outside = seen
    np.testing.assert_array_equal(train, run.source.inputs[run.split.train])
    np.testing.assert_array_equal(inside, run.source.inputs[run.split.evaluate])
    assert not len(copies(outside, run.source.inputs))


def test_images_with_a_border_that_the_network_is_not_shown_have_the_scores_of_those_without(finished):
    """``data.crop``: outside of training a network is shown the middle window, and the outliers are of that size."""
    run = finished()
    plain = values(run)
    border = np.random.default_rng(0).integers(0, 256, size=(len(run.source), 20, 20, 3), dtype=np.uint8)
    border[:, 4:16, 4:16] = run.source.inputs
    run.__dict__["source"] = run.__dict__["prepared"] = replace(run.source, inputs=border, crop=12)
    cropped = values(run)
    assert cropped.keys() == plain.keys()
    assert all(np.array_equal(cropped[name], plain[name]) for name in plain)


def test_a_probe_changes_nothing(finished, contents):
    run = finished()
    before = contents(run)
    values(run)
    assert contents(run) == before


def test_the_same_call_gives_the_same_values(finished):
    first, second = values(finished()), values(finished())
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_settings_count(finished):
    plain = values(finished())
    odin = values(finished(), odin_temperature=1.0, odin_epsilon=0.2)
    assert odin["noise/odin/auroc"] != plain["noise/odin/auroc"]
    assert odin["noise/knn/auroc"] == plain["noise/knn/auroc"]
    far = values(finished(), knn_k=200)
    assert not np.array_equal(far["noise/knn/histogram_edges"], plain["noise/knn/histogram_edges"])
    with pytest.raises(InputError, match="checkpoint must be best or last"):
        values(finished(), checkpoint="middle")


def test_a_subset_is_recorded_and_the_same_for_both_methods_of_a_seed(finished, monkeypatch):
    seen = []
    plain = module.outlier_scores
    monkeypatch.setattr(
        module, "outlier_scores", lambda network, images, *a, **k: (seen.append(images), plain(network, images, *a, **k))[1]
    )
    for method in ("sls", "soft"):
        found = values(finished(method), max_items=20, detectors=["msp"])
        assert found["sets"]["noise"]["items"] == found["in_distribution"]["items"] == 20
        assert found["noise/msp/histogram_in"].sum() == 20
    sls_in, sls_out, soft_in, soft_out = seen
    np.testing.assert_array_equal(sls_in, soft_in)
    np.testing.assert_array_equal(sls_out, soft_out)
    with pytest.raises(InputError, match="at least 1"):
        values(finished(), max_items=0)


# ---- what is refused ----


def test_an_in_distribution_item_that_was_trained_on_is_refused(finished):
    run = finished()
    leaking = with_split(run, train=np.sort(np.append(run.split.train, run.split.evaluate[7])))
    with pytest.raises(InputError, match=f"must not be training items, but 1 of .* first: item {run.split.evaluate[7]}"):
        values(leaking)


def test_training_items_as_in_distribution_are_refused(finished):
    run = finished()
    with pytest.raises(InputError, match="must not be training items"):
        values(with_split(run, evaluate=run.split.train[:10]))


def test_another_split_than_the_one_the_run_was_trained_with_is_refused(finished):
    run = finished()
    with pytest.raises(InputError, match=r"is not the one that predictions\.npz was written for"):
        values(with_split(run, evaluate=run.split.evaluate[1:]))


def test_overlap_is_counted():
    refuse_overlap(np.array([5, 1]), np.array([0, 2]))
    with pytest.raises(InputError, match="2 of 3 are; first: item 1"):
        refuse_overlap(np.array([5, 1, 3]), np.array([3, 1, 9]))


def test_an_outlier_that_is_an_image_of_the_data_is_refused_by_its_position_in_the_file(tiny_source):
    images = noise(6, tiny_source.inputs.shape[1:]).images
    outliers = Outliers("toy", images, np.arange(10, 16), "made")
    refuse_copies(outliers, tiny_source)
    images[4] = tiny_source.inputs[77]
    with pytest.raises(InputError, match=r"images of toy are images of synthetic.*: 1, the first is image 14, item 77"):
        refuse_copies(outliers, tiny_source)
    images[4, 0, 0, 0] ^= 1  # one bit is enough
    refuse_copies(outliers, tiny_source)


def test_images_of_another_shape_are_refused(finished, monkeypatch):
    big = Outliers("svhn", noise(5, (32, 32, 3)).images, np.arange(5), "made")
    monkeypatch.setattr(module, "_read", lambda *_: {"svhn": big})
    with pytest.raises(
        InputError, match=r"needs 32x32x3 inputs for the set svhn, but the images of synthetic are 12x12x3: ood.sets="
    ):
        values(finished(), sets=["svhn"])


class Untouchable:
    """A run that must not be looked at yet."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked for")


@pytest.mark.parametrize(("settings", "message"), [
    ({"sets": ["svhn", "cifar100"]}, r"svhn/test_32x32\.mat[\s\S]*cifar-100-python/test[\s\S]*ood\.sets=\[noise\]"),
    ({"sets": ["mars"]}, "ood.sets must be some of svhn, cifar100, noise, each once, got"),
    ({"sets": ["noise", "noise"]}, "each once"),
    ({"sets": []}, "sets must be some of"),
    ({"detectors": ["maxlogit"]}, "detectors must be some of energy, msp, odin, entropy, logit_margin, knn"),
    ({"sets": ["svhn"], "files": {"svhn_file": "mine"}}, "svhn_file must be one of official, recrop"),
    ({"files": {"rot": "x"}}, "ood.files has the keys root, svhn_file, timeout, svhn, cifar100; got rot"),
])  # fmt: skip
def test_bad_settings_and_missing_files_are_one_error_before_a_run_is_touched(tmp_path, settings, message):
    nowhere = {"files": {"root": str(tmp_path), "svhn": [], "cifar100": []}}
    with pytest.raises(InputError, match=message):
        values(Untouchable(), **{**nowhere, **settings})
    complete = {"sets": ["noise"], "detectors": list(DETECTORS), "knn_k": 50, **nowhere, **settings}
    with pytest.raises(InputError, match=message):
        check_before_runs(**complete)


def test_files_are_read_once_for_all_runs(finished, monkeypatch):
    calls = []

    def counted(names, root, **_):
        calls.append(root)
        return {name: Outliers(name, noise(5, (12, 12, 3)).images, np.arange(5), "made") for name in names}

    module._read_once.cache_clear()
    monkeypatch.setattr(module, "outlier_sets", counted)
    for method in ("sls", "soft"):
        assert values(finished(method), sets=["svhn"], detectors=["msp"], files={"root": "x"})["sets"]["svhn"]["items"] == 5
    assert calls == ["x"]
    module._read_once.cache_clear()


# ---- the configuration and the driver ----


def test_the_yaml_has_every_setting_with_the_functions_default():
    given = OmegaConf.to_container(OmegaConf.load(CONF / "diagnostic" / "ood.yaml"), resolve=True)
    defaults = {name: argument.default for name, argument in inspect.signature(ood).parameters.items()}
    settings = {key: value for key, value in given.items() if key not in ("name", "_target_", "over", "needs", "before", "files")}
    assert set(settings) == set(defaults) - {"run", "device", "files"}
    for name, value in settings.items():
        assert value == (list(defaults[name]) if isinstance(defaults[name], tuple) else defaults[name]), name
    assert set(given["files"]) == {"root", "svhn_file", "timeout", *FILES}
    assert set(given["sets"]) < set(SETS)


def test_the_driver_writes_values_and_arrays_beside_the_run(finished, tmp_path):
    run = finished("soft", 3, "run.tag=driven")
    probe = Probe.from_config(OmegaConf.merge(OmegaConf.load(CONF / "diagnostic" / "ood.yaml"), {"sets": ["noise"]}))
    tally = run_probes([probe], {run.cell: run.path}, tmp_path, device="cpu")
    assert (tally.computed, tally.failed) == (1, [])
    saved = json.loads((run.path / "diagnostics" / f"{probe.name}.json").read_text())
    assert saved["settings"]["odin_formula"] == "liang2018"
    assert saved["settings"]["knn_k"] == 50
    assert "files" not in saved["settings"]
    assert saved["values"]["noise/knn/auroc"] == values(run)["noise/knn/auroc"]
    with np.load(run.path / "diagnostics" / f"{probe.name}.npz") as arrays:
        assert set(arrays) == set(saved["arrays"]) == {f"noise/{d}/{array}" for d in DETECTORS for array in ARRAYS}


# ---- real data ----


@real_data
def test_without_dropping_it_the_one_shared_image_would_be_found():
    source = cifar10h(url="", votes_url="")
    images = batch_images(unpickle((Path(os.environ["HARDLABELS_DATA"]) / "cifar-100-python" / "test").read_bytes()))
    assert copies(images, source.inputs).tolist() == [[2203, 9345]]
    with pytest.raises(InputError, match=r"images of cifar10h.*: 1, the first is image 2203, item 9345"):
        refuse_copies(Outliers("cifar100", images, np.arange(len(images)), "made"), source)


@real_data
def test_a_full_pass_over_both_real_sets(tmp_path):
    """All 26,032 + 9,999 images, with a network that has learnt next to nothing: half a minute, most of it ODIN's gradient."""
    from hardlabels.train import train

    overrides = ["data=cifar10h", "recipe=smoke", "recipe.width=2", "recipe.epochs=1", "recipe.train_items=256", "run.tag=tiny"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        folder = train(compose("train", [*overrides, f"outputs={tmp_path}", "trainer.accelerator=cpu"]))
    content = (Path(os.environ["HARDLABELS_DATA"]) / "svhn" / "test_32x32.mat").stat().st_size
    version = "official" if content == 64_275_384 else "recrop"
    run = FinishedRun.open(folder)
    found = dict(ood(run, files={"svhn_file": version}))
    assert found["in_distribution"] == {"items": 2000, "of": 2000}
    assert {name: entry["items"] for name, entry in found["sets"].items()} == {"svhn": 26_032, "cifar100": 9_999}
    for name, entry in found["sets"].items():
        for detector in DETECTORS:
            assert found[f"{name}/{detector}/histogram_out"].sum() == entry["items"]
            assert 0.3 < found[f"{name}/{detector}/auroc"] < 0.9
    # The same number by another way: plain normalisation, one pass, softmax in float64, scikit-learn.
    root = Path(os.environ["HARDLABELS_DATA"])
    images = np.delete(batch_images(unpickle((root / "cifar-100-python" / "test").read_bytes())), 2203, axis=0)
    pixels = (images / np.float32(255) - np.float32(run.source.mean)) / np.float32(run.source.std)
    with torch.no_grad():
        parts = [run.network()(part).double() for part in torch.from_numpy(pixels).permute(0, 3, 1, 2).split(500)]
    outside, inside = torch.cat(parts).softmax(1).amax(1), softmax(run.predictions["logits"].astype(np.float64), axis=1).max(1)
    expected = roc_auc_score([0] * 2000 + [1] * 9_999, -np.concatenate([inside, outside]))
    assert found["cifar100/msp/auroc"] == pytest.approx(expected, abs=1e-4)
