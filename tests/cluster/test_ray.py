"""``hydra/launcher=ray`` with declared GPUs: Ray shares out what it is told there is, also where there is no GPU at all."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="ray is not installed: pip install 'hardlabels[ray]'")
pytest.importorskip("hydra_plugins.hydra_ray_launcher", reason="hydra-ray-launcher is not installed")

STORE = 100_000_000  # bytes, near the least that Ray accepts


@pytest.fixture
def short():
    """A folder with a short name, for unix sockets; also the home, where Ray keeps a token."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield folder


def spans(grid) -> list[tuple[float, float, str]]:
    """Of each run: its first and last sign of life, and its CUDA_VISIBLE_DEVICES."""
    times: dict[tuple[int, str], list[float]] = {}
    for note in grid.notes():
        times.setdefault((note["seed"], note["gpu"]), []).append(note["time"])
    for (seed, _), moments in times.items():
        moments += [done.stat().st_mtime for done in grid.place.glob(f"seed={seed}/done")]
    return [(min(moments), max(moments), gpu) for (_, gpu), moments in times.items()]


def most_at_once(spans: list[tuple[float, float, str]]) -> int:
    return max(sum(begin <= moment <= end for begin, end, _ in spans) for moment, _, _ in spans)


def test_runs_share_out_declared_gpus_and_a_failing_cell_takes_no_other_down(start, short):
    """Two GPUs, two runs on each, five cells of which one raises."""
    grid = start(
        "hydra/launcher=ray",
        "hydra.launcher.ray.init.num_gpus=2", "hydra.launcher.ray.init.num_cpus=8",
        f"hydra.launcher.ray.init.object_store_memory={STORE}", f"+hydra.launcher.ray.init._temp_dir={short}/ray",
        "hydra.launcher.ray.remote.num_gpus=0.5",
        "seed=range(5)", HOME=short, OMP_NUM_THREADS="8", WITNESS_PEERS="4", WITNESS_FAIL="1",
    )  # fmt: skip
    code, printed = grid.finish()
    assert code == 1, printed
    assert grid.finished() == [0, 2, 3, 4], printed
    assert "1 of 5 cells did not finish" in printed
    assert "RuntimeError: seed 1 was told to fail" in printed
    assert "mean ± SD over seeds" in printed  # the others' results are back
    assert 'witness.py", line' in (grid.place / "seed=1/error.txt").read_text()

    assert {note["gpu"] for note in grid.notes()} == {"0", "1"}
    assert most_at_once(spans(grid)) == 4
    for gpu in "01":
        assert most_at_once([span for span in spans(grid) if span[2] == gpu]) == 2
    assert {note["threads"] for note in grid.notes()} == {"1"}  # num_cpus of a run, whatever the launcher's shell says


def test_a_run_goes_to_the_cluster_at_an_address_and_goes_on_when_its_process_dies(start, short, tmp_path):
    """A Ray that somebody else started, in another folder and environment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    head = [
        Path(sys.executable).with_name("ray"), "start", "--head", "--block", f"--temp-dir={short}/ray",
        "--node-ip-address=127.0.0.1", f"--port={address.split(':')[1]}", "--num-cpus=2", "--num-gpus=1",
        f"--object-store-memory={STORE}", "--include-dashboard=false",
    ]  # fmt: skip
    # Its processes have its environment and its folder, not those of the command.
    witness = {"PYTHONPATH": str(Path(__file__).parent), "WITNESS_FOLDER": str(tmp_path / "grid/notes"), "WITNESS_DIE": "0"}
    with (Path(short) / "head.txt").open("w") as log:
        cluster = subprocess.Popen(
            head, env={**os.environ, "HOME": short, **witness}, cwd=short, stdout=log, stderr=log, start_new_session=True
        )
    try:
        deadline = time.time() + 120
        while "Ray runtime started" not in (log_text := Path(log.name).read_text()):
            assert cluster.poll() is None, log_text
            assert time.time() < deadline, log_text
            time.sleep(0.2)
        grid = start(
            "hydra/launcher=ray", f"hydra.launcher.ray.init.address={address}", "hydra.launcher.ray.remote.num_cpus=2",
            "seed=0", HOME=short,
        )  # fmt: skip
        code, printed = grid.finish()
    finally:
        cluster.send_signal(signal.SIGTERM)  # it ends its own children
        try:
            cluster.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(cluster.pid, signal.SIGKILL)
            cluster.wait()
    assert code == 0, printed
    assert grid.finished() == [0]
    notes = grid.notes()
    assert {(note["gpu"], note["threads"]) for note in notes} == {("0", "2")}
    assert len({note["pid"] for note in notes}) == 2
    epochs = [note["epoch"] for note in notes]
    assert epochs in ([0, 1, 1], [0, 1, 0, 1])  # the latter where it was killed before its first checkpoint was written
