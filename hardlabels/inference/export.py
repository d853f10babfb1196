"""A trained run for other runtimes: ONNX, TorchScript, safetensors. Each is run once and held against our own predictions."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import softmax

from hardlabels.errors import InputError
from hardlabels.inference.model import Predictor, TrainedModel
from hardlabels.inference.pipeline import Pipeline
from hardlabels.learning.networks import reopen_network
from hardlabels.randomness import stream
from hardlabels.runs.writing import write_atomically

EXTRA = "pip install 'hardlabels[export]'"
ENDINGS = {"onnx": ".onnx", "torchscript": ".pt", "safetensors": ".safetensors"}
CLOSE = 1e-4
"""The largest difference of a probability that rounding may make."""
CHECKED = 5  # items on which an export is run; not the number that it was traced with, so that the batch is seen to be free


def export(model: TrainedModel, to: str, path: Path, *, calibrated: bool = False) -> float:
    """Write the network in another format, run what was written, and return the largest difference to our own probabilities.

    Args:
        model: the trained network.
        to: ``onnx``, ``torchscript`` or ``safetensors``. The first two hold the preprocessing and the image encoder, take items
            as they come from a file (bytes of images, vectors) and give probabilities. The last holds the weights, with all that
            is needed to build the network as JSON in its header.
        path: the file.
        calibrated: logits are divided by the temperature; not for ``safetensors``, whose header has it.

    Raises:
        InputError: a format that cannot hold this network or apply its temperature, a package that is missing, or an export that
            predicts otherwise.
    """
    if to not in ENDINGS:
        raise InputError(f"--to must be one of {', '.join(ENDINGS)}, got {to!r}")
    if calibrated and to == "safetensors":
        raise InputError(
            "--calibrated is for onnx and torchscript: safetensors holds the weights, with the temperature beside them"
        )
    writers: dict[str, Callable[[TrainedModel, Path, bool], Callable[[np.ndarray], np.ndarray]]] = {
        "onnx": _onnx,
        "torchscript": _torchscript,
        "safetensors": _safetensors,
    }
    run = writers[to](model, path, calibrated)
    items = _examples(model, CHECKED)
    expected = _expected(model, items, calibrated)
    difference = float(np.abs(run(items) - expected).max())
    if not difference <= CLOSE:
        path.unlink(missing_ok=True)
        raise InputError(
            f"{path}: the {to} export differs by {difference:.2g} from our own probabilities, more than {CLOSE:g}; removed"
        )
    return difference


def describe(model: TrainedModel) -> dict[str, str]:
    """What travels with an export, as texts: class names, network, preprocessing, temperature."""
    how = model.preparation
    facts: dict[str, Any] = {
        "class_names": list(model.class_names),
        "network": model.settings,
        "preprocessing": {
            "items": how.items, "shape": list(how.shape), "takes": how.takes, "mean": list(how.mean), "std": list(how.std),
            "encoder": how.encoder, "fit": how.fit, "crop": how.crop,
        },
        "temperature": model.temperature,
    }  # fmt: skip
    return {name: json.dumps(value) for name, value in facts.items()}


def _examples(model: TrainedModel, n: int) -> np.ndarray:
    """(n, ...) made-up items: bytes of images, numbers about the mean of each feature, or ids of tokens."""
    how, rng = model.preparation, stream(0, "export")
    if how.items == "images":
        return rng.integers(0, 256, size=(n, *how.shape), dtype=np.uint8)
    if how.takes == "tokens":
        return rng.integers(5, 100, size=(n, *how.shape, 8), dtype=np.int32)
    return (np.array(how.mean) + np.array(how.std) * rng.standard_normal((n, len(how.mean)))).astype(np.float32)


def _expected(model: TrainedModel, items: np.ndarray, calibrated: bool) -> np.ndarray:
    if model.preparation.items == "texts":  # the features of its sentence encoder
        return softmax(model.logits(items) / (model.temperature if calibrated and model.temperature else 1.0), axis=1)
    return Predictor([model], calibrated=calibrated)(items)


def _onnx(model: TrainedModel, path: Path, calibrated: bool) -> Callable[[np.ndarray], np.ndarray]:
    try:
        import onnx  # noqa: PLC0415
        import onnxruntime  # noqa: PLC0415
        import onnxscript  # noqa: F401, PLC0415 - torch's exporter asks for it
    except ImportError as error:
        raise InputError(f"--to onnx needs the export extra: {EXTRA}") from error
    example = torch.from_numpy(_examples(model, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            Pipeline(model, calibrated=calibrated).eval(),
            (example,),
            input_names=["items"],
            output_names=["probabilities"],
            dynamic_shapes={"items": {0: torch.export.Dim("batch")}},
            dynamo=True,
            verbose=False,
        )
    proto = program.model_proto  # type: ignore[union-attr]
    onnx.helper.set_model_props(proto, describe(model))
    onnx.checker.check_model(proto)
    write_atomically(path, lambda file: file.write(proto.SerializeToString()))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return lambda items: session.run(None, {"items": items})[0]


def _torchscript(model: TrainedModel, path: Path, calibrated: bool) -> Callable[[np.ndarray], np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls TorchScript old; people still load it from C++
        traced = torch.jit.trace(Pipeline(model, calibrated=calibrated).eval(), torch.from_numpy(_examples(model, 2)))
        buffer = traced.save_to_buffer(_extra_files={f"{name}.json": text for name, text in describe(model).items()})
        write_atomically(path, lambda file: file.write(buffer))
        loaded = torch.jit.load(str(path))
    return lambda items: _run(loaded, items)


def _safetensors(model: TrainedModel, path: Path, calibrated: bool) -> Callable[[np.ndarray], np.ndarray]:
    try:
        from safetensors.torch import load_file, save  # noqa: PLC0415
    except ImportError as error:
        raise InputError(f"--to safetensors needs the export extra: {EXTRA}") from error
    weights = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in model.network.state_dict().items()}
    write_atomically(path, lambda file: file.write(save(weights, metadata=describe(model))))
    network = reopen_network(model.settings, model.preparation.encoder)
    network.load_state_dict(load_file(path))
    again = TrainedModel(path, network.eval(), model.settings, model.class_names, model.preparation, model.temperature)
    return lambda items: _expected(again, items, calibrated)


@torch.inference_mode()
def _run(module: Any, items: np.ndarray) -> np.ndarray:
    return module(torch.from_numpy(items)).numpy()
