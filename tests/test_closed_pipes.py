"""Every command, when the reader of its output leaves: ``python -m hardlabels.train --help | head -1``. By real pipes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hardlabels

PACKAGE = Path(hardlabels.__file__).parent
COMMANDS = sorted(
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__main__")
    for file in PACKAGE.rglob("*.py")
    if 'if __name__ == "__main__"' in file.read_text()
)


def closed_pipe(module, *arguments, cwd=None, buffered=True, errors_too=False):
    """Run a command into a pipe that nobody reads; returns its exit code and what it wrote to standard error."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environment |= {"PYTHONPATH": str(PACKAGE.parent)} | ({} if buffered else {"PYTHONUNBUFFERED": "1"})
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            stdout=writer,
            stderr=subprocess.STDOUT if errors_too else subprocess.PIPE,
            text=True,
            cwd=cwd,
            env=environment,
            check=False,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "q.npy", np.full((4, 2), 0.5))
    np.save(tmp_path / "votes.npy", np.array([[4, 0], [1, 3], [2, 2], [3, 1]]))
    return tmp_path


def test_the_commands_are_found():
    assert {"hardlabels.train", "hardlabels.score", "hardlabels.votes", "hardlabels.reproduce"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_in_silence(command, tmp_path):
    assert closed_pipe(command, "--help", cwd=tmp_path) == (141, "")


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("hardlabels.votes", ["votes.npy"]),
        ("hardlabels.votes", ["votes.npy", "--json"]),
        ("hardlabels.score", ["q.npy", "votes.npy", "--resamples", "5"]),
        ("hardlabels.score", ["q.npy", "votes.npy", "--resamples", "5", "--json"]),
        ("hardlabels.reproduce", ["study=main", "--dry-run"]),
        ("hardlabels.report", ["--help"]),
    ],
)
def test_output_ends_in_silence_whether_it_is_buffered_or_not(command, arguments, buffered, files):
    assert closed_pipe(command, *arguments, cwd=files, buffered=buffered) == (141, "")


def test_a_mistake_is_still_said_where_only_standard_output_is_closed(files):
    code, said = closed_pipe("hardlabels.votes", "nothing.csv", cwd=files)
    assert code == 2
    assert said.startswith("error: nothing.csv")


def test_a_mistake_that_nobody_reads_ends_too(files):
    assert closed_pipe("hardlabels.votes", "nothing.csv", cwd=files, errors_too=True)[0] == 141


@pytest.mark.parametrize("multirun", [[], ["-m", "seed=0,1"]], ids=["run", "grid"])
def test_training_stops_with_its_reader_and_nothing_is_marked_as_failed(multirun, tiny, tmp_path):
    code, said = closed_pipe("hardlabels.train", *multirun, *tiny, f"outputs={tmp_path / 'outputs'}", cwd=tmp_path)
    assert (code, said) == (141, "")
    assert not list(tmp_path.rglob("error.txt"))


def test_another_broken_pipe_keeps_its_traceback():
    code = (
        "from hardlabels.stopping import ends_with_its_reader\n"
        "with ends_with_its_reader(): raise BrokenPipeError('a socket, say')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "a socket, say" in done.stderr
