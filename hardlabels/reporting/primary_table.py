"""The primary outcomes of a study as a table: for the page, and as ``primary.md`` and ``primary.csv``."""

import csv
import io
from dataclasses import fields
from pathlib import Path

from hardlabels.reporting.claims.status import WORDS
from hardlabels.reporting.number_formats import number, p_value
from hardlabels.reporting.primary import Outcome, PrimaryResult
from hardlabels.runs.writing import write_text

BESIDE_CLAIMS = (
    "The primary outcomes were fixed before the first run: trust them for the question that this study set out to decide. "
    "The claims of the report are judged by one rule in every study: trust them where studies are compared. "
    "The two may read differently: here a match is contradicted by a difference that is shown, and is not shown to be small; "
    "a claim is contradicted only by a difference that is shown to lie beyond the margin."
)
"""Why the primary outcomes and the claims may read differently, and which to trust for what."""


def heads(result: PrimaryResult) -> list[str]:
    """Of the table's columns."""
    first = ["outcome", "claim", "K", "method", "checkpoint", "n", "difference", f"{100 * result.level:g} % interval"]
    return [*first, "margin", "p Wilcoxon", "p corrected t", "status", "could have seen"]


def outcome_words(outcome: Outcome) -> list[str]:
    """One line of the table, for people."""
    margin = "none" if outcome.margin is None else f"±{number(outcome.margin)}"
    status = WORDS[outcome.status] + (", of no matter" if outcome.of_no_matter else "")
    direction = "" if outcome.status != "contradicted" else f", {'above' if outcome.difference > 0 else 'below'} 0"
    seen = "" if outcome.detectable is None else number(outcome.detectable)
    return [
        outcome.quantity,
        outcome.claim,
        outcome.K,
        outcome.method,
        outcome.checkpoint,
        str(outcome.n),
        number(outcome.difference, signed=True),
        f"[{number(outcome.low, signed=True)}, {number(outcome.high, signed=True)}]",
        margin,
        p_value(outcome.p),
        p_value(outcome.p_corrected),
        status + direction,
        seen,
    ]


def write_primary(result: PrimaryResult, folder: Path) -> None:
    """``primary.md`` and ``primary.csv``."""
    lines = [f"## Primary outcomes: {result.quantity}", "", result.sentence, ""]
    if result.outcomes:
        lines += ["| " + " | ".join(heads(result)) + " |", "|" + " --- |" * len(heads(result))]
        lines += ["| " + " | ".join(outcome_words(outcome)) + " |" for outcome in result.outcomes]
        lines += ["", *(f"- {claim}" for claim in result.claims)]
        lines += [f"- Margin, {where}: {margin.why}." for where, margin in result.margins]
        lines += [f"- {result.sensitivity}", "", BESIDE_CLAIMS]
    write_text(folder / "primary.md", "\n".join(lines) + "\n")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Outcome)])
    writer.writerows([getattr(outcome, field.name) for field in fields(Outcome)] for outcome in result.outcomes)
    write_text(folder / "primary.csv", text.getvalue())
