"""What was measured, as a file and as the table of docs/speed.md: the page is written from the file, never by hand."""

import json
import os
import platform
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.ratio import Row

ROOT = Path(__file__).resolve().parents[1]
MEASURED, PAGE = ROOT / "benchmarks/measured.json", ROOT / "docs/speed.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def entry(row: Row, commit: str) -> dict[str, Any]:
    """A row as it is kept.

    >>> entry(Row("a / b", [1.0, 3.0, 1.5], 2, at_most=True), "abc")["met"]
    True
    """
    return {**vars(row), "median": row.median, "met": row.met, "commit": commit}


def machine() -> str:
    """What the numbers were measured on, without naming it."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def table(measured: Mapping[str, Any]) -> str:
    """The rows as markdown, with a line that says when each was measured, and what failed.

    >>> rows = [entry(Row("a / b", [1.0, 3.0, 1.5], 2, at_most=True), "abc")]
    >>> print(table({"where": "x86_64", "minutes": 0.5, "comparisons": {"a": {"rows": rows}, "b": {"error": "OSError: no"}}}))
    Measured on x86_64, commit abc, in 0.5 minutes.
    <BLANKLINE>
    | comparison | median | min .. max | n | goal | |
    | --- | ---: | ---: | ---: | ---: | --- |
    | a / b | 1.5 | 1 .. 3 | 3 | ≤ 2 | met |
    | b | | | | | failed: OSError: no |
    """
    found = measured["comparisons"]
    commits = dict.fromkeys(row["commit"] for one in found.values() for row in one.get("rows", ()))
    lines = [f"Measured on {measured['where']}, commit {', '.join(commits)}, in {measured['minutes']:.1f} minutes.", ""]
    lines += ["| comparison | median | min .. max | n | goal | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for key, one in found.items():
        lines += [_line(row) for row in one.get("rows", ())]
        if "error" in one:
            lines.append(f"| {key} | | | | | failed: {one['error']} |")
    return "\n".join(lines)


def _line(row: Mapping[str, Any]) -> str:
    spread = f"{number(min(row['ratios']))} .. {number(max(row['ratios']))}"
    goal = f"{'≤' if row['at_most'] else '≥'} {row['goal']:.3g}"
    median = number(statistics.median(row["ratios"]))
    return f"| {row['name']} | {median} | {spread} | {len(row['ratios'])} | {goal} | {'met' if row['met'] else 'missed'} |"


def number(value: float) -> str:
    """Three digits, and no exponent.

    >>> [number(value) for value in (0.0719, 1.0349, 28.84, 2254.6)]
    ['0.0719', '1.03', '28.8', '2,255']
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def with_table(page: str, measured: Mapping[str, Any]) -> str:
    """The page with this table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(measured)}\n{END}{after}"


def write(measured: Mapping[str, Any], path: Path) -> None:
    """Keep what was measured so far; called after every comparison, so that one that dies does not lose the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(measured, indent=2) + "\n")
