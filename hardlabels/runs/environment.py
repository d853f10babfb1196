"""What a run ran on: enough to explain a number a year later."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "hardlabels",
    "torch",
    "torchvision",
    "lightning",
    "torchmetrics",
    "hydra-core",
    "omegaconf",
    "numpy",
    "scipy",
    "wandb",
)


def describe_environment(device: str, threads: int, processes: int = 1) -> dict[str, Any]:
    """Versions, machine, code version and command, as plain JSON values."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "code": code_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "threads": threads,
        "device": device,
        "processes": processes,
        **{name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID") if name in os.environ},
        "packages": {name: _version(name) for name in PACKAGES},
    }


@lru_cache  # of the code that this process has loaded, whatever happens to the files later
def code_version() -> str:
    """The commit this code comes from, with ``+changed`` where the tree differs from it; else the package's version."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return _version("hardlabels")
    try:
        described = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--dirty=+changed"],
            capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return _version("hardlabels")
    return described.stdout.strip()


@lru_cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
