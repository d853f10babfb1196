"""A disk that is full, for real: files of this process may not grow beyond a limit (RLIMIT_FSIZE)."""

import resource

import numpy as np
import pytest
import torch

from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.checkpoint import load_checkpoint, save_checkpoint
from hardlabels.runs.training.keeper import Keeper
from hardlabels.runs.writing import StorageError, write_atomically, write_text


@pytest.fixture
def limited():
    """Limit the size of every file that is written, until the end of the test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", ["text", "numpy", "torch"])
def test_a_file_that_does_not_fit_leaves_the_old_one_whole(tmp_path, limited, kind):
    path, noise = tmp_path / "file", np.random.default_rng(0).integers(256, size=100_000, dtype=np.uint8)
    write = {
        "text": lambda n: write_text(path, "x" * n),
        "numpy": lambda n: write_atomically(path, lambda file: np.savez_compressed(file, noise[:n])),
        "torch": lambda n: save_checkpoint(path, {"weights": torch.zeros(n, dtype=torch.uint8)}),
    }[kind]
    write(100)
    before = path.read_bytes()
    limited(20_000)
    with pytest.raises(StorageError, match=r"file cannot be written: File too large; what was there before is kept"):
        write(100_000)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_run_on_a_full_disk_is_one_error_and_goes_on_when_there_is_room(command, tiny, tmp_path, limited):
    """Two epochs fit, then checkpoints do not: the last good one stays, and the run resumes from it."""
    arguments = [*tiny, "recipe.epochs=6", "seed=3"]
    assert command(*arguments, "recipe.epochs=2", "run.tag=small")[0] == 0
    size = max(file.stat().st_size for file in tmp_path.rglob("*.ckpt"))
    limited(size // 2)
    code, _, err = command(*arguments)
    assert code == 1
    assert "ckpt cannot be written: File too large; what was there before is kept" in err
    assert "The same command goes on" in err
    assert "Traceback" not in err
    folder = tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=all/seed=3"
    assert not (folder / "done").exists()

    limited(resource.RLIM_INFINITY)
    assert command(*arguments)[0] == 0
    assert load_checkpoint(folder / "last.ckpt")["epoch"] + 1 == 6


def test_the_last_good_checkpoint_survives_a_disk_that_fills_up_later(command, tiny, tmp_path, limited, monkeypatch):
    real = RunDirectory.write_history

    def shrink_in_the_third_epoch(directory, rows, lines):
        real(directory, rows, lines)
        if len(rows) == 3:  # its history is written, its checkpoints are not
            limited(1000)

    def write_before_the_next_epoch(keeper, *arguments):
        end_of_epoch(keeper, *arguments)
        keeper.writer.wait()

    end_of_epoch = Keeper.on_train_epoch_end
    monkeypatch.setattr(RunDirectory, "write_history", shrink_in_the_third_epoch)
    monkeypatch.setattr(Keeper, "on_train_epoch_end", write_before_the_next_epoch)
    code, _, err = command(*tiny, "recipe.epochs=6")
    assert code == 1
    assert "cannot be written: File too large" in err
    [folder] = tmp_path.glob("outputs/*/*/*/*/*")
    assert load_checkpoint(folder / "last.ckpt")["epoch"] + 1 == 2
    limited(resource.RLIM_INFINITY)
    monkeypatch.undo()
    code, out, _ = command(*tiny, "recipe.epochs=6")
    assert code == 0
    assert "at epoch 2 of 6" in out
