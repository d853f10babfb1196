"""Real faults for real processes: a command that can be killed, and what two run folders must have in common."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Victim:
    """``hardlabels.train`` in a process of its own: started with arguments, killed at a given moment."""

    def __init__(self, log: Path, **variables: str):
        self.log = log
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "VICTIM_LOG": str(log), **variables}
        self._server = subprocess.Popen(
            [sys.executable, str(HERE / "victim.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self._server.stdout.readline() == "ready\n"

    def run(self, *arguments: str, kill_when: Callable[[], bool] | None = None, with_signal: int = signal.SIGKILL) -> int:
        """The exit code; negative is the signal that ended it. It is sent as soon as ``kill_when()`` holds."""
        self._server.stdin.write(json.dumps(arguments) + "\n")
        self._server.stdin.flush()
        child = int(self._server.stdout.readline())
        if kill_when is not None:
            deadline = time.monotonic() + 120
            while not kill_when() and time.monotonic() < deadline:
                time.sleep(0.002)
            with suppress(ProcessLookupError):  # it was faster
                os.kill(child, with_signal)
        return os.waitstatus_to_exitcode(int(self._server.stdout.readline()))

    def said(self) -> str:
        return self.log.read_text() if self.log.is_file() else ""

    def close(self) -> None:
        self._server.stdin.close()
        self._server.wait(timeout=60)


@pytest.fixture(scope="module")
def start_victim():
    """A function of a log and environment variables that gives a :class:`Victim`; all of them end with the test file."""
    with ExitStack() as victims:

        def start(log: Path, **variables: str) -> Victim:
            server = Victim(log, **variables)
            victims.callback(server.close)
            return server

        yield start


@pytest.fixture(scope="module")
def victim(tmp_path_factory, start_victim):
    return start_victim(tmp_path_factory.mktemp("victim") / "log.txt")
