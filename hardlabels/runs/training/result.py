"""What a trained run leaves behind: predictions of both checkpoints, their metrics, and those of the class shares."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from hardlabels.errors import InputError
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.learning.predict import predict
from hardlabels.metrics import metric_names, score
from hardlabels.metrics.prior import PRIOR, class_shares, score_prior
from hardlabels.metrics.temperature import fit_temperature
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.checkpoint import CARRIED, load_checkpoint, network_state, save_checkpoint
from hardlabels.runs.training.divergence import check_logits
from hardlabels.runs.training.keeper import Keeper
from hardlabels.sources.source import Source


def write_result(directory: RunDirectory, keeper: Keeper, network: nn.Module, datamodule: DeliveryDataModule) -> dict[str, Any]:
    """Predictions of the best and the last network, their metrics on every slice of the evaluation items, then ``done``.

    Beside them the metrics of the class shares of the training votes (``prior``): what a network that learned nothing has.

    Args:
        directory: of the run.
        keeper: knows the epochs and their metrics.
        network: takes the weights of both checkpoints, on the device that it is on.
        datamodule: the items.

    Raises:
        InputError: ``best.ckpt`` is of another epoch than the best one.
    """
    p = datamodule.source.votes.p
    epochs = {"best": keeper.best_epoch, "last": int(keeper.rows[-1]["epoch"])}
    logits: dict[str, dict[str, np.ndarray]] = {}
    best = load_checkpoint(directory.best)
    if best.get("epoch") not in (None, epochs["best"]):  # None: of the first version
        raise InputError(
            f"{directory.best} holds the network of epoch {best['epoch']}, and by {directory.history.name} the best one is epoch "
            f"{epochs['best']}: the run was killed there and has not repeated that epoch to the same bits, as on another device: "
            f"remove {directory.path} to train this cell again"
        )
    for name, path, checkpoint in (("best", directory.best, best), ("last", directory.last, None)):
        network.load_state_dict(network_state(path, network, checkpoint))
        logits[name] = {
            part: predict(network, datamodule.source, index, batch_size=datamodule.evaluation_batch_size)
            for part, index in datamodule.parts.items()
        }
    check_logits({name: parts["evaluate"] for name, parts in logits.items()})
    selecting = next(iter(datamodule.parts))
    fitted = fit_temperature(logits["best"][selecting], p[datamodule.parts[selecting]])
    save_checkpoint(directory.best, with_temperature(best, fitted, selecting))
    directory.write_predictions(**saved_predictions(logits, datamodule.parts, datamodule.source))
    items = datamodule.split.evaluate
    slices = {view: (mask[items], target[items][mask[items]]) for view, (mask, target) in datamodule.views.items()}
    result: dict[str, Any] = {}
    names = metric_names(ordered=datamodule.source.ordered)
    for name, parts in logits.items():
        scores = {view: score(parts["evaluate"][inside], target, names) for view, (inside, target) in slices.items()}
        result[name] = {"epoch": epochs[name], **scores}
    shares = class_shares(datamodule.training_votes.p)
    result[PRIOR] = {view: score_prior(shares, target, names) for view, (_, target) in slices.items()}
    result["predicted_classes"] = {name: len(np.unique(parts["evaluate"].argmax(1))) for name, parts in logits.items()}
    result["items"] = {view: int(inside.sum()) for view, (inside, _) in slices.items()}
    directory.finish(result)
    return result


def with_temperature(checkpoint: Mapping[str, Any], temperature: float, part: str) -> dict[str, Any]:
    """The checkpoint of the best network with its temperature: whoever predicts with it divides the logits by it.

    Args:
        checkpoint: what :func:`load_checkpoint` gives; it is not changed.
        temperature: fitted on the items that selected the checkpoint.
        part: the name of these items. ``evaluate``, where the split has no others: then they must not be scored with it.

    >>> with_temperature({"state_dict": {}, CARRIED: {"class_names": ["cat", "dog"]}}, 1.5, "select")[CARRIED]
    {'class_names': ['cat', 'dog'], 'temperature': 1.5, 'temperature_from': 'select'}
    """
    fitted = {"temperature": temperature, "temperature_from": part}
    return {**checkpoint, CARRIED: {**checkpoint.get(CARRIED, {}), **fitted}}


def saved_predictions(
    logits: dict[str, dict[str, np.ndarray]], parts: dict[str, np.ndarray], source: Source
) -> dict[str, np.ndarray]:
    """The arrays of ``predictions.npz``: ``class_names``; by part ``logits`` (best), ``logits_last``, ``index``, ``p``, ``ids``.

    Those of the evaluation items have these names. Those of the selection items, where these are a part of their own, begin with
    ``select_``: a temperature is fitted on them, never on the items that are scored. ``ids`` are there where items have names.

    Args:
        logits: checkpoint (``best``, ``last``) to part to (n, C).
        parts: part (``evaluate``, perhaps ``select``) to (n,) positions in the data set.
        source: the whole data set.

    >>> from hardlabels.sources import load
    >>> source = load("synthetic", items=12, classes=3)
    >>> both = {"evaluate": np.zeros((2, 3)), "select": np.ones((1, 3))}
    >>> parts = {"select": np.array([4]), "evaluate": np.array([0, 2])}
    >>> saved = saved_predictions({"best": both, "last": both}, parts, source)
    >>> {name: array.shape for name, array in saved.items() if "p" in name}, saved["class_names"].tolist()
    ({'select_p': (1, 3), 'p': (2, 3)}, ['pattern 0', 'pattern 1', 'pattern 2'])
    """
    arrays = {"class_names": np.array(source.class_names)}
    for part, index in parts.items():
        head = "" if part == "evaluate" else f"{part}_"
        arrays[f"{head}logits"], arrays[f"{head}logits_last"] = logits["best"][part], logits["last"][part]
        arrays[f"{head}index"], arrays[f"{head}p"] = index, source.votes.p[index]
        if source.ids:
            arrays[f"{head}ids"] = np.array([source.ids[item] for item in index])
    return arrays
