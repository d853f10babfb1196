"""``kill -9`` at any moment, the same command again: the run ends bit for bit as if nothing had happened."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

MOMENTS = int(os.environ.get("HARDLABELS_KILLS", "3"))
EPOCHS = 12


@pytest.fixture
def arguments(tiny):
    def make(outputs, *more: str) -> list[str]:
        every_epoch = "+callbacks.keeper.pause=0"  # is written, so that there is much to be interrupted
        return [*tiny, f"recipe.epochs={EPOCHS}", f"outputs={outputs}", every_epoch, *more]

    return make


def moment_after(outputs: Path, *, epochs: int, delay: float) -> Callable[[], bool]:
    """Holds ``delay`` seconds after so many epochs were written."""
    seen: list[float] = []

    def come() -> bool:
        rows = [len(file.read_text().splitlines()) - 1 for file in outputs.glob("*/*/*/*/*/history.csv")]
        if not seen and (epochs == 0 or (rows and rows[0] >= epochs)):
            seen.append(time.monotonic())
        return bool(seen) and time.monotonic() - seen[0] >= delay

    return come


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("method", ["soft", "sls", "multipass"])
def test_a_run_that_was_killed_ends_bit_for_bit_like_one_that_was_not(
    victim, tmp_path, arguments, check_same_run, method, workers
):
    """``HARDLABELS_KILLS=20 pytest tests/faults/test_kill.py`` kills at twenty moments; CI at three."""
    own = [f"method={method}", f"workers={workers}", "K=5"]
    assert victim.run(*arguments(tmp_path / "whole", *own)) == 0, victim.said()
    [whole] = (tmp_path / "whole").glob("*/*/*/*/*")

    rng = np.random.default_rng(len(method) + workers)
    killed = 0
    for number in range(MOMENTS):
        outputs = tmp_path / str(number)
        # After so many epochs, and then some: in the middle of an epoch, of its evaluation or of one of its files.
        moment = moment_after(outputs, epochs=int(rng.integers(EPOCHS)), delay=rng.uniform(0, 0.15))
        killed += victim.run(*arguments(outputs, *own), kill_when=moment) == -signal.SIGKILL
        assert victim.run(*arguments(outputs, *own)) == 0, victim.said()
        [folder] = outputs.glob("*/*/*/*/*")
        check_same_run(whole, folder)
    assert killed >= MOMENTS // 2, "most runs ended before they could be killed"


@pytest.mark.parametrize(("number", "words"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_a_stop_signal_ends_cleanly_and_says_how_to_go_on(victim, tmp_path, arguments, number, words):
    before = len(victim.said())
    long = arguments(tmp_path, "recipe.epochs=4000")
    assert victim.run(*long, kill_when=moment_after(tmp_path, epochs=3, delay=0), with_signal=number) == 128 + number
    said = victim.said()[before:]
    assert f"stopped by {words}" in said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    [folder] = tmp_path.glob("*/*/*/*/*")
    assert not (folder / ".lock").exists()
    assert not (folder / "error.txt").exists()
    assert (folder / "last.ckpt").is_file()


def test_a_stop_signal_ends_the_whole_grid_not_one_cell(victim, tmp_path, arguments):
    before = len(victim.said())
    code = victim.run(
        "-m",
        *arguments(tmp_path, "recipe.epochs=4000", "seed=0,1"),
        kill_when=moment_after(tmp_path, epochs=3, delay=0),
        with_signal=signal.SIGTERM,
    )
    assert code == 128 + signal.SIGTERM
    assert "the same command goes on" in victim.said()[before:]
    assert not list(tmp_path.glob("*/*/*/*/seed=1"))
