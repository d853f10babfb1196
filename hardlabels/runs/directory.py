"""The folder of one run: the unit of truth. What is in it, whether it is done, whether it is the run we mean."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.data import Content, read_content
from hardlabels.runs.identity import deciding_part, fingerprint
from hardlabels.runs.lock import holder
from hardlabels.runs.reading import read_json, read_settings, read_table
from hardlabels.runs.training.divergence import why_failed
from hardlabels.runs.writing import write_atomically, write_json, write_text

ABSENT = object()
FORMAT = 2
"""Of ``fingerprint.json``: 2 where ``training`` has everything that is not known to leave the result alone."""


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

    def failure(self) -> str | None:
        """Why a run with a ``done`` file has no usable result: it diverged, or the file is damaged. None where it has one."""
        if not self.is_done():
            return None
        try:
            return why_failed(self.read_result())
        except InputError as error:
            return str(error)

    def read_result(self, keys: Sequence[str] = ()) -> dict[str, Any]:
        """Read ``result.json``; refuse one that lacks these keys, or that has no metrics by slice at a checkpoint."""
        result: dict[str, Any] = read_json(self.result, keys)
        for checkpoint in ("best", "last"):
            metrics = entry.get("full", {}) if isinstance(entry := result.get(checkpoint, {}), dict) else None
            if not isinstance(metrics, dict) or not isinstance(metrics.get("soft_nll"), (int, float, NoneType)):
                raise InputError(f"{self.result}: expected metrics by slice below {checkpoint!r}, found {entry!r:.60}")
        return result

    def has_result(self) -> bool:
        """Whether everything was written and the result is usable: the run did not diverge, the file is not damaged."""
        return self.is_done() and self.failure() is None

    def first_error(self) -> str:
        """Why the run is not finished, in one line: who is training it now, or the first line of the error that stopped it."""
        if (who := holder(self.lock)) is not None:
            return f"being written by {who}"
        if (failure := self.failure()) is not None:
            return failure
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
        recorded = saved["training"]
        if saved.get("format") != FORMAT and isinstance(recorded, dict) and self.config.is_file():
            # An older version left out settings that decide the result, such as gradient clipping; the whole of it is here.
            recorded = {**deciding_part(read_settings(self.config)), **recorded}
        changes = differences(recorded, training)
        if data is not None and not _same_content(read_content(str(saved["data"])), read_content(data)):
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
        identity = {"fingerprint": fingerprint(training, data), "data": data, "training": training, "format": FORMAT}
        write_json(self.identity, identity)
        self.error.unlink(missing_ok=True)

    def write_history(self, rows: Sequence[Mapping[str, float]], lines: list[str] | None = None) -> None:
        """Write the metrics by epoch as CSV, one row per epoch.

        Args:
            rows: of all epochs so far.
            lines: the lines that an earlier call has written, header first; the rows that are not among them are added. A run
                passes the same list after every epoch, so that each number is formatted once.
        """
        lines = [] if lines is None else lines
        columns = list(dict.fromkeys(key for row in rows for key in row))
        header = _csv_line(columns)
        if lines[:1] != [header]:
            lines[:] = [header]
        lines += [_csv_line([row.get(name, "") for name in columns]) for row in rows[len(lines) - 1 :]]
        write_text(self.history, "".join(lines))

    def read_history(self, columns: Sequence[str] = ()) -> list[dict[str, float]]:
        """The rows of ``history.csv``, numbers as numbers; refuses a row without these columns."""
        return read_table(self.history, columns) if self.history.is_file() else []

    def write_predictions(self, **arrays: np.ndarray) -> None:
        """``predictions.npz``: logits (best), logits_last, index, p of the evaluation items; likewise select_... ."""
        write_atomically(self.predictions, lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]

    def finish(self, result: dict[str, Any]) -> None:
        """Write the result, then the marker that makes the run count."""
        write_json(self.result, result)
        write_text(self.done, "")


def _same_content(saved: Content, now: Content) -> bool:
    """Whether a run was trained on this. An encoder that is not known yet is no difference."""
    return saved == now or (saved.data == now.data and now.encoder is None)


def _csv_line(values: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def _short(content: object) -> str:
    """The head of each digest: that of the data, and that of the encoder."""
    return " + ".join(part[:12] for part in read_content(str(content)) if part is not None)


def differences(old: Any, new: Any, where: str = "") -> list[str]:
    """One line for each setting that differs. A setting that is absent was not given, so it has its default."""
    if {type(old), type(new)} <= {dict, type(ABSENT)}:
        old, new = ({} if value is ABSENT else value for value in (old, new))
        keys = dict.fromkeys([*old, *new])
        return [line for key in keys for line in differences(old.get(key, ABSENT), new.get(key, ABSENT), _joined(where, key))]
    there, now = ("not set" if value is ABSENT else value for value in (old, new))
    return [] if old == new else [f"{where}: {there} there, {now} now"]


def _joined(where: str, key: str) -> str:
    if not where:
        return "the data's content: data" if key == "data_settings" else key
    return f"{where}.{key}"
