"""Tiny finished runs for probes: each trained once a session, since no probe may change them."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_dir

from hardlabels.configuration import CONF
from hardlabels.runs.finished import FinishedRun

SMALL = [
    "data=synthetic", "data.items=300", "data.classes=3", "data.size=12", "data.annotators=9", "recipe=smoke", "recipe.width=2",
    "recipe.epochs=2", "recipe.batch_size=64", "recipe.train_items=null", "run.tag=small", "trainer.accelerator=cpu",
]  # fmt: skip
"""About 240 training and 60 evaluation items; two seeds share a fifth of the latter."""


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Callable[..., FinishedRun]:
    """``finished("sls", 1, "K=5")``: the finished run of a method, a seed and further overrides."""
    outputs, made = tmp_path_factory.mktemp("finished"), {}

    def make(method: str = "sls", seed: int = 0, *overrides: str) -> FinishedRun:
        from hardlabels.train import train

        if (method, seed, overrides) not in made:
            with initialize_config_dir(str(CONF), version_base="1.3"):
                cfg = compose("train", [*SMALL, f"outputs={outputs}", f"method={method}", f"seed={seed}", *overrides])
            made[method, seed, overrides] = train(cfg)
        return FinishedRun.open(made[method, seed, overrides])

    return make


@pytest.fixture
def contents() -> Callable[..., dict[str, str]]:
    """What the folders of some runs hold: file to a hash of its bytes and the time it was written."""

    def read(*runs: FinishedRun) -> dict[str, tuple[str, int]]:
        files = [file for run in runs for file in sorted(Path(run.path).rglob("*")) if file.is_file()]
        return {str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in files}

    return read


@pytest.fixture(params=["cpu", "cuda"])
def device(request) -> str:
    """Every device a probe may be asked to run on; those that this machine lacks are skipped."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    return request.param
