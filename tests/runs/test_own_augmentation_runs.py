"""``recipe.augment``: a transform by its name, in a whole run."""

import json

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_dir
from lightning import Callback
from PIL import Image

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.checkpoint import load_checkpoint

V2 = "torchvision.transforms.v2"
JITTER = f"+recipe.augment={{_target_: {V2}.ColorJitter, brightness: 0.5}}"
LISTED = f"+recipe.augment=[{{_target_: {V2}.RandomInvert, p: 0.5}}, {{_target_: {V2}.RandomErasing}}]"


def losses(folder):
    return [row["train/loss"] for row in RunDirectory(folder).read_history()]


def test_a_run_with_a_transform_is_another_run_and_the_same_one_again(make_config, run_cell, tmp_path):
    plain, jitter, listed, again = (
        losses(run_cell(make_config(f"outputs={tmp_path}/{place}", "recipe.epochs=1", *more)))
        for place, more in enumerate(([], [JITTER], [LISTED], [JITTER, "workers=1"]))
    )
    assert jitter == again  # whoever reads the images
    assert len({tuple(run) for run in (plain, jitter, listed)}) == 3


class Stop(Callback):
    """Fails at the end of the second epoch, before it is kept: as a kill would."""

    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt


@pytest.mark.parametrize("storage", ["memory", "disk"])
def test_own_images_cropped_resized_and_transformed_end_with_the_same_bits_after_a_stop(run_cell, tmp_path, monkeypatch, storage):
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "images").mkdir()
    rng = np.random.default_rng(0)
    for i in range(40):
        Image.fromarray(rng.integers(0, 256, (20 + i % 4, 24, 3), dtype=np.uint8)).save(tmp_path / f"images/{i}.png")
    (tmp_path / "votes.json").write_text(json.dumps({str(i): {"w1": i % 3, "w2": i % 2, "w3": 2} for i in range(40)}))
    own = ["data=files", f"data.votes={tmp_path}/votes.json", f"data.items={tmp_path}/images", "data.size=20", "data.crop=16"]
    own += ["data.scale=[0.3,1.0]", "data.flip=true", f"data.storage={storage}", "recipe.epochs=3", JITTER]
    own += ["data.name=mine", "recipe=smoke", "recipe.width=2", "recipe.batch_size=16", "recipe.train_items=null", "run.tag=own"]

    def train(outputs):
        with initialize_config_dir(str(CONF), version_base="1.3"):
            cfg = compose("train", [*own, "trainer.accelerator=cpu", f"outputs={tmp_path}/{outputs}"])
        return run_cell(cfg)

    whole = train("whole")
    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", Stop)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            train("parts")
    parts = train("parts")
    assert len(json.loads((parts / "environment.json").read_text())) == 2
    assert (parts / "history.csv").read_bytes() == (whole / "history.csv").read_bytes()
    ours, theirs = (load_checkpoint(run / "last.ckpt")["state_dict"] for run in (parts, whole))
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("+recipe.augment={_target_: os.system}", "must not be in Python's standard library"),
        (
            "+recipe.augment={_target_: torch.nn.Linear}",
            r"recipe\.augment\._target_ must be a subclass of torchvision",
        ),
        (
            f"+recipe.augment={{_target_: {V2}.ColorJitter, bright: 1}}",
            r"recipe\.augment\.bright is no setting",
        ),
        (f"+recipe.augment=[{{_target_: {V2}.RandomCrop, size: 8}}]", "RandomCrop must give an image like"),
        ("+recipe.augment=jitter", r"recipe\.augment must be a group of settings, or a list of them, got 'jitter'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(make_config, run_cell, tmp_path, setting, said):
    with pytest.raises(InputError, match=said):
        run_cell(make_config(setting))
    assert not list(tmp_path.rglob("config.yaml"))
