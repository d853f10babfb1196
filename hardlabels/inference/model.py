"""A trained network, opened from its run's folder; one, or the mean over the seeds of a method."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import nn

from hardlabels.errors import InputError
from hardlabels.inference.prepare import KINDS, Preparation
from hardlabels.learning.augment import normalise
from hardlabels.learning.devices import usable_device
from hardlabels.learning.networks import network_class, reopen_network
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.quantity import CHECKPOINTS
from hardlabels.runs.reading import read_settings
from hardlabels.runs.training.checkpoint import CARRIED, load_checkpoint, network_state

BATCH = 64


@dataclass(frozen=True)
class TrainedModel:
    """One trained network with all that it takes to use it.

    Attributes:
        path: its checkpoint.
        network: in eval mode; what the items are prepared to, in, logits (B, C) out.
        settings: ``_target_`` and constructor arguments of the network.
        class_names: in the order of the logits.
        preparation: from an item to what the network takes.
        temperature: by which logits are divided to fit the annotators best; None where none was fitted.
    """

    path: Path
    network: nn.Module
    settings: dict[str, Any]
    class_names: tuple[str, ...]
    preparation: Preparation
    temperature: float | None

    @torch.inference_mode()
    def logits(self, prepared: np.ndarray) -> np.ndarray:
        """(n, C) float64 logits of items that :meth:`Preparation.apply` gave."""
        device = next(self.network.parameters()).device
        mean, std = (torch.tensor(values, device=device) for values in (self.preparation.mean, self.preparation.std))
        batches = torch.from_numpy(np.ascontiguousarray(prepared)).split(BATCH)
        found = [self.network(normalise(batch.to(device), mean, std)).float().cpu() for batch in batches]
        return torch.cat(found).numpy().astype(np.float64)


def open_model(
    folder: str | Path, checkpoint: str = "best", device: str = "cpu", *, weights: str | Path | None = None
) -> TrainedModel:
    """The network of a run's ``best.ckpt`` or ``last.ckpt``; the data of the run are not needed.

    Args:
        folder: of the run.
        checkpoint: ``best`` or ``last``.
        device: where the network shall be.
        weights: where the file of the frozen encoder's weights is now; None looks where the run had it.

    Raises:
        InputError: no finished run, a checkpoint that is damaged or of an earlier version, an encoder that is not the same, or
            weights for a network that needs none.
    """
    if checkpoint not in CHECKPOINTS:
        raise InputError(f"the checkpoint must be {' or '.join(CHECKPOINTS)}, got {checkpoint!r}")
    run = RunDirectory(Path(folder))
    path = run.best if checkpoint == "best" else run.last
    if not path.is_file():
        raise InputError(
            f"{folder}: expected a run's folder with its {path.name}, found none (a committed record has no checkpoints)"
        )
    carried = load_checkpoint(path).get(CARRIED)
    if not isinstance(carried, dict) or not isinstance(carried.get("preprocessing"), dict):
        raise InputError(
            f"{path} is of an earlier version, which did not keep how items were prepared: remove {path.parent} to train it again"
        )
    settings, names = carried.get("network"), carried.get("class_names")
    known = isinstance(names, list) and len(names) > 1 and all(isinstance(name, str) for name in names)
    if not isinstance(settings, dict) or not isinstance(names, list) or not known:
        raise InputError(f"{path}: expected a network's settings and its class names, found {settings!r:.60} and {names!r:.60}")
    data = read_settings(run.config).get("data", {}) if run.config.is_file() else {}
    preparation = Preparation.from_checkpoint(carried["preprocessing"], data if isinstance(data, dict) else {}, path)
    if weights is not None:
        if preparation.encoder is None or "weights" not in settings or hasattr(network_class(settings), "reopen"):
            expected = "is for a frozen image encoder, whose weights a checkpoint does not hold"
            raise InputError(f"--weights {weights} {expected}; {path} needs no such file")
        settings = {**settings, "weights": str(weights)}
        preparation = replace(preparation, encoder={**preparation.encoder, "weights": str(weights)})
    _check_encoder(settings, preparation, path)
    network = reopen_network(settings, preparation.encoder)
    network.load_state_dict(network_state(path, network))
    temperature = carried.get("temperature")
    good = isinstance(temperature, float) and 0 < temperature < float("inf")
    return TrainedModel(path, network.to(device).eval(), settings, tuple(names), preparation, temperature if good else None)


def _check_encoder(settings: dict[str, Any], preparation: Preparation, path: Path) -> None:
    """Refuse an encoder other than the one that the network was trained with; the checkpoint may hold that one itself."""
    network = network_class(settings)
    if preparation.encoder is None or hasattr(network, "reopen"):
        return
    file = settings.get("weights")
    if file is not None and not Path(file).expanduser().is_file():
        raise InputError(
            f"{path} needs the weights of its frozen encoder: expected {file}, found nothing (looked in {Path.cwd()}); "
            "--weights FILE says where they are now"
        )
    identify = getattr(network, "identify", None)
    expected = preparation.encoder.get("fingerprint")
    found = None if identify is None else identify({**settings})
    if found != expected:
        name = preparation.encoder.get("name")
        raise InputError(f"{path} was trained with another encoder {name!r}: {str(expected)[:12]} there, {str(found)[:12]} here")


def run_folders(path: str | Path) -> list[Path]:
    """The runs that a path means: a run's folder, or the finished seeds of the folder above it (``.../soft/K=all``)."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a run's folder, found {'a file' if folder.is_file() else 'nothing'}")
    if RunDirectory(folder).identity.is_file() or RunDirectory(folder).best.is_file():
        found = [folder]
    else:
        found = sorted(folder.glob("seed=*"), key=lambda seed: (len(seed.name), seed.name))
    done = [run for run in found if RunDirectory(run).has_result()]
    if not done:
        why = (
            "this run is not finished"
            if found
            else "expected a run's folder (.../seed=0), or the one above it for the mean over seeds"
        )
        raise InputError(f"{folder}: {why}")
    return done


