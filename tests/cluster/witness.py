"""For tests of launchers: a delivery that labels as SLS does and notes, epoch by epoch, where and when its run was.

Its orders come by the environment, which every launcher passes on:
WITNESS_FOLDER: where the notes go. WITNESS_PEERS: so many runs wait for each other before they begin.
WITNESS_FAIL, WITNESS_DIE: the seed that raises, or whose process is killed the first time, at the start of its second epoch.
WITNESS_HOLD=3,6: the first start of the run stays in epoch 3 until it is killed, the second one in epoch 6.
"""

import json
import os
import signal
import time
from pathlib import Path

import numpy as np

from hardlabels.delivery.sls import SLS

ORDERS = {key.removeprefix("WITNESS_"): value for key, value in os.environ.items() if key.startswith("WITNESS_")}


class Witness(SLS):
    """``method._target_=witness.Witness``, with this folder on PYTHONPATH."""

    def __call__(self, epoch: int) -> np.ndarray:
        folder, restarts = Path(ORDERS["FOLDER"]), int(os.environ.get("SLURM_RESTART_COUNT", 0))
        note = {
            "seed": self.seed, "epoch": epoch, "pid": os.getpid(), "time": time.time(), "restarts": restarts,
            "gpu": os.environ.get("CUDA_VISIBLE_DEVICES"), "threads": os.environ.get("OMP_NUM_THREADS"),
            "handlers": {name: handler_of(name) for name in ("SIGUSR1", "SIGUSR2")},
        }  # fmt: skip
        with (folder / f"{self.seed}.jsonl").open("a") as file:
            file.write(json.dumps(note) + "\n")
        if epoch == 0:
            wait(lambda: len(list(folder.glob("*.jsonl"))) >= int(ORDERS.get("PEERS", 1)))
        if epoch == 1 and ORDERS.get("FAIL") == str(self.seed):
            raise RuntimeError(f"seed {self.seed} was told to fail")
        if epoch == 1 and ORDERS.get("DIE") == str(self.seed) and not (folder / "died").exists():
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if str(epoch) in ORDERS.get("HOLD", "").split(",")[restarts : restarts + 1]:
            wait(lambda: False)
        return super().__call__(epoch)


def wait(condition) -> None:
    """Two minutes at most; the test then finds out by the notes."""
    deadline = time.time() + 120
    while not condition() and time.time() < deadline:
        time.sleep(0.1)


def handler_of(name: str) -> str:
    """Who handles a signal in this process: the handler's module, or 'default'."""
    handler = signal.getsignal(signal.Signals[name])
    return handler.__module__ if callable(handler) else "default"
