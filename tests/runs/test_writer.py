"""The thread that writes checkpoints: what may be left out, what never is, and what it says when it fails."""

import pytest
import torch

from hardlabels.runs.training.checkpoint import load_checkpoint
from hardlabels.runs.training.writer import Beside, EpochWriter
from hardlabels.runs.writing import StorageError


def state(epoch):
    return {"epoch": epoch, "state_dict": {"w": torch.full((3,), float(epoch))}, "optimizer_states": [{"m": torch.zeros(3)}]}


@pytest.fixture
def writer():
    writer = EpochWriter(pause=3600)
    yield writer
    writer.teardown()


def save(writer, folder, epoch, *, best, histories):
    beside = Beside(lambda: histories.append(epoch), folder / "best.ckpt" if best else None)
    writer.save_checkpoint(state(epoch), folder / "last.ckpt", beside)


def test_the_newest_state_and_the_best_weights_are_written_whatever_was_left_out(writer, tmp_path):
    histories = []
    save(writer, tmp_path, 0, best=True, histories=histories)
    writer.wait()
    assert load_checkpoint(tmp_path / "last.ckpt")["epoch"] == 0
    for epoch, best in ((1, False), (2, True), (3, False), (4, False)):
        save(writer, tmp_path, epoch, best=best, histories=histories)
    writer.wait()
    assert load_checkpoint(tmp_path / "last.ckpt")["epoch"] == 4
    kept = load_checkpoint(tmp_path / "best.ckpt")
    assert kept["epoch"] == 2
    assert kept["state_dict"]["w"].tolist() == [2.0] * 3
    assert "optimizer_states" not in kept
    assert histories == [0, 4]  # an hour had not passed, so the epochs between were not written


def test_without_a_pause_a_state_is_written_as_soon_as_the_thread_is_free(tmp_path):
    writer, histories = EpochWriter(pause=0), []
    for epoch in range(3):
        save(writer, tmp_path, epoch, best=False, histories=histories)
        writer.wait()
    writer.teardown()
    assert histories == [0, 1, 2]


def test_checkpoints_of_other_callbacks_are_all_written_in_their_order(writer, tmp_path):
    histories = []
    for epoch in range(4):
        save(writer, tmp_path, epoch, best=False, histories=histories)
        writer.save_checkpoint(state(epoch), tmp_path / f"epoch={epoch}.ckpt")
    writer.wait()
    assert [load_checkpoint(tmp_path / f"epoch={epoch}.ckpt")["epoch"] for epoch in range(4)] == [0, 1, 2, 3]
    assert load_checkpoint(tmp_path / "last.ckpt")["epoch"] == 3


def test_the_state_is_that_of_its_epoch_though_training_goes_on(writer, tmp_path):
    changing = state(0)
    writer.save_checkpoint(changing, tmp_path / "last.ckpt", Beside(lambda: None, None))
    changing["state_dict"]["w"] += 7
    writer.wait()
    assert load_checkpoint(tmp_path / "last.ckpt")["state_dict"]["w"].tolist() == [0.0] * 3


def test_what_went_wrong_is_raised_once_and_the_next_state_is_written(writer, tmp_path):
    def full():
        raise StorageError("history.csv cannot be written")

    writer.save_checkpoint(state(0), tmp_path / "last.ckpt", Beside(full, None))
    with pytest.raises(StorageError, match="cannot be written"):
        writer.wait()
    assert not (tmp_path / "last.ckpt").exists()
    writer.wait()
    save(writer, tmp_path, 1, best=False, histories=[])
    writer.wait()
    assert load_checkpoint(tmp_path / "last.ckpt")["epoch"] == 1
