"""Reads what W&B wrote offline: a log of protocol buffers in LevelDB's format, for which W&B has no reader in Python any more."""

import json
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BLOCK, HEADER = 32768, struct.Struct("<IHB")  # checksum, length, kind (1 whole, 2 first, 3 middle, 4 last part)


def records(file: Path) -> Iterator[Any]:
    """The records of a ``.wandb`` file; its checksums must be right."""
    from wandb.proto.wandb_internal_pb2 import Record

    data = file.read_bytes()
    at, parts = 7, b""
    while at + HEADER.size <= len(data):
        if BLOCK - at % BLOCK < HEADER.size:
            at += BLOCK - at % BLOCK
            continue
        checksum, length, kind = HEADER.unpack_from(data, at)
        part = data[at + HEADER.size : at + HEADER.size + length]
        if len(part) < length:
            return  # being written
        assert zlib.crc32(bytes([kind]) + part) == checksum
        parts, at = parts + part, at + HEADER.size + length
        if kind in (1, 4):
            record = Record()
            record.ParseFromString(parts)
            parts = b""
            yield record


class Written:
    """One offline run, as ``wandb sync`` would send it.

    Args:
        folder: ``offline-run-<time>-<id>``.
    """

    def __init__(self, folder: Path):
        [file] = folder.glob("run-*.wandb")
        until = time.monotonic() + 60
        self.records = list(records(file))
        while not self.of("exit") and time.monotonic() < until:  # W&B's own process writes the end after finish() has returned
            time.sleep(0.1)
            self.records = list(records(file))
        assert file.read_bytes()[:7] == b":W&B\xe1\xbe\x00"
        self.run = self.of("run")[0]
        self.config = {entry.key: json.loads(entry.value_json) for entry in self.run.config.update if entry.key != "_wandb"}
        self.history = [_values(row.item) for row in self.of("history")]
        self.summary = {key: value for update in self.of("summary") for key, value in _values(update.update).items()}

    def of(self, kind: str) -> list[Any]:
        """The records of one kind."""
        return [getattr(record, kind) for record in self.records if record.WhichOneof("record_type") == kind]


def _values(items: Any) -> dict[str, Any]:
    return {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items}


@pytest.fixture
def written():
    """The offline runs in a folder's ``wandb``, in the order of their start."""

    def read(folder: Path) -> list[Written]:
        return [Written(place) for place in sorted(folder.glob("wandb/offline-run-*"))]

    return read


@pytest.fixture(autouse=True)
def no_login(monkeypatch, tmp_path):
    """No login, and nothing written in the home folder."""
    for name in ("API_KEY", "MODE", "BASE_URL"):
        monkeypatch.delenv(f"WANDB_{name}", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    for place in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"WANDB_{place}_DIR", str(tmp_path / "wandb-home" / place))
