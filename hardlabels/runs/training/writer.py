"""The thread that writes what an epoch changed, as Lightning's plugin for checkpoints."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lightning.pytorch.plugins.io import CheckpointIO

from hardlabels.runs.training.checkpoint import CARRIED, load_checkpoint, save_checkpoint, weights_only


class Beside(NamedTuple):
    """What is written before a checkpoint. It is given to ``trainer.save_checkpoint`` as its ``storage_options``."""

    write_history: Callable[[], None]
    best: Path | None  # where the same weights are kept too, as those of the best epoch so far


class EpochWriter(CheckpointIO):
    """Writes checkpoints from a copy of the state, in a thread of its own, while the next epoch trains.

    Lightning's ``AsyncCheckpointIO`` does not know the order that makes a crash harmless: ``history.csv``, then ``best.ckpt``,
    then ``last.ckpt``. An epoch that is in the first two but not in the last is trained again, to the same bits.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keeper")
        self._writing: Future[None] | None = None

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Beside | None = None) -> None:
        """Copy the state and hand it to the thread. Raises what went wrong with the checkpoint before.

        Args:
            checkpoint: what Lightning collected.
            path: of the file.
            storage_options: what to write first.
        """
        copied = {name: value if name == CARRIED else _copy(value) for name, value in checkpoint.items()}  # that never changes
        self.wait()
        self._writing = self._thread.submit(_write, copied, Path(path), storage_options)

    def load_checkpoint(self, path: Any, map_location: Any = None, weights_only: bool | None = None) -> dict[str, Any]:
        """A checkpoint on the CPU, without running code."""
        return load_checkpoint(Path(path))

    def remove_checkpoint(self, path: Any) -> None:
        """Remove a file, as callbacks of Lightning's ask for."""
        Path(path).unlink(missing_ok=True)

    def wait(self) -> None:
        """Wait for the thread; raises what went wrong there."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def teardown(self) -> None:
        """End the thread, when it has written what it was given."""
        self._thread.shutdown(wait=True)


def _write(checkpoint: dict[str, Any], path: Path, beside: Beside | None) -> None:
    if beside is not None:
        beside.write_history()
        if beside.best is not None:
            save_checkpoint(beside.best, weights_only(checkpoint))
    save_checkpoint(path, checkpoint)


def _copy(state: Any) -> Any:
    """The state as it is now, on the CPU: training goes on while it is written."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: _copy(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_copy(value) for value in state]
    return state
