"""The thread that writes what epochs changed, as Lightning's plugin for checkpoints."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning.pytorch.plugins.io import CheckpointIO

from hardlabels.runs.training.checkpoint import CARRIED, load_checkpoint, save_checkpoint, weights_only

PAUSE = 0.5
"""Seconds between two times that the state of a run is written: what a run that dies without a word has to train again."""


class Beside(NamedTuple):
    """What is written before a checkpoint. It is given to ``trainer.save_checkpoint`` as its ``storage_options``."""

    write_history: Callable[[], None]
    best: Path | None  # where the same weights are kept too, as those of the best epoch so far


class Write(NamedTuple):
    """A checkpoint that waits for the thread."""

    checkpoint: dict[str, Any]
    path: Path
    write_history: Callable[[], None] | None = None
    best: tuple[Path, dict[str, Any]] | None = None  # the best weights so far, where they are not on disk yet


class EpochWriter(CheckpointIO):
    """Writes checkpoints from a copy of the state, in a thread of its own, while the next epochs train.

    Lightning's ``AsyncCheckpointIO`` does not know the order that makes a crash harmless: ``history.csv``, then ``best.ckpt``,
    then ``last.ckpt``. An epoch that is in the first two but not in the last is trained again, to the same bits.

    Nor does it know that epochs may be shorter than the time that a disk takes: a newer state replaces one that still waits. A
    state waits for at most ``pause`` seconds, and not at all once somebody waits for it: at the end of training, or when an
    exception or a signal ends the process.

    Args:
        pause: seconds from one writing of the run's state to the next.
    """

    def __init__(self, pause: float = PAUSE) -> None:
        self.pause = pause
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keeper")
        self._lock, self._hurry = threading.Lock(), threading.Event()
        self._waiting: list[Write] = []
        self._writing: Future[None] | None = None
        self._next = 0.0  # when the state may be written again

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Beside | None = None) -> None:
        """Copy the state and hand it to the thread. Raises what went wrong with a checkpoint before.

        Args:
            checkpoint: what Lightning collected.
            path: of the file.
            storage_options: what to write first. A checkpoint without it is of a user's own callback, and every one is written.
        """
        copied = {name: value if name == CARRIED else _copy(value) for name, value in checkpoint.items()}  # that never changes
        write = Write(copied, Path(path))
        if storage_options is not None:
            best = None if storage_options.best is None else (storage_options.best, weights_only(copied))
            write = write._replace(write_history=storage_options.write_history, best=best)
        with self._lock:
            self._add(write)
            if self._writing is None:
                self._writing = self._thread.submit(self._write_all)
            writing = self._writing
        if writing.done():
            self.wait()

    def load_checkpoint(self, path: Any, map_location: Any = None, weights_only: bool | None = None) -> dict[str, Any]:
        """A checkpoint on the CPU, without running code."""
        return load_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        """Remove a file, as callbacks of Lightning's ask for."""
        self.wait()
        Path(path).unlink(missing_ok=True)

    def wait(self) -> None:
        """Wait until everything is written, without a pause; raises what went wrong there."""
        self._hurry.set()
        try:
            while (writing := self._writing) is not None:
                try:
                    writing.result()
                except BaseException:
                    if writing.done():  # otherwise a signal came while we waited, and the thread goes on
                        self._writing, self._waiting = None, []
                    raise
        finally:
            self._hurry.clear()

    def teardown(self) -> None:
        """End the thread, when it has written what it was given."""
        self._hurry.set()
        self._thread.shutdown(wait=True)

    def _add(self, write: Write) -> None:
        """Put a checkpoint behind those that wait, in the place of an older state of the run."""
        for place, older in enumerate(self._waiting):
            if older.path == write.path and write.write_history is not None:
                del self._waiting[place]
                write = write._replace(best=write.best or older.best)
                break
        self._waiting.append(write)

    def _write_all(self) -> None:
        while True:
            with self._lock:
                only_states = all(write.write_history is not None for write in self._waiting)
            if only_states:
                self._hurry.wait(max(0.0, self._next - time.monotonic()))
            with self._lock:
                writes, self._waiting = self._waiting, []
                if not writes:
                    self._writing = None
                    return
            for write in writes:
                _write(write)
            self._next = time.monotonic() + self.pause


def _write(write: Write) -> None:
    if write.write_history is not None:
        write.write_history()
    if write.best is not None:
        save_checkpoint(*write.best)
    save_checkpoint(write.path, write.checkpoint)


def _copy(state: Any) -> Any:
    """The state as it is now, on the CPU: training goes on while it is written."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: _copy(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_copy(value) for value in state]
    return state
