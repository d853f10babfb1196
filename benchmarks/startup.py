"""Row 6: how long a person waits for --help."""

import subprocess
import sys

from benchmarks.ratio import Row, alternate


def help_against_lightning(repeats: int = 4) -> Row:
    """``python -m hardlabels.train --help`` against ``python -c "import lightning"``, whole processes."""

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    run("-m", "hardlabels.train", "--help")
    run("-c", "import lightning")
    ratios = alternate(lambda: run("-m", "hardlabels.train", "--help"), lambda: run("-c", "import lightning"), repeats)
    return Row("train --help / python -c 'import lightning'", ratios, 0.25, at_most=True)
