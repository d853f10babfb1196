"""Scores as plain numbers and as tables, and what their intervals are over."""

import math
from collections.abc import Mapping
from typing import Any

from rich.table import Table

from hardlabels.metrics.bootstrap import RECOMPUTED, SCORES, TESTED, Assessment, Interval


def as_json(result: Assessment, versus: bool = False) -> dict[str, Any]:
    """One slice as plain numbers; null for what cannot be told (or is infinite, as soft NLL is at q = 0 under a vote)."""
    entries: dict[str, Any] = {}
    for name in result.values:
        entries[name] = {"difference" if versus else "value": finite(result.values[name])}
        for over in ("items", "votes"):
            entries[name][over] = {end: finite(number) for end, number in result.interval(name, over)._asdict().items()}
        if versus and name in TESTED:
            entries[name]["wilcoxon_p"] = finite(result.p_value(name))
    return entries


def finite(number: float) -> float | None:
    """The number, or None where JSON has no word for it."""
    return float(number) if math.isfinite(number) else None


def draw_table(
    result: Assessment,
    title: str,
    *,
    votes: bool,
    versus: bool = False,
    baselines: Mapping[str, Mapping[str, float]] | None = None,
) -> Table:
    """One slice as a table.

    Args:
        result: the scores.
        title: above the table.
        votes: whether single votes are known.
        versus: whether these are differences between two models.
        baselines: what constant predictions score, by their name: a column each.
    """
    baselines = baselines or {}
    table = Table(title=title, title_justify="left")
    table.add_column("score", no_wrap=True)
    heads = [
        "first - second" if versus else "value",
        "95 % over items",
        *(["95 % over votes", "bias of\nfew votes"] if votes else []),
        *(name.replace(" ", "\n") for name in baselines),
    ]
    for head in heads + (["Wilcoxon p"] if versus else []):
        table.add_column(head, justify="right", no_wrap=True)
    sign = "+" if versus else ""
    for name in result.values:
        spec = SCORES[name]
        arrow = {True: " ↑", False: " ↓", None: ""}[spec.higher_is_better]
        row = [spec.label + arrow, _number(result.values[name], sign), _range(result.interval(name, "items"), sign)]
        if votes:
            over_votes = result.interval(name, "votes")
            row += [_range(over_votes, sign), "" if math.isnan(over_votes.bias) else _number(over_votes.bias, "+")]
        row += [_number(scores[name], "") for scores in baselines.values()]
        if versus:
            row.append((f"{result.p_value(name):.3g}" if result.p_value(name) else "< 1e-300") if name in TESTED else "")
        table.add_row(*row)
    return table


def _number(value: float, sign: str) -> str:
    """Four decimals, without a sign where they are all 0; a dash where there is no number."""
    text = "–" if math.isnan(value) else f"{value:{sign}.4f}"
    return "0.0000" if text.lstrip("+-") == "0.0000" else text


def _range(ends: Interval, sign: str) -> str:
    return "–" if math.isnan(ends.low) else f"{_number(ends.low, sign)} .. {_number(ends.high, sign)}"


def captions(resamples: int, *, votes: bool, versus: bool) -> list[str]:
    """What the intervals and the test are over, and what the baselines are."""
    again = min(resamples, RECOMPUTED)
    lines = [
        f"over items: bootstrap of {resamples} resamples ({again} for ECE, entropy correlation and the parts of Brier): other "
        "items of this kind, this model; not over training seeds. On few items ECE, reliability and their intervals lie high.",
    ]
    if votes:
        lines.append(
            f"over votes: {again} redraws of each item's votes: other annotators, these items. Bias: what a redraw adds to the "
            "score on average, about what the score owes to having few votes; it is not subtracted."
        )
    else:
        lines.append("over votes: none, as only probabilities are known, not counts.")
    if versus:
        lines.append(
            "first - second: both on the same items and resamples (paired). Wilcoxon: two-sided signed-rank test over items, not "
            "over seeds; with many items a small difference is significant, and another seed may reverse it."
        )
    lines.append(
        "uniform, most frequent: what the same prediction for every item would score, all classes alike or all on the class with "
        "the most votes in the file."
    )
    return lines
