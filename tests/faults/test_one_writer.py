"""Two processes on one run, and a lock whose holder died."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hardlabels.runs.lock import HeldByAnotherProcess, hold, holder

HOLD = """
import sys, time
from pathlib import Path
from hardlabels.runs.lock import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_process(tmp_path):
    """A process that holds the lock ``tmp_path/run/.lock``."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "run/.lock")], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_the_second_process_is_told_who_holds_the_run(other_process, tmp_path):
    with (
        pytest.raises(HeldByAnotherProcess, match=rf"run is being written by process {other_process.pid} on .+, since "),
        hold(tmp_path / "run/.lock"),
    ):
        pass
    assert f"process {other_process.pid} on" in holder(tmp_path / "run/.lock")


def test_without_posix_locks_there_is_one_writer_too(monkeypatch, tmp_path):
    """As on Windows, where there is no fcntl."""
    monkeypatch.setattr("hardlabels.runs.lock.fcntl", None)
    path = tmp_path / "run/.lock"
    with hold(path), pytest.raises(HeldByAnotherProcess, match="run is being written by another process"), hold(path):
        pass
    with hold(path):  # free again
        assert holder(path) is None


def test_the_lock_of_a_dead_process_is_taken_over(other_process, tmp_path):
    os.kill(other_process.pid, signal.SIGKILL)
    other_process.wait()
    path = tmp_path / "run/.lock"
    assert path.is_file(), "the dead could not clean up"
    assert holder(path) is None
    with hold(path):
        assert str(os.getpid()) in path.read_text()
    assert not path.exists()


def test_a_command_leaves_a_cell_to_the_process_that_trains_it(victim, tiny, tmp_path):
    """Both as commands: the one that is late says so, writes nothing, and the first one is not disturbed."""
    folder = tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=all/seed=0"
    folder.mkdir(parents=True)
    code = HOLD.replace("sys.argv[1]", repr(str(folder / ".lock")))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        before = len(victim.said())
        assert victim.run(*tiny, f"outputs={tmp_path}/outputs") == 1
        assert f"is being written by process {process.pid}" in victim.said()[before:]
        # In a grid the other cells are trained, and the end of the grid says why this one is not.
        assert victim.run("-m", *tiny, f"outputs={tmp_path}/outputs", "seed=0,1") == 1
        assert "1 of 2 cells did not finish" in victim.said()[before:]
        assert sorted(path.name for path in folder.iterdir()) == [".lock"]
        assert (folder.parent / "seed=1/done").is_file()
        process.kill()
    assert victim.run(*tiny, f"outputs={tmp_path}/outputs") == 0


def test_forked_workers_do_not_keep_the_lock_of_a_killed_run(tmp_path):
    """An orphan inherits the open file, but not the lock."""
    code = "import os\nfrom pathlib import Path\nfrom hardlabels.runs.lock import hold\n" + (
        f"with hold(Path({str(tmp_path / '.lock')!r})):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os.close(1); import time; time.sleep(60); os._exit(0)\n"
        "    print(child, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    orphan = int(done.stdout)
    try:
        with hold(tmp_path / ".lock"):
            alive = Path(f"/proc/{orphan}").exists()
    finally:
        os.kill(orphan, signal.SIGKILL)
    assert alive, "the orphan was gone: nothing was tested"
