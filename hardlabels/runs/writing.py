"""The files of a run: whole or not there, and an error that says that nothing was lost."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from hardlabels.whole_files import whole_file


class StorageError(OSError):
    """A file could not be written. The message says which, why, and that nothing was lost."""


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Let ``write`` fill a temporary file and put it in place of ``path`` only when that succeeded.

    A crash at any moment leaves the previous file as it was.

    Raises:
        StorageError: when the disk is full, the folder cannot be written, a quota is used up.
    """
    try:
        with whole_file(path) as file:
            write(file)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; what was there before is kept") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8."""
    write_atomically(path, lambda file: file.write(text.encode()))


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON: NaN and infinity become null, since JSON has neither."""
    write_text(path, json.dumps(_without_nan(value), indent=2, allow_nan=False) + "\n")


def write_json_lines(path: Path, values: list[Any]) -> None:
    """Write a JSON list with an entry on each line: half the bytes of an indented one, and a difference shows what changed."""
    lines = ",\n".join(
        json.dumps(_without_nan(value), allow_nan=False, separators=(",", ":"), ensure_ascii=False) for value in values
    )
    write_text(path, f"[\n{lines}\n]\n")


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(entry) for entry in value]
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value
