"""The verdicts of one data set and recipe as a table on the terminal."""

from rich.table import Table as Lines

from hardlabels.reporting.claims import Verdict
from hardlabels.reporting.claims.status import EPOCHS, SIGNS, at_both_epochs
from hardlabels.reporting.number_formats import p_value
from hardlabels.reporting.page import SAME_ITEMS, Part
from hardlabels.runs.quantity import CHECKPOINTS


def verdict_lines(part: Part) -> Lines:
    """The verdicts for a terminal: those that the study is about, at both checkpoints."""
    title = f"{part.data}, {part.recipe}: {part.finished} of {part.planned} runs"
    lines = Lines(title=title, title_justify="left", caption_justify="left")
    for checkpoint in CHECKPOINTS:
        lines.add_column(EPOCHS[checkpoint])
    lines.add_column("claim")
    for head in ("n", "p, selected / last"):
        lines.add_column(head, justify="right")
    for verdict in part.verdicts:
        if not verdict.elsewhere:
            lines.add_row(*_words(verdict))
    others = sum(verdict.elsewhere for verdict in part.verdicts)
    counts = [at_both_epochs(word, *found) for (_, word), found in part.counts.items()]
    here = f"selected and last epoch: {'; '.join(counts)}; " if counts else ""
    lines.caption = f"{here}{others} claims belong to other studies"
    if part.same_items:
        lines.caption += f". {SAME_ITEMS}"
    return lines


def _words(verdict: Verdict) -> list[str]:
    styles = {"supported": "green", "contradicted": "red", "no difference": "cyan", "not testable": "dim", "not run": "dim"}
    findings = [verdict.at[checkpoint] for checkpoint in CHECKPOINTS]
    states = [
        f"[{styles.get(finding.status, 'yellow')}]{SIGNS[finding.status]} {verdict.word(checkpoint)}[/]"
        for checkpoint, finding in zip(CHECKPOINTS, findings, strict=True)
    ]
    p = " / ".join(p_value(finding.p) for finding in findings)
    n, needed = findings[0].n, findings[0].needed
    too_few = needed is not None and 0 < n < needed  # from here on the exact test can show something; that need not be enough
    return [*states, verdict.claim.name, f"{n} of at least {needed}" if too_few else str(n), p]
