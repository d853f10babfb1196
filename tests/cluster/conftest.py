"""What the launcher tests share: the command with a hard time limit, and the notes that runs leave (witness.py)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIMIT = 300  # seconds a command may take; on two idle cores none takes more than 40


class Command:
    """``python -m hardlabels.train ARGUMENTS`` in a session of its own, with the witness as its method."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str]):
        self.place = folder / "outputs/synthetic/smoke,tag=tiny/sls/K=all"
        self.notes_folder = folder / "notes"
        self.notes_folder.mkdir(parents=True)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "SUBMITIT_", "RAY_", "CUDA_"))}
        ours = {"PYTHONPATH": str(HERE), "WITNESS_FOLDER": str(self.notes_folder), "COLUMNS": "200"}
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "hardlabels.train", *arguments, "method=sls", "method._target_=witness.Witness"],
                env={**inherited, **ours, **environment}, cwd=folder, stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip

    def finish(self) -> tuple[int, str]:
        """Exit code, and all that it printed."""
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            code = -1
        logs = [self.out, self.err, *sorted(self.place.parents[3].glob(".sweeps/*/.submitit/*/*.err"))]
        return code, "\n".join(log.read_text() for log in logs)

    def notes(self) -> list[dict]:
        """What the runs noted, oldest first."""
        lines = [line for file in self.notes_folder.glob("*.jsonl") for line in file.read_text().splitlines()]
        return sorted((json.loads(line) for line in lines), key=lambda note: note["time"])

    def finished(self) -> list[int]:
        """The seeds that are done."""
        return sorted(int(done.parent.name.removeprefix("seed=")) for done in self.place.glob("seed=*/done"))


@pytest.fixture
def start(tiny, tmp_path):
    """Start a command in a folder of its own; what still runs at the end of the test is ended."""
    commands = []

    def run(*arguments: str, name: str = "grid", **environment: str) -> Command:
        commands.append(Command(["-m", *tiny, *arguments], tmp_path / name, environment))
        return commands[-1]

    yield run
    for command in commands:
        if command.process.poll() is None:
            os.killpg(command.process.pid, signal.SIGKILL)
            command.process.wait()
