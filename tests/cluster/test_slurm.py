"""``hydra/launcher=slurm`` against a real slurmctld and slurmd on this machine (slurm-local.sh)."""

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

pytest.importorskip("submitit", reason="submitit is not installed: pip install 'hardlabels[slurm]'")
pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="hydra-submitit-launcher is not installed")

SCRIPT = Path(__file__).resolve().parent / "slurm-local.sh"
PRESET = [
    "hydra/launcher=slurm", "hydra.launcher.partition=test", "hydra.launcher.cpus_per_task=1", "hydra.launcher.mem_gb=1"
]  # fmt: skip


@pytest.fixture(scope="module")
def slurm():
    """The environment of a cluster with 2 CPUs and 2 declared GPUs: one at a time on this machine, gone after these tests."""
    with (Path(tempfile.gettempdir()) / "hardlabels-slurm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = tempfile.mkdtemp(prefix="slurm-", dir="/tmp")  # short: unix sockets
        settings = {"DIR": folder, "PORT": str(free_ports()), "CPUS": "2", "GPUS": "2"}
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "SBATCH_"))}
        environment |= {f"SLURM_LOCAL_{key}": value for key, value in settings.items()}

        def script(action: str) -> subprocess.CompletedProcess[str]:
            # To files: the daemons would keep a pipe open.
            with tempfile.TemporaryFile("w+") as out:
                done = subprocess.run([SCRIPT, action], env=environment, stdout=out, stderr=out, timeout=500, check=False)
                out.seek(0)
                return subprocess.CompletedProcess(done.args, done.returncode, out.read())

        try:
            started = script("start")
            if started.returncode == 77:
                pytest.skip(f"no Slurm here: {started.stdout.strip()}")
            assert started.returncode == 0, started.stdout
            yield {"SLURM_CONF": f"{folder}/slurm.conf", "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        finally:
            script("stop")
            shutil.rmtree(folder)


def free_ports() -> int:
    """The first of two neighbouring ports that nobody listens on."""
    for port in range(20000 + os.getpid() % 1000 * 2, 30000, 2):
        with socket.socket() as one, socket.socket() as two:
            try:
                one.bind(("127.0.0.1", port))
                two.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise OSError("no two free ports between 20000 and 30000")


def test_a_grid_of_four_cells_finishes_on_its_own_gpus_and_cores(start, slurm):
    grid = start(*PRESET, "seed=range(4)", **slurm, OMP_NUM_THREADS="8")
    code, printed = grid.finish()
    assert code == 0, printed
    assert grid.finished() == [0, 1, 2, 3]
    assert "mean ± SD over seeds" in printed
    assert "this command waits for them; stopped, it leaves them running" in " ".join(printed.split())
    notes = grid.notes()
    assert {note["gpu"] for note in notes} <= {"0", "1"}  # declared ones; a job sees the one it was given
    assert {note["threads"] for note in notes} == {"1"}  # cpus_per_task, whatever the shell of the launcher says
    assert len({note["pid"] for note in notes}) == 4


def test_jobs_that_slurm_does_not_take_are_one_error_that_says_why(start, slurm):
    """Before: a traceback of submitit."""
    code, printed = start(*PRESET, "seed=1", "hydra.launcher.partition=nowhere", **slurm).finish()
    assert code == 2, printed
    assert "error: SLURM refused the jobs (sbatch: error: invalid partition specified: nowhere" in " ".join(printed.split())
    assert "Traceback" not in printed


def test_a_failing_job_surfaces_with_its_traceback(start, slurm):
    grid = start(*PRESET, "seed=1", **slurm, WITNESS_FAIL="1")
    code, printed = grid.finish()
    assert code == 1, printed
    assert grid.finished() == []
    assert "1 of 1 cells did not finish" in printed
    assert "RuntimeError: seed 1 was told to fail" in printed
    error = (grid.place / "seed=1/error.txt").read_text()
    assert error.startswith("RuntimeError: seed 1 was told to fail\n")
    assert 'witness.py", line' in error


def test_a_preempted_and_a_killed_job_are_requeued_and_end_bit_identical(start, slurm, make_config, run_cell, check_same_run):
    """First preempted by a more urgent job (USR2, then submitit requeues), then requeued without that signal and killed."""
    grid = start(*PRESET, "seed=0", "recipe.epochs=8", **slurm, WITNESS_HOLD="2,5")
    straight = run_cell(make_config("method=sls", "seed=0", "recipe.epochs=8"))

    def ask(*line: str) -> str:
        asked = subprocess.run(line, env={**os.environ, **slurm}, capture_output=True, text=True, timeout=60, check=False)
        assert asked.returncode == 0, asked.stdout + asked.stderr
        return asked.stdout

    def reaches(restarts: int, epoch: int) -> None:
        deadline = time.time() + 200
        while not any((note["restarts"], note["epoch"]) == (restarts, epoch) for note in grid.notes()):
            assert grid.process.poll() is None, grid.finish()[1]
            assert time.time() < deadline, grid.notes()
            time.sleep(0.1)

    reaches(restarts=0, epoch=2)
    ask("sbatch", "--partition=urgent", "--cpus-per-task=2", "--output=/dev/null", "--wrap=true")
    reaches(restarts=1, epoch=5)
    ask("scontrol", "requeue", ask("squeue", "-h", "-o", "%A", "--name=hardlabels").strip())
    code, printed = grid.finish()
    assert code == 0, printed

    notes = grid.notes()
    epochs = [[note["epoch"] for note in notes if note["restarts"] == restarts] for restarts in range(3)]
    assert epochs == [[0, 1, 2], [2, 3, 4, 5], [5, 6, 7]]  # each start goes on in the epoch in which the last one was stopped
    check_same_run(grid.place / "seed=0", straight)

    # Lightning's own requeue would wait for USR1, write a checkpoint of its own and requeue a second time.
    assert {note["handlers"]["SIGUSR1"] for note in notes} == {"default"}
    assert all(note["handlers"]["SIGUSR2"].startswith("submitit") for note in notes)
    assert not list(grid.place.rglob("*hpc*"))
