"""How long a person waits for the report of a large study."""

import subprocess
import sys
import tempfile

from benchmarks.ratio import Row, seconds

STUDY, PLACE, LIMIT = "text_sparse", "results/text", 30.0
"""The committed records of the largest study, and the seconds in which its page should be there on two cores."""


def report_against_the_limit() -> Row:
    """A whole process, from committed records to the page.

    Where it takes longer than the limit, these records may not have been read before on this machine, which keeps what it has
    read: then a second process counts.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [f"study={STUDY}", f"outputs={folder}/none", f"places=[{PLACE}]", f"folder={folder}/report"]

        def run() -> None:
            subprocess.run([sys.executable, "-m", "hardlabels.report", *words], check=True, capture_output=True)

        ratio = seconds(run) / LIMIT
        if ratio > 1:
            ratio = seconds(run) / LIMIT
    return Row(f"report of the study {STUDY}, records read before / {LIMIT:g} seconds", [ratio], 1.0, at_most=True)
