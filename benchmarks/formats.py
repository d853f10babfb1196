"""Long csv files as they grow: read, summarised and delivered; ``python -m benchmarks.formats`` goes to 10 million votes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.labels import ragged_votes
from benchmarks.ratio import Row
from hardlabels.votes.formats.named import NamedVotes
from hardlabels.votes.write import write

WORK = """
import json, re, sys, time
from pathlib import Path
def most():  # the kernel's own peak of this process; ru_maxrss would begin with the parent's
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
from hardlabels.delivery.multipass import Multipass
from hardlabels.delivery.sls import SLS
from hardlabels.votes.formats import read
from hardlabels.votes.summary import summarise
import polars
bare = most()
times = [time.perf_counter()]
votes = read(sys.argv[1]).votes
times.append(time.perf_counter())
summarise(votes)
times.append(time.perf_counter())
for method in (SLS, Multipass):
    method(votes, 0)(0)
times.append(time.perf_counter())
peak = most()
parts = [after - before for before, after in zip(times, times[1:])]
print(json.dumps({"bare": bare, "peak": peak, "read": parts[0], "summarise": parts[1], "deliver": parts[2]}))
"""


def write_votes(votes: int, path: Path) -> None:
    """A long csv of about this many votes, 10 an item, 10 classes, a thousand annotators: ids of ordinary length."""
    table = ragged_votes(votes // 10, 10)
    rank = np.arange(len(table.labels)) - np.repeat(table.offsets[:-1], table.sizes)
    table.annotators = ((np.repeat(np.arange(len(table)), table.sizes) + rank) % 1000).astype(np.int32)
    items = [f"item_{i}" for i in range(len(table))]
    names, people = tuple(f"class_{c}" for c in range(10)), tuple(f"annotator_{a}" for a in range(1000))
    write(NamedVotes(table, items, names, people, "long"), "long", path)


def measure(path: Path) -> dict[str, float]:
    """Seconds and bytes of reading, summarising and delivering the file, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", WORK, str(path)], capture_output=True, text=True, check=True)
    return {**json.loads(done.stdout), "file": path.stat().st_size}


def long_csv(sizes: tuple[int, ...] = (10**4, 10**5, 10**6), repeats: int = 3) -> list[Row]:
    """Growth of time with the votes, and the peak of memory (beyond that of the imports) over the size of the largest file."""
    exponents, ratios, found = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder) / f"{size}.csv" for size in sizes}
        for size, path in files.items():
            write_votes(size, path)
        for _ in range(repeats):
            found = {size: measure(path) for size, path in files.items()}
            times = [sum(result[part] for part in ("read", "summarise", "deliver")) for result in found.values()]
            exponents.append(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]))
            largest = found[sizes[-1]]
            ratios.append((largest["peak"] - largest["bare"]) / largest["file"])
    span = f"10^{np.log10(sizes[0]):.0f} to 10^{np.log10(sizes[-1]):.0f} votes"
    return [
        Row(f"growth exponent of reading, summarising and delivering a long csv, {span}", exponents, 1.1, at_most=True),
        Row(f"the same at 10^{np.log10(sizes[-1]):.0f} votes, peak memory / the file's bytes", ratios, 4, at_most=True),
    ]


POLARS = """
import json, sys, time
import polars
from hardlabels.votes.formats import read
path = sys.argv[1]
def by_polars():
    return polars.read_csv(path).group_by("task", "label").len().height
def by_us():
    return len(read(path).votes.labels)
def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
by_polars(), by_us()  # the file is in the cache of the system, both libraries are loaded
print(json.dumps([[seconds(by_us), seconds(by_polars)] for _ in range(int(sys.argv[2]))]))
"""


def long_csv_against_polars(votes: int = 3 * 10**6, repeats: int = 5) -> Row:
    """Reading a long csv of votes against what polars itself takes to read it and to count votes by item and class."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(votes, path)
        command = [sys.executable, "-c", POLARS, str(path), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    ratios = [ours / theirs for ours, theirs in json.loads(done.stdout)]
    return Row(f"reading a long csv of {votes / 1e6:.0f} million votes / polars' own read and group", ratios, 2, at_most=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for count in (10**5, 10**6, 10**7):
            target = Path(scratch) / "votes.csv"
            write_votes(count, target)
            result = measure(target)
            memory = (
                f"peak {result['peak'] / 1e6:.0f} MB ({result['bare'] / 1e6:.0f} MB before), file {result['file'] / 1e6:.0f} MB"
            )
            times = ", ".join(f"{part} {result[part]:.2f} s" for part in ("read", "summarise", "deliver"))
            print(f"{count:,} votes: {times}; {memory}", flush=True)
