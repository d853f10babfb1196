"""The folder of one run: the unit of truth. What is in it, whether it is done, whether it is the run we mean."""

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.files import write_atomically, write_json, write_text
from hardlabels.runs.lock import holder
from hardlabels.runs.reading import read_json, read_table


def training_config(cfg: DictConfig) -> dict[str, Any]:
    """The part of a configuration that decides the result. Two runs that agree on it (and on the data) are the same run.

    How and where it ran (devices, logger, folders, addresses) is left out, and so are the data's settings: the data are
    identified by their content.
    """
    resolved: Any = OmegaConf.to_container(cfg, resolve=True)
    return {
        "data": resolved["data"]["name"],
        "method": resolved["method"],
        "K": resolved["K"],
        "seed": resolved["seed"],
        "recipe": resolved["recipe"],
        "model": {key: value for key, value in resolved["model"].items() if key != "compile"},
        "precision": resolved["trainer"]["precision"],
    }


def fingerprint(training: dict[str, Any], data: str) -> str:
    """64 hex digits for (configuration, data): also the run's id at W&B, so that a resumed run continues there.

    >>> fingerprint({"seed": 0}, "abc")[:8]
    '25b31310'
    """
    return hashlib.sha256(json.dumps([training, data], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class RunDirectory:
    """Paths and contents of one run's folder. Every file is written whole; ``done`` comes last."""

    path: Path

    config = property(lambda self: self.path / "config.yaml")
    identity = property(lambda self: self.path / "fingerprint.json")
    environment = property(lambda self: self.path / "environment.json")
    history = property(lambda self: self.path / "history.csv")
    best = property(lambda self: self.path / "best.ckpt")
    last = property(lambda self: self.path / "last.ckpt")
    predictions = property(lambda self: self.path / "predictions.npz")
    result = property(lambda self: self.path / "result.json")
    error = property(lambda self: self.path / "error.txt")
    done = property(lambda self: self.path / "done")
    lock = property(lambda self: self.path / ".lock")

    def is_done(self) -> bool:
        """Whether everything was written."""
        return self.done.is_file()

    def first_error(self) -> str:
        """Why it is not finished, in one line: who is at it, or the first line of what stopped it."""
        if (who := holder(self.lock)) is not None:
            return f"being written by {who}"
        if not self.error.is_file():
            return "no error recorded (stopped?)"
        return f"{self.error.read_text().splitlines()[0]} ({self.error})"

    def check(self, training: dict[str, Any], data: str | None = None) -> None:
        """Refuse to go on in a folder that holds another run: name each setting that differs.

        Args:
            training: what ``training_config`` gives now.
            data: the data's fingerprint, once they are loaded; without the encoder's part, only the data are compared.
        """
        if not self.identity.is_file():
            return
        saved = read_json(self.identity, ("fingerprint", "training", "data"))
        changes = _differences(saved["training"], training)
        if data is not None and not f"{saved['data']}+".startswith(f"{data}+"):
            changes.append(f"the data's content: {_short(saved['data'])} there, {_short(data)} now")
        if changes:
            raise InputError(
                f"{self.path} holds a run with another configuration ({'; '.join(changes)}): "
                "use run.tag=NAME or another outputs=DIR, or remove that folder"
            )

    def start(self, cfg: DictConfig, training: dict[str, Any], data: str, environment: dict[str, Any]) -> None:
        """Say what this run is, before it begins. A resumed run keeps the first environment and appends its own."""
        earlier = read_json(self.environment, kind=list) if self.environment.is_file() else []
        write_text(self.config, OmegaConf.to_yaml(cfg, resolve=True))
        write_json(self.environment, [*earlier, environment])
        write_json(self.identity, {"fingerprint": fingerprint(training, data), "data": data, "training": training})
        self.error.unlink(missing_ok=True)

    def write_history(self, rows: list[dict[str, float]]) -> None:
        """Metrics by epoch as CSV, one row an epoch."""
        text = io.StringIO()
        columns = list(dict.fromkeys(key for row in rows for key in row))
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.history, text.getvalue())

    def read_history(self, columns: Sequence[str] = ()) -> list[dict[str, float]]:
        """The rows of ``history.csv``, numbers as numbers; refuses a row without these columns."""
        return read_table(self.history, columns) if self.history.is_file() else []

    def write_predictions(self, **arrays: np.ndarray) -> None:
        """``predictions.npz``: logits (best), logits_last, index, p."""
        write_atomically(self.predictions, lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]

    def finish(self, result: dict[str, Any]) -> None:
        """Write the result, then the marker that makes the run count."""
        write_json(self.result, result)
        write_text(self.done, "")


def _short(content: object) -> str:
    """The head of each hash: data, and the encoder of texts."""
    return " + ".join(part[:12] for part in str(content).split("+"))


def _differences(old: Any, new: Any, where: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        return [line for key in keys for line in _differences(old.get(key), new.get(key), f"{where}.{key}" if where else key)]
    return [] if old == new else [f"{where}: {old} there, {new} now"]
