"""How long a person waits for the report of a large study."""

import subprocess
import sys
import tempfile

from benchmarks.ratio import Row, seconds

STUDY, PLACE, LIMIT = "text_sparse", "results/text", 30.0
"""The committed records of the largest study, and the seconds in which its page should be there on two cores."""


def report_against_the_limit(repeats: int = 1) -> Row:
    """Whole processes, from committed records to the page; the first one, which reads every run, is not timed."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f"study={STUDY}", f"outputs={folder}/none", f"places=[{PLACE}]", f"folder={folder}/report"]

        def run() -> None:
            subprocess.run([sys.executable, "-m", "hardlabels.report", *words], check=True, capture_output=True)

        run()
        ratios = [seconds(run) / LIMIT for _ in range(repeats)]
    return Row(f"report of the study {STUDY}, read before / {LIMIT:g} seconds", ratios, 1.0, at_most=True)
