import resource
import subprocess
import sys

import pytest

CODE = """
import resource, sys, torch
from hardlabels.learning.memory import keep_freed_memory
kept = keep_freed_memory() if sys.argv[1] == "keep" else None
def step():
    return sum(float(torch.ones(3_000_000).sum()) for _ in range(10))
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, kept)
"""


def test_freed_blocks_are_not_faulted_in_again():
    if resource.getpagesize() != 4096 or not sys.platform.startswith("linux"):
        pytest.skip("counts page faults of Linux with 4 KiB pages")
    faults = {}
    for how in ("keep", "give back"):
        done = subprocess.run([sys.executable, "-c", CODE, how], capture_output=True, text=True, check=True)
        count, kept = done.stdout.split()
        faults[how] = int(count)
        if how == "keep" and kept == "False":
            pytest.skip("no glibc")
    assert faults["keep"] < 1000