class Predictor:
    """Probabilities of new items: of one network, or the mean over several that were trained on the same kind of items.

    Args:
        models: one or more; with the same classes and the same preparation of items.
        calibrated: divide the logits of each by its temperature, which was fitted on the items that selected the checkpoint.
    """

    def __init__(self, models: Sequence[TrainedModel], *, calibrated: bool = False):
        first = models[0]
        for model in models:
            if model.class_names != first.class_names:
                raise InputError(f"{model.path} and {first.path} have other classes: {model.class_names} and {first.class_names}")
            if model.preparation.items_and_encoder != first.preparation.items_and_encoder:
                raise InputError(f"{model.path} and {first.path} prepare items in other ways: use one of them")
            if calibrated and model.temperature is None:
                raise InputError(f"{model.path} has no temperature: only the best checkpoint of a run has one")
        self.models, self.calibrated = tuple(models), calibrated
        self.class_names, self.preparation = first.class_names, first.preparation

    @classmethod
    def open(
        cls,
        path: str | Path,
        checkpoint: str = "best",
        *,
        calibrated: bool = False,
        device: str | None = None,
        weights: str | Path | None = None,
    ) -> "Predictor":
        """The network of a run's folder, or the mean over the seeds in the folder above it; see :func:`open_model`.

        The frozen encoder, which costs most, is on the networks' device. Without one, that is a GPU where there is one.
        """
        place = usable_device(device or "auto")
        models = [open_model(folder, checkpoint, place, weights=weights) for folder in run_folders(path)]
        return cls(models, calibrated=calibrated)

    def __call__(self, items: np.ndarray) -> np.ndarray:
        """(n, C) float64 probabilities of items as :mod:`hardlabels.sources` has them.

        Args:
            items: (n, H, W, channels) uint8, (n, d) float32 or (n, parts) texts, of the kind and shape of the training items.
        """
        self.preparation.check(items)
        prepared = self.preparation.apply(items, next(self.models[0].network.parameters()).device)
        total = np.zeros((len(items), len(self.class_names)))
        for model in self.models:
            logits = model.logits(prepared) / (model.temperature if self.calibrated and model.temperature else 1.0)
            total += softmax(logits, axis=1)
        return total / len(self.models)

    @property
    def kind(self) -> str:
        """What it takes: ``images``, ``vectors`` or ``texts``."""
        return KINDS[self.preparation.items]
