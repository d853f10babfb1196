"""``kill -9`` while a frozen encoder runs over the images, or while one is trained: the same command goes on, to the same run."""

import signal
from pathlib import Path

import numpy as np
import pytest
import torch

timm = pytest.importorskip("timm", reason="needs pip install 'hardlabels[images]'")


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def victim(tmp_path, cache, start_victim):
    """A victim whose features are kept in a folder of this test."""
    return start_victim(tmp_path / "log.txt", HARDLABELS_CACHE=str(cache))


@pytest.fixture
def arguments(tmp_path):
    """A function that gives the command: a head on 1,000 images, its encoder a small network of timm with random weights."""
    torch.manual_seed(0)
    torch.save(timm.create_model("test_resnet").state_dict(), tmp_path / "weights.pt")
    data = ["data=synthetic", "data.items=1000", "data.classes=3", "data.size=12", "data.annotators=9", "trainer.accelerator=cpu"]
    recipe = ["recipe=image_head", "recipe.epochs=2", "recipe.width=2", "run.tag=tiny"]
    encoder = ["model.encoder=test_resnet", f"model.weights={tmp_path / 'weights.pt'}"]
    return lambda outputs: [*data, *recipe, *encoder, f"outputs={outputs}"]


def arrays(cache: Path, pattern: str) -> dict[str, np.ndarray]:
    return {file.name: np.load(file) for file in (cache / "image_features").glob(pattern)}


def test_features_whose_encoding_was_killed_end_bit_for_bit_like_others(tmp_path, cache, victim, arguments, check_same_run):
    def two_parts_are_there() -> bool:
        return len(list(cache.glob("image_features/*.parts/*.npy"))) >= 2

    assert victim.run(*arguments(tmp_path / "killed"), kill_when=two_parts_are_there) == -signal.SIGKILL, victim.said()
    parts = arrays(cache, "*.parts/*.npy")
    assert len(parts) >= 2
    assert not arrays(cache, "*.npy"), "it was killed too late: all images were encoded"
    told = len(victim.said())
    assert victim.run(*arguments(tmp_path / "killed")) == 0, victim.said()
    assert f"({sum(map(len, parts.values()))} of them are there from before)" in " ".join(victim.said()[told:].split())

    ours = arrays(cache, "*.npy")
    cache.rename(tmp_path / "cache of the killed run")
    assert victim.run(*arguments(tmp_path / "whole")) == 0, victim.said()
    theirs = arrays(cache, "*.npy")
    assert len(theirs) == 2  # the images, and the mirrored ones
    assert {name: array.tobytes() for name, array in ours.items()} == {name: array.tobytes() for name, array in theirs.items()}
    [killed], [whole] = ((tmp_path / outputs).glob("*/*/*/*/*") for outputs in ("killed", "whole"))
    check_same_run(whole, killed)  # history.csv among others


def test_an_encoder_whose_training_was_killed_ends_bit_for_bit_like_others(tmp_path, victim, arguments, check_same_run):
    """Killed after the epoch of the head alone, so that the encoder's first epoch and its optimizer's state come after it."""
    settings = ["recipe=image_finetune", "recipe.epochs=3", "model.head_epochs=1", "recipe.optimizer.lr=0.01", "data.items=100"]

    def command(outputs):
        kept = [word for word in arguments(outputs) if word.split("=")[0] not in ("recipe", "recipe.epochs", "data.items")]
        return [*kept, *settings]

    assert victim.run(*command(tmp_path / "whole")) == 0, victim.said()

    def an_epoch_is_kept() -> bool:
        return any((tmp_path / "killed").glob("*/*/*/*/*/last.ckpt"))

    assert victim.run(*command(tmp_path / "killed"), kill_when=an_epoch_is_kept) == -signal.SIGKILL, victim.said()
    [killed], [whole] = ((tmp_path / outputs).glob("*/*/*/*/*") for outputs in ("killed", "whole"))
    assert not (killed / "done").exists()
    assert victim.run(*command(tmp_path / "killed")) == 0, victim.said()
    check_same_run(whole, killed)
