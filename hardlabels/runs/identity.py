"""What a run is: the part of its configuration that decides the result, and the short list of what is known not to."""

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.guard import named_code
from hardlabels.runs.data import OWN
from hardlabels.runs.method import Method
from hardlabels.sources.source import Source

CONTENT = "the data are identified by their content, wherever it comes from"
TRAINER = "lightning.Trainer"
PROCESSES = "processes share the batches of one and train the same network (tests/faults/test_ddp.py)"

LEAVES_THE_RESULT_ALONE = {
    "outputs": "the folder of all runs",
    "run.tag": "a name, which the run's folder shows",
    "hydra": "how the command is started: launcher, sweep, messages",
    "logger": "views of a run, from which nothing is read back",
    "callbacks.keeper": "every run has it: its history, its checkpoints, going on after an interruption",
    "callbacks.progress": "what a person sees while a run is made",
    "workers": "who reads the inputs; labels, order and crops are functions of the epoch (tests/runs/test_run.py)",
    "model.compile": "the same network, compiled: it differs by rounding (tests/runs/test_run.py)",
    "trainer.accelerator": "the same arithmetic on another device: it differs by rounding",
    "trainer.devices": PROCESSES,
    "trainer.num_nodes": PROCESSES,
    "trainer.strategy=auto": PROCESSES,
    "trainer.strategy=ddp": PROCESSES,
    "data.root": CONTENT,
    "data.url": CONTENT,
    "data.mirrors": CONTENT,
    "data.votes_url": CONTENT,
    "data.votes_mirrors": CONTENT,
    "data.timeout": CONTENT,
}
"""The settings that are known not to change a result, each with the reason: ``key`` (with all below it) or ``key=value``.

Everything else, also what nobody has thought of yet, is part of the fingerprint, and needs a tag where the folder does not show
it (:mod:`hardlabels.runs.settings.hidden`). There is no other list.
"""


def leaves_the_result_alone(key: str, value: Any) -> bool:
    """Whether a setting, by its dotted key, is on the list.

    >>> leaves_the_result_alone("logger.mode", "offline"), leaves_the_result_alone("trainer.gradient_clip_val", 1)
    (True, False)
    >>> leaves_the_result_alone("trainer.strategy", "ddp"), leaves_the_result_alone("trainer.strategy", "fsdp")
    (True, False)
    """
    parts = key.split(".")
    parents = (".".join(parts[: n + 1]) for n in range(len(parts)))
    return f"{key}={value}" in LEAVES_THE_RESULT_ALONE or any(parent in LEAVES_THE_RESULT_ALONE for parent in parents)


def settings(config: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting of a configuration of plain values, by its dotted key. A list is one setting, and so is an empty group.

    >>> dict(settings({"seed": 0, "trainer": {"devices": 1, "x": {}}}))
    {'seed': 0, 'trainer.devices': 1, 'trainer.x': {}}
    """
    for name, value in config.items():
        key = f"{parent}.{name}" if parent else str(name)
        if isinstance(value, Mapping) and value:
            yield from settings(value, key)
        else:
            yield key, value


def training_config(cfg: DictConfig) -> dict[str, Any]:
    """The part of a configuration that decides the result. Two runs that agree on it (and on the data) are the same run."""
    return deciding_part(OmegaConf.to_container(cfg, resolve=True))  # type: ignore[arg-type]


def deciding_part(config: Mapping[str, Any]) -> dict[str, Any]:
    """:func:`training_config` of plain values: all but what :data:`LEAVES_THE_RESULT_ALONE` names.

    The data have their name here; their settings come under ``data_settings`` where they are not the defaults of the function
    that takes them. Those of the user's own files are left out: the files' content is compared before every run, skipped or
    not. What is given to the Trainer beside ``precision`` comes under ``trainer``. So an entry that is absent is the default.
    The method is written as the first version had it (:mod:`hardlabels.runs.method`): fingerprints of old records stay.

    >>> config = {"seed": 3, "workers": 2, "trainer": {"precision": "32-true", "devices": 2, "gradient_clip_val": 1.0}}
    >>> deciding_part({**config, "data": {"name": "toy", "_target_": "hardlabels.sources.files.files", "votes": "votes.csv"}})
    {'seed': 3, 'data': 'toy', 'precision': '32-true', 'trainer': {'gradient_clip_val': 1.0}}
    """
    kept: dict[str, Any] = _without_free(config)
    data, trainer = kept.pop("data", {}), kept.pop("trainer", {})
    if isinstance(kept.get("method"), Mapping):
        kept["method"] = Method.from_config(kept["method"]).recorded
    if trainer.get("_target_") == TRAINER:
        del trainer["_target_"]
    kept["data"], kept["precision"] = data.get("name"), trainer.pop("precision", None)
    changed = {} if data.get("_target_") == OWN else _changed_settings(data)
    return {**kept, **({"data_settings": changed} if changed else {}), **({"trainer": trainer} if trainer else {})}


def fingerprint(training: dict[str, Any], data: str) -> str:
    """64 hex digits for (configuration, data): also the run's id at W&B, so that a resumed run continues there.

    >>> fingerprint({"seed": 0}, "abc")[:8]
    '25b31310'
    """
    return hashlib.sha256(json.dumps([training, data], sort_keys=True).encode()).hexdigest()


def _without_free(config: Mapping[str, Any], parent: str = "") -> dict[str, Any]:
    """The configuration without what leaves the result alone; a group of which nothing is left goes too."""
    kept = {}
    for name, value in config.items():
        key = f"{parent}.{name}" if parent else str(name)
        if leaves_the_result_alone(key, value):
            continue
        below = _without_free(value, key) if isinstance(value, Mapping) else value
        if below != {} or value == {}:
            kept[name] = below
    return kept


def _changed_settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data's settings that are not the defaults of the function that takes them, and that function where it is not ours."""
    target, name = str(data.get("_target_")), str(data.get("name"))
    parameters = inspect.signature(named_code("data._target_", target, Source)).parameters
    given = {key: value for key, value in data.items() if key not in ("_target_", "name")}
    changed = {key: value for key, value in given.items() if key not in parameters or parameters[key].default != value}
    ours, _, function = target.rpartition(".")
    plain = ours == f"hardlabels.sources.{function}" and name.startswith(function)  # cifar10h; chaosnli_mnli
    return changed if plain else {"_target_": target, **changed}
