"""Where the numbers come from: versions, machines and data of the runs, and of the report itself."""

import json
import platform
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.environment import code_version
from hardlabels.runs.records import Records


@dataclass(frozen=True)
class Fact:
    """One line of the environment: what it is, and each value with the number of runs that have it."""

    name: str
    values: tuple[tuple[str, int], ...]


def describe_runs(folders: Iterable[Path]) -> list[Fact]:
    """What the runs' own files say. Runs that disagree show as several values; a run that was resumed elsewhere counts for both.

    Args:
        folders: of finished runs. Files that are not there or no JSON leave their lines out.
    """
    counts: dict[str, Counter[str]] = {}
    for folder in folders:
        directory = RunDirectory(folder)
        facts = {(name, value) for start in _json(directory.environment, list) for name, value in _facts(start)}
        identity = _json(directory.identity, dict)
        if isinstance(identity.get("data"), str):
            facts.add(("data fingerprint", identity["data"][:16]))
        for name, value in facts:
            counts.setdefault(name, Counter())[value] += 1
    order = ["code", "device", "machine", "Python", "data fingerprint"]
    names = sorted(counts, key=lambda name: (order.index(name) if name in order else len(order), name.lower()))
    return [Fact(name, tuple(counts[name].most_common())) for name in names]


def describe_again(records: Records) -> list[Fact]:
    """Which probes measured networks that were trained again, with the number of their runs or pairs; empty without any."""
    counts: Counter[str] = Counter()
    for (_, _, probe), count in records.again.items():
        counts[probe] += count
    return [Fact("probes of networks trained again", tuple(sorted(counts.items())))] if counts else []


def describe_report(command: str) -> list[Fact]:
    """What made the report: command, code, time."""
    now = datetime.now(UTC).isoformat(timespec="minutes")
    facts = {"command": command, "code": code_version(), "Python": platform.python_version(), "written": now}
    return [Fact(name, ((value, 1),)) for name, value in facts.items()]


def _facts(start: Any) -> Iterable[tuple[str, str]]:
    if not isinstance(start, dict):
        return
    for name, key in (("code", "code"), ("device", "device"), ("Python", "python")):
        if start.get(key):
            yield name, str(start[key])
    if start.get("platform"):
        yield "machine", f"{start['platform']}, {start.get('cpus')} cores, {start.get('threads')} threads"
    packages = start.get("packages")
    for name, version in (packages if isinstance(packages, dict) else {}).items():
        if version != "absent":
            yield str(name), str(version)


def _json(path: Path, kind: type) -> Any:
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text())
        if isinstance(found, kind):
            return found
    return kind()
