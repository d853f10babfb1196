"""The verdicts of several data sets side by side: a claim per row, a data set per column, both checkpoints in each cell."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table as Lines

from hardlabels.reporting.claims.claim import Claim, Verdict
from hardlabels.reporting.claims.status import EPOCHS, SIGNS, STATUSES, Status, legend
from hardlabels.reporting.table_files import markdown
from hardlabels.runs.quantity import CHECKPOINTS
from hardlabels.runs.writing import write_text

TITLE = "Verdicts over data sets"
ORDER = " and ".join(EPOCHS[checkpoint] for checkpoint in CHECKPOINTS)


@dataclass(frozen=True)
class VerdictMatrix:
    """What each data set says about each claim that at least one of them tested.

    Attributes:
        data: names of the data sets.
        rows: claim to its verdicts, in the order of ``data``.
    """

    data: tuple[str, ...]
    rows: tuple[tuple[Claim, tuple[Verdict, ...]], ...]

    def counts(self, verdicts: Sequence[Verdict], checkpoint: str) -> dict[Status, int]:
        """Status to the number of data sets that have it."""
        found = Counter(verdict.status(checkpoint) for verdict in verdicts)
        return {status: found[status] for status in STATUSES}

    def count_word(self, verdicts: Sequence[Verdict]) -> str:
        """The counts of those that tested the claim, such as ``3 ✓ 1 ?``, first at the selected, then at the last epoch."""
        words = []
        for checkpoint in CHECKPOINTS:
            counts = self.counts(verdicts, checkpoint)
            tested = [f"{counts[status]} {SIGNS[status]}" for status in STATUSES if counts[status] and status != "not run"]
            words.append(" ".join(tested) or SIGNS["not run"])
        return " / ".join(words)


def signs_of(verdict: Verdict) -> str:
    """The signs of a verdict at the selected and at the last epoch, such as ``✓ / ?``."""
    return " / ".join(SIGNS[verdict.status(checkpoint)] for checkpoint in CHECKPOINTS)


def verdict_matrix(verdicts: Mapping[str, Sequence[Verdict]]) -> VerdictMatrix:
    """The matrix, from the verdicts of each data set on the same claims."""
    rows = zip(*verdicts.values(), strict=True)
    tested = [row for row in rows if any(verdict.tested for verdict in row)]
    return VerdictMatrix(tuple(verdicts), tuple((row[0].claim, row) for row in tested))


def matrix_lines(matrix: VerdictMatrix) -> Lines:
    """The matrix for a terminal."""
    lines = Lines(title=TITLE, title_justify="left", caption=f"{ORDER}: {legend()}", caption_justify="left")
    lines.add_column("claim", overflow="fold")
    for name in matrix.data:
        lines.add_column(name.replace("_", " "), justify="center", overflow="fold", max_width=10)  # breaks at the space
    lines.add_column("count", no_wrap=True)
    for claim, verdicts in matrix.rows:
        lines.add_row(claim.name, *map(signs_of, verdicts), matrix.count_word(verdicts))
    return lines


def to_markdown(matrix: VerdictMatrix) -> str:
    """GitHub's table."""
    heads = ["claim", *matrix.data, "count"]
    about = f"At the {ORDER}: {legend()}. Claims that no data set tested are left out."
    lines = [f"## {TITLE}", "", about, ""]
    lines += ["| " + " | ".join(map(markdown, heads)) + " |", "| --- |" + " :---: |" * len(matrix.data) + " --- |"]
    for claim, verdicts in matrix.rows:
        lines.append("| " + " | ".join([markdown(claim.says), *map(signs_of, verdicts), matrix.count_word(verdicts)]) + " |")
    return "\n".join(lines) + "\n"


def to_csv(matrix: VerdictMatrix) -> str:
    """Two lines per claim, one for each checkpoint: what the claim says, its verdict on each data set, how often each comes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["claim", "checkpoint", "says", *matrix.data, *(f"n {status}" for status in STATUSES)])
    for claim, verdicts in matrix.rows:
        for checkpoint in CHECKPOINTS:
            words = [verdict.word(checkpoint) for verdict in verdicts]
            writer.writerow([claim.name, checkpoint, claim.says, *words, *matrix.counts(verdicts, checkpoint).values()])
    return text.getvalue()


def write_matrix(matrix: VerdictMatrix, folder: Path) -> list[Path]:
    """``verdicts_by_data.md`` and ``.csv``."""
    paths = []
    for suffix, convert in (("md", to_markdown), ("csv", to_csv)):
        paths.append(folder / f"verdicts_by_data.{suffix}")
        write_text(paths[-1], convert(matrix))
    return paths
