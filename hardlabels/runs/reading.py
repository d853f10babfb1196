"""Files of a run's folder, read with suspicion: the folder may be damaged, or come from somebody else."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hardlabels.errors import InputError

MAX_BYTES = 1 << 26  # 64 MiB: a run's text files are kilobytes, megabytes at most
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Reads plain values, no tags; the fast one of libyaml, where it was there when PyYAML was built."""


def read_json(path: Path, keys: Sequence[str] = (), kind: type = dict) -> Any:
    """A JSON file that holds an object with at least these keys (or a list, with ``kind=list``).

    Raises:
        InputError: it cannot be read, is no JSON, or something else; names the place.
    """
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        expected = f"expected JSON; line {error.lineno}, column {error.colno}: {error.msg}"
        raise InputError(f"{path}: {expected} (damaged? remove {path.parent} to train this cell again)") from error
    except RecursionError as error:
        raise InputError(f"{path}: expected JSON of a run, found values nested too deeply") from error
    found: Any = value
    if not isinstance(value, kind):
        raise InputError(f"{path}: expected a JSON {'object' if kind is dict else kind.__name__}, found {type(value).__name__}")
    if missing := [key for key in keys if key not in found]:
        raise InputError(f"{path}: expected {', '.join(map(repr, keys))}, found no {missing[0]!r}")
    return found


def read_config(path: Path) -> DictConfig:
    """A run's ``config.yaml``: plain values only, no tags (which could name code), no aliases (which could fill the memory)."""
    return _plain_yaml(path, OmegaConf.create)


def read_settings(path: Path) -> dict[str, Any]:
    """A run's ``config.yaml`` as plain values. Ten times faster than :func:`read_config`: a grid has thousands of folders."""
    return _plain_yaml(path, lambda text: LOADER(text).get_single_data())


def _plain_yaml(path: Path, parse: Callable[[str], Any]) -> Any:
    text = read_text(path)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"{path}: expected plain values; line {event.start_mark.line + 1} has the alias *{event.anchor}")
        cfg = parse(text)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f"; line {error.problem_mark.line + 1}"
        raise InputError(f"{path}: expected plain yaml{line}: {error.problem}") from error
    except (yaml.YAMLError, OmegaConfBaseException, RecursionError) as error:
        raise InputError(f"{path}: expected plain yaml, found: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(cfg, (dict, DictConfig)) or not all(isinstance(key, str) for key in cfg):
        raise InputError(f"{path}: expected the settings of a run by name, found {type(cfg).__name__}")
    return cfg


def read_table(path: Path, columns: Sequence[str] = ()) -> list[dict[str, float]]:
    """``history.csv``: one row per epoch, numbers as numbers, without the empty cells; epochs 0, 1, 2, ...

    Args:
        path: the file.
        columns: that every row must have.
    """
    rows: list[dict[str, float]] = []
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        for cells in reader:
            where = f"{path}: line {reader.line_num}"
            row = {key: _number(f"{where}, {key!r}", value) for key, value in cells.items() if value != ""}
            if row.get("epoch") != len(rows):
                raise InputError(f"{where}: expected epoch {len(rows)}, found {cells.get('epoch')!r:.60}")
            if missing := [column for column in columns if column not in row]:
                raise InputError(f"{where}: expected a number for {missing[0]!r}, found none")
            rows.append({**row, "epoch": len(rows)})
    except csv.Error as error:
        raise InputError(f"{path}: expected a table separated by commas; line {reader.line_num}: {error}") from error
    return rows


def read_text(path: Path) -> str:
    """A text file of reasonable size, in UTF-8."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path}: expected at most {MAX_BYTES:,} bytes, found {path.stat().st_size:,}")
        return path.read_bytes().decode()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8; byte {error.start} is 0x{error.object[error.start]:02x}") from error


def _number(where: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: expected a number, found {value!r:.60}") from None
