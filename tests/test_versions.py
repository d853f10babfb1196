"""The versions of Python that are promised are the same everywhere, and ``make`` takes one of them or says which it needs."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOW, BELOW = map(int, re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["project"]["requires-python"]).groups())
VERSIONS = [f"3.{minor}" for minor in range(LOW, BELOW)]


def test_the_promised_versions_are_the_same_everywhere():
    head = "Programming Language :: Python :: 3."
    classifiers = [line.removeprefix(head) for line in PROJECT["project"]["classifiers"] if line.startswith(head)]
    assert [f"3.{minor}" for minor in classifiers] == VERSIONS
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py3{LOW}"
    assert PROJECT["tool"]["mypy"]["python_version"] == VERSIONS[0]
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert ci["jobs"]["test"]["strategy"]["matrix"]["python"] == VERSIONS
    assert re.search(r"^VERSIONS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split() == VERSIONS
    assert f"Python {VERSIONS[0]} to {VERSIONS[-1]}" in (ROOT / "README.md").read_text()
    assert f"Python {', '.join(VERSIONS[:-1])} and {VERSIONS[-1]}" in (ROOT / "docs/contributing.md").read_text()


def test_constraints_are_names_and_versions_for_all_of_them():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r'[\w.-]+==[\w.]+(; python_version [<>]=? "3\.\d+")?', line) for line in pins)
    # A marker that holds for every promised version, or for none, is left over from another one.
    for version in re.findall(r'python_version [<>]=? "3\.(\d+)"', "\n".join(pins)):
        assert LOW < int(version) < BELOW


class Machine:
    """A PATH with nothing but a shell, ``make``'s tools and Pythons that only know their version."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        for tool in ("sh", "touch", "mkdir", "cat", "chmod"):
            (self.bin / tool).symlink_to(shutil.which(tool))

    def has(self, name: str, version: str) -> None:
        """A Python: answers a question about its version, and writes down with what it made an environment."""
        script = f"""#!/bin/sh
for last; do :; done
if [ "$1" = -c ]; then case "$2" in *{version}*) exit 0;; *) exit 1;; esac; fi
mkdir -p "$last/bin"
echo "{name} $*" > "$last/made"
echo "exit 0" > "$last/bin/python"
chmod +x "$last/bin/python"
"""
        (self.bin / name).write_text(script)
        (self.bin / name).chmod(0o755)

    def make(self, *words: str) -> subprocess.CompletedProcess:
        stamp, clean = self.folder / "venv/.installed", {"PATH": str(self.bin), "HOME": str(self.folder)}
        command = [shutil.which("make"), "-C", str(ROOT), "--no-print-directory", f"VENV={stamp.parent}", *words, str(stamp)]
        return subprocess.run(command, env=clean, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("needs make")
    return Machine(tmp_path)


def test_make_passes_over_a_python_that_is_too_old(machine, tmp_path):
    machine.has("python3", "3.10")
    machine.has("python3.13", "3.13")
    result = machine.make()
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "venv/made").read_text().startswith("python3.13 -m venv")


def test_make_takes_python3_where_it_will_do(machine, tmp_path):
    machine.has("python3", "3.12")
    machine.has("python3.11", "3.11")
    assert machine.make().returncode == 0
    assert (tmp_path / "venv/made").read_text().startswith("python3 -m venv")


def test_make_finds_pyenvs_pythons(machine, tmp_path):
    machine.has("python3", "3.10")
    machine.has("inner", "3.12")
    folder = tmp_path / ".pyenv/versions/3.12.1/bin"
    folder.mkdir(parents=True)
    (machine.bin / "inner").rename(folder / "python")
    assert machine.make().returncode == 0
    assert (tmp_path / "venv/made").is_file()


@pytest.mark.parametrize("words", [[], ["PYTHON=python3"]])
def test_make_without_a_suitable_python_is_one_line_that_names_the_versions(machine, tmp_path, words):
    machine.has("python3", "3.10")
    result = machine.make(*words)
    assert result.returncode == 2
    ours, makes = result.stderr.splitlines()
    assert ours.startswith(f"error: expected a Python of one of the versions {' '.join(VERSIONS)}, found none among python3")
    assert makes.startswith("make: ***")
    assert result.stdout == ""
    assert not (tmp_path / "venv").exists()
