"""Out-of-distribution detection: how well a finished run tells its own evaluation images from images of other classes.

In-distribution are the run's evaluation items, never an image it was trained on: public CIFAR-10 benchmarks use CIFAR-10's test
set, of which the runs here train on 80 %. (Under the split ``paper`` the checkpoint was selected on these same items.)
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from hardlabels.diagnostics.detection import detection_scores, histogram, roc_counts, thin_roc
from hardlabels.diagnostics.detectors import DETECTORS, LOGIT_DETECTORS, knn, odin
from hardlabels.diagnostics.items import choose_items
from hardlabels.diagnostics.leaks import refuse_copies, refuse_overlap
from hardlabels.diagnostics.probe import NotApplicableError
from hardlabels.errors import InputError
from hardlabels.learning.augment import normalise
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.quantity import Detection
from hardlabels.sources.outliers import FILES, Outliers, noise, outlier_sets
from hardlabels.sources.source import Source

SETS = (*FILES, "noise")
BATCH = 256  # a matter of speed and memory only: in eval mode no image sees another


# ---- one network, one set of images ----


def outlier_scores(
    network: nn.Module,
    images: np.ndarray,
    source: Source,
    *,
    detectors: Sequence[str],
    odin_settings: Mapping[str, Any],
    train_features: Tensor | None,
    knn_k: int,
    device: str,
) -> dict[str, np.ndarray]:
    """Detector to (n,) float64 scores of uint8 images, or of vectors, normalised as the run's. ``train_features`` are for KNN."""
    features, logits = forward(network, images, source, device)
    scores = {name: LOGIT_DETECTORS[name](logits) for name in detectors if name in LOGIT_DETECTORS}
    if "odin" in detectors:
        parts = _batches(images, source, device)
        scores["odin"] = torch.cat([odin(network, part, std=source.std, **odin_settings) for part in parts])
    if train_features is not None:
        scores["knn"] = knn(features, train_features, k=knn_k)
    return {name: scores[name].numpy() for name in detectors}


@torch.no_grad()
def forward(network: nn.Module, images: np.ndarray, source: Source, device: str) -> tuple[Tensor, Tensor]:
    """(n, d) penultimate features and (n, C) logits of uint8 images, both float64 on the CPU, in one pass."""
    features = [network.features(part) for part in _batches(images, source, device)]  # type: ignore[operator]
    logits = [network.fc(part) for part in features]  # type: ignore[operator]
    return torch.cat(features).cpu().double(), torch.cat(logits).cpu().double()


def _batches(images: np.ndarray, source: Source, device: str) -> Iterator[Tensor]:
    mean, std = torch.tensor(source.mean, device=device), torch.tensor(source.std, device=device)
    for start in range(0, len(images), BATCH):
        yield normalise(torch.from_numpy(images[start : start + BATCH]).to(device), mean, std)


# ---- the probe ----


def check_before_runs(*, sets: Sequence[str], detectors: Sequence[str], files: Mapping[str, Any] | None = None, **_: Any) -> None:
    """Refuse unknown names, and missing or wrong files, before any run is touched. Takes all settings of :func:`ood`."""
    for setting, names, known in (("sets", sets, SETS), ("detectors", detectors, DETECTORS)):
        if not names or not set(names) <= set(known) or len(set(names)) < len(names):
            raise InputError(f"ood.{setting} must be some of {', '.join(known)}, each once, got {list(names)}")
    _read(sets, files)


def _read(sets: Sequence[str], files: Mapping[str, Any] | None) -> dict[str, Outliers]:
    where = {"root": None, "svhn_file": "official", "timeout": 30.0, **(files or {})}
    if unknown := set(where) - {"root", "svhn_file", "timeout", *FILES}:
        raise InputError(f"ood.files has the keys root, svhn_file, timeout, {', '.join(FILES)}; got {', '.join(sorted(unknown))}")
    addresses = tuple((name, tuple(where[name])) for name in FILES if name in where)
    names = tuple(name for name in FILES if name in sets)
    return _read_once(names, where["root"], where["svhn_file"], addresses, where["timeout"]) if names else {}


@lru_cache(maxsize=1)  # the runs of one process share the images
def _read_once(names: Any, root: str | None, svhn_file: str, addresses: Any, timeout: float) -> dict[str, Outliers]:
    return outlier_sets(names, root, svhn_file=svhn_file, addresses=dict(addresses), timeout=timeout)


