"""What a finding says in words: the numbers first, then why it is what it is."""

from collections.abc import Mapping, Sequence

from hardlabels.reporting.claims.claim import Row
from hardlabels.reporting.claims.quantities import label_of
from hardlabels.reporting.claims.status import Status
from hardlabels.reporting.number_formats import number, p_value
from hardlabels.runs.quantity import Quantity

SHOWN = 4
"""Quantities that a sentence names before it stops."""


def summary(rows: Sequence[Row], passed: int, unit: str) -> str:
    """The numbers of a claim, in one or two sentences.

    Args:
        rows: its comparisons.
        passed: how many of them are as claimed.
        unit: what one observation is.
    """
    if len(rows) == 1:
        (row,) = rows
        counted = "lie within the margin" if row.kind == "equal" else "have the claimed sign"
        values = f"{number(row.left)} against {number(row.right)}, mean difference {number(row.left - row.right, True)}"
        tests = f"p = {p_value(row.p)} (Wilcoxon), {p_value(row.p_corrected)} (corrected t)"
        return f"{row.label}: {values}, Hodges-Lehmann {interval(row)}; {row.agreeing} of {row.n} {unit} {counted}, {tests}."
    if all(row.kind == "equal" for row in rows):
        return f"{passed} of {len(rows)} comparisons are shown to lie within their margin: {spans(rows)}."
    differences = [row for row in rows if row.kind != "equal"]
    signs = sum(row.claimed_side for row in differences)
    unanimous = sum(row.agreeing == row.n > 0 for row in differences)
    found = f"{signs} of {len(differences)} comparisons have the claimed sign, {unanimous} with all {unit} agreeing"
    return f"{found} ({spans(rows)}); {passed} of {len(rows)} are shown."


def called(row: Row) -> str:
    """What the numbers of a comparison are: those of its quantity, or something made of it, such as a rank correlation."""
    return row.measure or label_of(Quantity.from_column(row.quantity))


def interval(row: Row) -> str:
    """The Hodges-Lehmann estimate and its exact interval: not the difference of the two means that stand before it."""
    return f"{number(row.estimate, True)} [{number(row.low, True)}, {number(row.high, True)}]"


def spans(rows: Sequence[Row]) -> str:
    """The range of mean differences, quantity by quantity."""
    by_label: dict[str, list[float]] = {}
    for row in rows:
        if row.n:
            by_label.setdefault(called(row), []).append(row.left - row.right)
    return ranges(by_label)


def ranges(by_label: Mapping[str, Sequence[float]]) -> str:
    """Least and largest of each, the first of them where there are many.

    >>> ranges({"soft NLL": [-0.1, 0.25], "accuracy": [0.5]})
    'soft NLL −0.1000 to +0.2500, accuracy +0.5000'
    """
    parts = []
    for label, values in list(by_label.items())[:SHOWN]:
        low, high = number(min(values), True), number(max(values), True)
        parts.append(f"{label} {low}" if low == high else f"{label} {low} to {high}")
    return ", ".join(parts) + (", …" if len(by_label) > SHOWN else "")


def without_luck(rows: Sequence[Row]) -> str:
    """What the differences are without the luck of selection; empty where the epochs were not selected on the scored items."""
    by_label: dict[str, list[float]] = {}
    for row in rows:
        if row.unselected is not None:
            by_label.setdefault(called(row), []).append(row.unselected)
    if not by_label:
        return ""
    return f"Epochs were selected on the scored items; at those that the other seeds choose: {ranges(by_label)}."


def margins(rows: Sequence[Row]) -> str:
    """The margins of all comparisons and where they come from, each once."""
    found: dict[str, None] = {}
    for row in rows:
        label = called(row)
        if row.margin is not None:
            found[f"{label} ±{number(row.margin)} ({row.margin_why})"] = None
        elif row.margin_why != "none":
            found[f"{label}: {row.margin_why}"] = None
    return "; ".join(found) or "none: any difference counts"


def reasons(
    status: Status, rows: Sequence[Row], *, absent: Sequence[str], missing: bool, ordered: bool, alpha: float
) -> list[str]:
    """Why the status is what it is, sentence by sentence."""
    if status == "contradicted":
        against = [row.label for row in rows if row.against <= alpha and not row.inside]
        return [f"By the same rule against the claim: {listed(against, 2)}."]
    if status == "not testable":
        why = dict.fromkeys(row.untestable for row in rows if row.untestable)
        return [f"Not testable here: {listed(list(why), 2)}."]
    if status == "no difference":
        inside = sum(row.inside and row.kind != "equal" for row in rows)
        return [f"{inside} of {len(rows)} differences are shown to lie inside the margin, whatever their sign."]
    found = []
    if missing:
        found.append("Incomplete: no verdict before all of it is there.")
    if absent:
        found.append(f"The study has no {listed(absent)}, so it covers a part of the claim only.")
    if not ordered:
        found.append("The means are not in order at every step.")
    return found


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names without repetition, the first of them where there are many.

    >>> listed(["a", "b", "a", "c"], 2)
    'a; b; and 1 more'
    """
    once = list(dict.fromkeys(names))
    mark = ", " if most > 2 else "; "
    return mark.join([*once[:most], *([f"and {len(once) - most} more"] if len(once) > most else [])])
