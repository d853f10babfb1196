"""The configuration tree is the object graph: what Hydra instantiates from each group, and what a user adds to it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from lightning import Callback, LightningDataModule, Trainer
from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.delivery import deliver, methods
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.checkpoint import load_checkpoint
from hardlabels.votes import Votes

METHODS = sorted(path.stem for path in (CONF / "method").glob("*.yaml"))


def with_annotators(source):
    """The same source, whose votes say who gave them: Dawid-Skene asks."""
    votes = source.votes
    workers = np.concatenate([np.arange(size) for size in votes.sizes])
    named = Votes.from_labels(votes.labels, votes.offsets, votes.num_classes, annotators=[f"w{worker}" for worker in workers])
    object.__setattr__(source, "votes", named)
    return source


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_datamodule_that_waits_for_what_only_the_run_knows(name, tiny_source):
    if name == "dawid_skene":
        pytest.importorskip("crowdkit", reason="needs pip install 'hardlabels[crowd]'")
    waiting = instantiate(OmegaConf.load(CONF / "method" / f"{name}.yaml"))
    module = waiting(source=with_annotators(tiny_source), seed=3, batch_size=32)
    assert isinstance(module, LightningDataModule)
    module.setup("fit")
    module.start_epoch(2)
    [first, *_] = module.train_dataloader()
    shown = module.on_after_batch_transfer(first, 0).target
    expected = torch.from_numpy(deliver(module.training_votes, name, seed=3)(2))[first.position]
    if name == "mixup":  # mixed after the batch was made
        assert shown.shape == expected.shape
    else:
        torch.testing.assert_close(shown, expected)


def test_a_methods_settings_come_from_the_command_line(make_config, tiny_source):
    from hardlabels.runs.training.compose import make_datamodule

    assert make_datamodule(make_config("method=sls", "method.hold=5"), tiny_source).delivery.hold == 5
    old = OmegaConf.merge(make_config("method=soft"), {"method": None})
    old.method = {"name": "sls", "_target_": "hardlabels.delivery.sls.SLS", "hold": 7}  # as config.yaml of an old run has it
    assert make_datamodule(old, tiny_source).delivery.hold == 7


def test_no_yaml_of_a_method_repeats_its_name():
    assert not any("name" in config for config in methods().values())


class _StopInTheSecondEpoch(Callback):
    def on_validation_end(self, trainer: Trainer, pl_module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt


def _same(one: Path, other: Path) -> None:
    for name in ("history.csv", "result.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    a, b = load_checkpoint(one / "last.ckpt"), load_checkpoint(other / "last.ckpt")
    assert all(torch.equal(value, b["state_dict"][key]) for key, value in a["state_dict"].items())
    assert str(a["callbacks"]) == str(b["callbacks"])


def test_a_callback_of_lightnings_sees_the_metrics_and_keeps_its_state_through_an_interruption(
    make_config, run_cell, monkeypatch, tmp_path
):
    """No epoch is better by 10 nats than the first one, so patience 2 ends the run after its third epoch."""
    stopping = ["callbacks=early_stopping", "callbacks.early_stopping.patience=2", "callbacks.early_stopping.min_delta=10"]
    cfg = make_config(*stopping, "recipe.epochs=6")
    folder = run_cell(cfg)
    assert [row["epoch"] for row in RunDirectory(folder).read_history()] == [0, 1, 2]
    assert json.loads((folder / "result.json").read_text())["last"]["epoch"] == 2
    whole = shutil.move(folder, tmp_path / "whole")

    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _StopInTheSecondEpoch)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run_cell(cfg)
    _same(run_cell(cfg), whole)

    for name in ("done", "result.json", "predictions.npz"):  # died after its last epoch: none is trained again
        (folder / name).unlink()
    _same(run_cell(cfg), whole)
