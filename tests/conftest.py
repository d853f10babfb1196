"""What several test files share: a tiny source, composed configurations, the entry point in this process."""

import os
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from hardlabels.configuration import CONF

# Two test processes with two threads each wait for each other on two cores, a hundred times slower. Before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

TINY = [
    "data=synthetic", "data.items=120", "data.classes=3", "data.size=12", "data.annotators=9", "recipe=smoke", "recipe.width=2",
    "recipe.epochs=2", "recipe.batch_size=32", "recipe.train_items=null", "run.tag=tiny", "trainer.accelerator=cpu",
]  # fmt: skip
"""Overrides that make a run a matter of a second: 96 training items, 24 evaluation items."""


@pytest.fixture
def tiny() -> list[str]:
    """``TINY``, for tests of the command line."""
    return TINY


@pytest.fixture
def tiny_source():
    from hardlabels.sources.synthetic import synthetic

    return synthetic(items=120, classes=3, size=12, annotators=9)


@pytest.fixture
def make_config(tmp_path):
    """Compose conf/train.yaml with overrides, without running Hydra's main."""

    def make(*overrides: str) -> DictConfig:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return compose("train", [*TINY, f"outputs={tmp_path}/outputs", *overrides])

    return make


@pytest.fixture
def run_cell():
    """Train one composed cell and return its folder."""

    def run(cfg: DictConfig) -> Path:
        from hardlabels.train import train

        return train(cfg)

    return run


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run ``python -m hardlabels.train ARGUMENTS`` in this process: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        from hardlabels.train import main

        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["hardlabels.train", *arguments])
        GlobalHydra.instance().clear()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            GlobalHydra.instance().clear()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def check_same_run():
    """Bit for bit: weights and optimizer state, metrics by epoch, predictions, results."""
    return _check_same_run


def _check_same_run(one: Path, other: Path) -> None:
    import numpy as np
    import torch

    for name in ("best.ckpt", "last.ckpt"):
        a, b = (torch.load(folder / name, weights_only=True) for folder in (one, other))
        for key in a["state_dict"]:
            assert torch.equal(a["state_dict"][key], b["state_dict"][key]), f"{name}: {key}"
    states = [torch.load(folder / "last.ckpt", weights_only=True)["optimizer_states"][0]["state"] for folder in (one, other)]
    for a, b in zip(states[0].values(), states[1].values(), strict=True):
        assert a.keys() == b.keys()
        assert all(torch.equal(torch.as_tensor(a[name]), torch.as_tensor(b[name])) for name in a)
    for name in ("history.csv", "result.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    with np.load(one / "predictions.npz") as a, np.load(other / "predictions.npz") as b:
        for key in a.files:
            np.testing.assert_array_equal(a[key], b[key], err_msg=key)
