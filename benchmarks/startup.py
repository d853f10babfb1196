"""How long a person waits: for --help, and for the first run of a large grid."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.ratio import Row, alternate, seconds

CELLS, LIMIT = 2000, 10.0
"""The cells of a grid, and the seconds after which its first run should have begun."""


def help_against_lightning(repeats: int = 3) -> Row:
    """``python -m hardlabels.train --help`` against ``python -c "import lightning"``, whole processes."""

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    run("-m", "hardlabels.train", "--help")
    run("-c", "import lightning")
    ratios = alternate(lambda: run("-m", "hardlabels.train", "--help"), lambda: run("-c", "import lightning"), repeats)
    return Row("train --help / python -c 'import lightning'", ratios, 0.25, at_most=True)


def grid_against_the_limit(repeats: int = 2) -> Row:
    """From the command to the first cell's folder: every cell composed and checked, torch imported, the first run begun."""
    name = f"start of a grid of {CELLS:,} cells, until its first run begins / {LIMIT:g} seconds"
    return Row(name, [seconds(_start_a_grid) / LIMIT for _ in range(repeats)], 1.0, at_most=True)


def _start_a_grid() -> None:
    grid = ["method=soft,sls,multipass,majority,stratified_sls", "K=1,2,5,10", f"seed=range({CELLS // 20})"]
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder) / "outputs"
        words = ["data=synthetic", "recipe=smoke", f"outputs={outputs}", *grid]
        command = [sys.executable, "-m", "hardlabels.train", "-m", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            while not any(outputs.glob("*/*/*/*/*/config.yaml")):
                if process.poll() is not None:
                    raise RuntimeError(f"the grid ended before its first run: {process.stderr.read().decode()[-300:]}")  # type: ignore[union-attr]
                time.sleep(0.02)
        finally:
            process.kill()
            process.communicate()
