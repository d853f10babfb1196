"""The verdicts of several data sets side by side: a claim a row, a data set a column."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table as Lines

from hardlabels.reporting.claims.claim import SIGNS, STATUSES, Claim, Verdict
from hardlabels.reporting.write import markdown
from hardlabels.runs.files import write_text

TITLE = "Verdicts over data sets"


@dataclass(frozen=True)
class VerdictMatrix:
    """What each data set says about each claim that at least one of them tested.

    Attributes:
        data: names of the data sets.
        rows: claim to its verdicts, in the order of ``data``.
    """

    data: tuple[str, ...]
    rows: tuple[tuple[Claim, tuple[Verdict, ...]], ...]

    def counts(self, verdicts: Sequence[Verdict]) -> dict[str, int]:
        """Status to the number of data sets that have it."""
        found = Counter(verdict.status for verdict in verdicts)
        return {status: found[status] for status in STATUSES}

    def count_word(self, verdicts: Sequence[Verdict]) -> str:
        """The counts of those that tested the claim, such as ``3 ✓ 1 ?``."""
        counts = self.counts(verdicts)
        return " ".join(f"{counts[status]} {SIGNS[status]}" for status in STATUSES if counts[status] and status != "not run")


def verdict_matrix(verdicts: Mapping[str, Sequence[Verdict]]) -> VerdictMatrix:
    """The matrix, from the verdicts of each data set on the same claims."""
    rows = zip(*verdicts.values(), strict=True)
    tested = [row for row in rows if any(verdict.status != "not run" for verdict in row)]
    return VerdictMatrix(tuple(verdicts), tuple((row[0].claim, row) for row in tested))


def legend() -> str:
    """What the signs mean, for people.

    >>> legend()
    '✓ supported, ✗ contradicted, ? inconclusive, – not run'
    """
    return ", ".join(f"{SIGNS[status]} {status}" for status in STATUSES)


def matrix_lines(matrix: VerdictMatrix) -> Lines:
    """The matrix for a terminal."""
    lines = Lines(title=TITLE, title_justify="left", caption=legend(), caption_justify="left")
    lines.add_column("claim", overflow="fold")
    for name in matrix.data:
        lines.add_column(name.replace("_", " "), justify="center", overflow="fold", max_width=10)  # breaks at the space
    lines.add_column("count", no_wrap=True)
    for claim, verdicts in matrix.rows:
        lines.add_row(claim.name, *(SIGNS[verdict.status] for verdict in verdicts), matrix.count_word(verdicts))
    return lines


def to_markdown(matrix: VerdictMatrix) -> str:
    """GitHub's table."""
    heads = ["claim", *matrix.data, "count"]
    lines = [f"## {TITLE}", "", f"{legend()}. Claims that no data set tested are left out.", ""]
    lines += ["| " + " | ".join(map(markdown, heads)) + " |", "| --- |" + " :---: |" * len(matrix.data) + " --- |"]
    for claim, verdicts in matrix.rows:
        signs = [SIGNS[verdict.status] for verdict in verdicts]
        lines.append("| " + " | ".join([markdown(claim.says), *signs, matrix.count_word(verdicts)]) + " |")
    return "\n".join(lines) + "\n"


def to_csv(matrix: VerdictMatrix) -> str:
    """One line a claim: its name, what it says, the status on each data set, and how often each comes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["claim", "says", *matrix.data, *(f"n {status}" for status in STATUSES)])
    for claim, verdicts in matrix.rows:
        statuses = [verdict.status for verdict in verdicts]
        writer.writerow([claim.name, claim.says, *statuses, *matrix.counts(verdicts).values()])
    return text.getvalue()


def write_matrix(matrix: VerdictMatrix, folder: Path) -> list[Path]:
    """``verdicts_by_data.md`` and ``.csv``."""
    paths = []
    for suffix, convert in (("md", to_markdown), ("csv", to_csv)):
        paths.append(folder / f"verdicts_by_data.{suffix}")
        write_text(paths[-1], convert(matrix))
    return paths