def ood(
    run: FinishedRun,
    *,
    sets: Sequence[str] = ("svhn", "cifar100"),
    detectors: Sequence[str] = DETECTORS,
    odin_temperature: float = 1000.0,
    odin_epsilon: float = 0.0014,
    odin_formula: str = "liang2018",
    knn_k: int = 50,
    max_items: int | None = None,
    checkpoint: str = "best",
    bins: int = 60,
    files: Mapping[str, Any] | None = None,
    device: str = "cpu",
) -> Iterator[tuple[str, Any]]:
    """Scores of every detector on every outlier set: ``<set>/<detector>/auroc``, ``aupr``, ``fpr95``, and what a figure needs.

    Arrays: ``<set>/<detector>/`` ``histogram_edges``, ``histogram_in``, ``histogram_out``, ``roc_fpr``, ``roc_tpr``.

    Args:
        run: whose evaluation items are in-distribution.
        sets: of ``SETS``: the far ``svhn``, the near ``cifar100``, and ``noise``, which has any shape and needs no file.
        detectors: of ``DETECTORS``.
        odin_temperature: see :func:`~hardlabels.diagnostics.detectors.odin`, as for the next two.
        odin_epsilon: of the full pixel range.
        odin_formula: ``liang2018`` or ``raw_logit``.
        knn_k: the neighbour; the features are those of the run's training items, unaugmented.
        max_items: of each set and of the evaluation items; a random choice that is the same for all runs. None takes all.
        checkpoint: ``best`` or ``last``.
        bins: of the histograms.
        files: where files are, and which: ``root``, ``svhn_file``, ``timeout`` of
            :func:`~hardlabels.sources.outliers.outlier_sets`, and addresses by name of a set. What was read is in ``sets``.
        device: where the network runs.
    """
    check_before_runs(sets=sets, detectors=detectors, files=files)
    source, split = run.source, run.split
    if not source.has_images:
        raise NotApplicableError(
            f"it holds outlier images against a run's own, and the items of {source.name!r} are {source.kind}"
        )
    if "odin" in detectors and not run.prepared.has_images:
        detectors = [name for name in detectors if name != "odin"]
        yield "left_out", {"odin": "it changes pixels, and this network sees features of a frozen encoder"}
    refuse_overlap(split.evaluate, split.train)
    if not np.array_equal(split.evaluate, run.predictions["index"]):
        raise InputError(f"{run.path}: the evaluation split is not the one that {run.directory.predictions.name} was written for")
    items = split.evaluate[_some(len(split.evaluate), max_items, "evaluation items")]
    outliers = _read(sets, files)
    if "noise" in sets:
        outliers = {**outliers, "noise": noise(len(split.evaluate), source.shown.shape[1:])}
    for name in sets:
        refuse_copies(outliers[name], source)
    kept = {name: _some(len(outliers[name]), max_items, name) for name in sets}
    yield "in_distribution", {"items": len(items), "of": len(split.evaluate)}
    about = {name: {"items": len(kept[name]), "of": len(outliers[name]), "content": outliers[name].content} for name in sets}
    yield "sets", about

    prepared = run.prepared  # images, or what the run's encoder makes of them
    network = run.network(checkpoint, device).requires_grad_(False)  # ODIN asks for the gradient of its input alone
    settings: dict[str, Any] = {
        "detectors": detectors,
        "odin_settings": {"temperature": odin_temperature, "epsilon": odin_epsilon, "formula": odin_formula},
        "train_features": forward(network, prepared.shown[split.train], prepared, device)[0] if "knn" in detectors else None,
        "knn_k": knn_k,
        "device": device,
    }
    inside = outlier_scores(network, prepared.shown[items], prepared, **settings)
    for name in sets:
        outside = outlier_scores(network, run.foreign(outliers[name].images[kept[name]]), prepared, **settings)
        for detector in detectors:
            for quantity, value in comparison(inside[detector], outside[detector], bins):
                yield Detection(name, detector, quantity).name, value


def comparison(inside: np.ndarray, outside: np.ndarray, bins: int) -> Iterator[tuple[str, Any]]:
    """All that is reported of one detector on one set, as (quantity, value), from (n,) and (m,) scores.

    >>> dict(comparison(np.array([0.0, 1.0]), np.array([2.0]), bins=2))["auroc"]
    1.0
    """
    counts = roc_counts(inside, outside)
    yield from detection_scores(*counts).items()
    yield from zip(("histogram_edges", "histogram_in", "histogram_out"), histogram(inside, outside, bins), strict=True)
    yield from zip(("roc_fpr", "roc_tpr"), thin_roc(*counts), strict=True)


def _some(n: int, at_most: int | None, what: str) -> np.ndarray:
    return np.sort(choose_items(np.arange(n), at_most, f"ood {what}"))
