"""Exports are run by their own runtimes and agree with our predictions."""

import json

import numpy as np
import pytest
import torch

from hardlabels.export import main
from hardlabels.inference import Predictor
from hardlabels.inference.pipeline import Fit
from hardlabels.learning.encoders.preprocess import Preprocessing, fit


def items_of(name, trained):
    if name == "rows":
        return np.load(trained / "features.npy")
    return np.random.default_rng(0).integers(0, 256, (7, 12, 12, 3), dtype=np.uint8)


@pytest.mark.parametrize("name", ["rows", "pictures"])
def test_onnx_is_what_we_predict(name, rows, pictures, trained, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    folder = rows / "seed=0" if name == "rows" else pictures
    main([str(folder), "--to", "onnx", "--out", str(tmp_path / "m.onnx")])
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    items = items_of(name, trained)
    np.testing.assert_allclose(session.run(None, {"items": items})[0], Predictor.open(folder)(items), atol=1e-5)
    facts = session.get_modelmeta().custom_metadata_map
    assert json.loads(facts["class_names"]) == ["class 0", "class 1", "class 2"]
    assert json.loads(facts["preprocessing"])["items"] == ("vectors" if name == "rows" else "images")


@pytest.mark.parametrize("name", ["rows", "pictures"])
def test_torchscript_is_what_we_predict(name, rows, pictures, trained, tmp_path):
    folder = rows / "seed=0" if name == "rows" else pictures
    main([str(folder), "--to", "torchscript", "--out", str(tmp_path / "m.pt"), "--calibrated"])
    items = items_of(name, trained)
    found = torch.jit.load(str(tmp_path / "m.pt"))(torch.from_numpy(items)).detach().numpy()
    np.testing.assert_allclose(found, Predictor.open(folder, calibrated=True)(items), atol=1e-5)


def test_safetensors_hold_the_weights_and_what_builds_the_network(rows, tmp_path):
    from safetensors import safe_open

    main([str(rows / "seed=0"), "--to", "safetensors", "--out", str(tmp_path / "m.safetensors")])
    with safe_open(tmp_path / "m.safetensors", "pt") as file:
        facts = {name: json.loads(text) for name, text in file.metadata().items()}
        assert "fc.weight" in set(file.keys())
    assert facts["network"]["_target_"] == "hardlabels.learning.mlp.MLP"
    assert facts["class_names"] == ["class 0", "class 1", "class 2"]
    assert facts["temperature"] > 0


@pytest.mark.parametrize(("height", "width"), [(12, 12), (20, 31), (90, 70)])
@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
def test_resizing_as_two_products_is_resizing(height, width, interpolation):
    form = Preprocessing(32, 40, (0.0,) * 3, (1.0,) * 3, interpolation)
    images = torch.from_numpy(np.random.default_rng(0).random((2, 3, height, width), dtype=np.float32))
    torch.testing.assert_close(Fit(height, width, form)(images), fit(images, form), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{tmp}/nothing", "--to", "onnx"], "expected a run's folder, found nothing"),
        (["{tmp}", "--to", "onnx"], "expected a run's folder with its best.ckpt, found none"),
        (["{rows}/seed=0", "--to", "onnx", "--out", "{tmp}/m.pt"], "expected a file that ends in .onnx"),
        (
            ["{rows}/seed=0", "--to", "torchscript", "--checkpoint", "last", "--calibrated", "--out", "{tmp}/m.pt"],
            "has no temperature",
        ),
        (
            ["{rows}/seed=0", "--to", "safetensors", "--calibrated", "--out", "{tmp}/m.safetensors"],
            "--calibrated is for onnx and torchscript",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(rows, tmp_path, capsys, words, said):
    with pytest.raises(SystemExit) as stop:
        main([word.format(rows=rows, tmp=tmp_path) for word in words])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert said in error.replace("\n", " ")
    assert not list(tmp_path.iterdir())
