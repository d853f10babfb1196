"""From a claim and finished runs to a verdict.

- *supported*: every comparison passes its test (Holm over all of them for a difference; each by itself for equality, where all
  must hold anyway), and the study is whole. With fewer seeds than the test needs that cannot happen: exact p have a floor.
- *contradicted*: the same tests, the same correction, the other way round: at least one comparison lies beyond doubt on the
  wrong side (for equality: beyond the margin). A large p is no contradiction.
- *inconclusive*: everything else that has numbers. Runs that are missing make every verdict inconclusive: which runs finished
  must not decide what is compared. So do methods of the claim that the study does not have.
- *not run*: no numbers, or a study that lacks half of the methods and more: another one was made for it.
"""

from collections.abc import Iterable

import numpy as np

from hardlabels.reporting.claims.claim import Claim, Comparison, Row, Rules, Status, Verdict
from hardlabels.reporting.claims.design import Design, label_of
from hardlabels.reporting.published import PUBLISHED_DATA
from hardlabels.statistics.equivalence import equivalence
from hardlabels.statistics.holm import holm, seeds_needed
from hardlabels.statistics.intervals import hodges_lehmann
from hardlabels.statistics.paired import paired_test
from hardlabels.statistics.signed_rank import exact_p, least_p, subtract

TINY_P = 1e-12  # tolerance of p <= alpha: 5 / 2^n and such are exact, their sums with Holm nearly so


def judge(
    claim: Claim, design: Design, rules: Rules, *, study: str, words: Iterable[str] = (), probes: Iterable[str] | None = None
) -> Verdict:
    """The verdict on a claim.

    Args:
        claim: the claim.
        design: what the study set out to measure, and what there is.
        rules: level, margins, thresholds.
        study: its name, for commands.
        words: overrides that chose the runs, for commands.
        probes: those that the study runs; a claim about another one belongs to another study. None: any.
    """
    how = claim.test.describe(rules)
    if design.cells[0].data != PUBLISHED_DATA and any(letter.isdigit() for letter in how["margin"]):
        how["margin"] += f", settled for {PUBLISHED_DATA}"
    comparisons, absent = claim.test.comparisons(design, rules), claim.test.absent(design)
    measured = any(comparison.units for comparison in comparisons)
    unprobed = [] if measured or probes is None else sorted(_probes(comparisons) - set(probes))
    if not comparisons or 2 * len(absent) >= len(claim.test.subjects) or unprobed:
        lacks = absent or [f"probe {name}" for name in unprobed]
        sentence = f"This study has no {_list(lacks)}." if lacks else "This study does not have the cells for it."
        return Verdict(
            claim, "not run", sentence, elsewhere=True, how=how, commands=(f"python -m hardlabels.reproduce study={claim.study}",)
        )
    missing, commands = _missing(comparisons, design, study, list(words))
    needed = seeds_needed(1 if claim.test.equal else len(comparisons), rules.alpha)
    if not measured:
        return Verdict(
            claim, "not run", "No numbers yet.", needed=needed, missing=missing, commands=commands, unit=claim.test.unit, how=how
        )
    rows, wrong = (_same if claim.test.equal else _better)(comparisons, rules)
    n = min(row.n for row in rows)
    whole = not missing and not absent
    passes = all(row.adjusted <= rules.alpha + TINY_P for row in rows) and all(c.ordered for c in comparisons)
    status: Status = "inconclusive"
    if whole and n >= needed and passes:
        status = "supported"
    elif whole and wrong:
        status = "contradicted"
    floor = min(1.0, (1 if claim.test.equal else len(rows)) * least_p(n))
    reasons = _reasons(status, absent, bool(missing), bool(wrong), all(c.ordered for c in comparisons))
    if n < needed:
        reasons.insert(0, f"With n = {n} the least attainable p is {floor:.3g}: {needed} {claim.test.unit} are needed.")
    sentence = " ".join([_summary(claim, comparisons, rows, rules.alpha), *reasons])
    sentence = sentence[0].upper() + sentence[1:]
    p = max(row.adjusted for row in rows)
    return Verdict(claim, status, sentence, n, p, floor, needed, tuple(rows), missing, commands, unit=claim.test.unit, how=how)


def _better(comparisons: list[Comparison], rules: Rules) -> tuple[list[Row], list[str]]:
    """Rows, and the labels of those that are significantly the other way round."""
    raw, reverse, parts = {}, {}, {}
    for number, comparison in enumerate(comparisons):
        key, (left, right) = str(number), comparison.sides
        raw[key] = reverse[key] = 1.0
        if not left:
            continue
        moved = {unit: value + comparison.shift for unit, value in right.items()}
        test = paired_test(left, moved, alternative="greater" if comparison.greater else "less")
        raw[key], parts[key] = test.p, test
        reverse[key] = paired_test(left, moved, alternative="less" if comparison.greater else "greater").p
    adjusted, against = holm(raw), holm(reverse)
    rows = []
    for number, comparison in enumerate(comparisons):
        key = str(number)
        agreeing = parts[key].agreeing if key in parts else 0
        rows.append(_row(comparison, agreeing, raw[key], adjusted[key], 0.95))
    return rows, [comparisons[int(key)].label for key, p in against.items() if p <= rules.alpha + TINY_P]


def _same(comparisons: list[Comparison], rules: Rules) -> tuple[list[Row], list[str]]:
    """Rows, and the labels of those that differ by more than the margin."""
    rows, beyond = [], {}
    for number, comparison in enumerate(comparisons):
        left, right = comparison.sides
        if not left:
            rows.append(_row(comparison, 0, 1.0, 1.0, 1 - 2 * rules.alpha))
            continue
        differences = subtract(list(left.values()), list(right.values()))
        margin = comparison.shift
        p = equivalence(differences, margin, alpha=rules.alpha).p
        above, below = (exact_p(subtract(sign * differences, margin), "greater") for sign in (1, -1))
        beyond[str(number)] = min(above, below)
        rows.append(_row(comparison, int((np.abs(differences) < margin).sum()), p, p, 1 - 2 * rules.alpha))
    return rows, [comparisons[int(key)].label for key, p in holm(beyond).items() if p <= rules.alpha + TINY_P]


def _row(comparison: Comparison, agreeing: int, p: float, adjusted: float, level: float) -> Row:
    left, right = (list(side.values()) for side in comparison.sides)
    n, of = len(left), len(comparison.expected)
    if not n:
        nothing = float("nan")
        return Row(comparison.label, nothing, nothing, nothing, nothing, nothing, nothing, 0, 0, of, p, adjusted, comparison.note)
    shift = hodges_lehmann(subtract(left, right), level=level)
    means = float(np.mean(left)), float(np.mean(right))
    numbers = (shift.value, shift.low, shift.high, shift.level)
    return Row(comparison.label, *means, *numbers, agreeing, n, of, p, adjusted, comparison.note)


def _summary(claim: Claim, comparisons: list[Comparison], rows: list[Row], alpha: float) -> str:
    """The numbers, in one or two sentences."""
    seen = [row for row in rows if row.n]
    passed = sum(row.adjusted <= alpha + TINY_P for row in rows)
    if len(rows) == 1:
        (row,), (comparison,) = rows, comparisons
        values = (
            f"{number(row.left)} against {number(row.right)}, difference " if not row.note else f"means {row.note}; correlation "
        )
        interval = f"{number(row.estimate, True)} [{number(row.low, True)}, {number(row.high, True)}]"
        counted = "within the margin" if claim.test.equal else "have the claimed sign"
        return f"{comparison.label}: {values}{interval}; {row.agreeing} of {row.n} {claim.test.unit} {counted}, p = {row.p:.3g}."
    if claim.test.equal:
        spans = _spans(comparisons, rows)
        return f"{passed} of {len(rows)} comparisons are within their margin at {alpha:g}: {spans}."
    signs = sum(
        (row.left > row.right + c.shift) if c.greater else (row.left < row.right + c.shift)
        for row, c in zip(rows, comparisons, strict=True)
        if row.n
    )
    unanimous = sum(row.agreeing == row.n for row in seen)
    return (
        f"{signs} of {len(rows)} comparisons have the claimed sign, {unanimous} with all seeds agreeing "
        f"({_spans(comparisons, rows)}); Holm keeps {passed} of {len(rows)}."
    )


def _spans(comparisons: list[Comparison], rows: list[Row]) -> str:
    """The range of mean differences, quantity by quantity."""
    by_quantity: dict[str, list[float]] = {}
    for comparison, row in zip(comparisons, rows, strict=True):
        if row.n:
            by_quantity.setdefault(comparison.quantity, []).append(row.left - row.right)
    parts = []
    for name, values in list(by_quantity.items())[:4]:
        low, high = number(min(values), True), number(max(values), True)
        parts.append(f"{label_of(name)} {low}" if low == high else f"{label_of(name)} {low} to {high}")
    return ", ".join(parts) + (", …" if len(by_quantity) > 4 else "")


def number(value: float, signed: bool = False) -> str:
    """A number as sentences show it: four decimals, fewer where it is large, two digits where it is tiny; a true minus.

    >>> number(0.50519), number(-0.0263, signed=True), number(4946.04), number(104.93), number(0.00023), number(float("nan"))
    ('0.5052', '−0.0263', '4946', '104.9', '0.00023', '–')
    """
    if not np.isfinite(value):
        return "–" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    size, sign = abs(value), "+" if signed else ""
    form = ".2g" if 0 < size < 0.001 else f".{4 if size < 10 else max(0, 4 - len(str(int(size))))}f"
    return f"{value:{sign}{form}}".replace("-", "−")


def _reasons(status: Status, absent: list[str], missing: bool, wrong: bool, ordered: bool) -> list[str]:
    if status == "contradicted":
        return ["Against the claim by the same rule."]
    reasons = []
    if missing:
        reasons.append("Incomplete: no verdict before all of it is there.")
    if absent:
        reasons.append(f"The study has no {_list(absent)}, so it covers a part of the claim only.")
    if not ordered:
        reasons.append("The means are not in order at every step.")
    if wrong:
        reasons.append("What there is points the other way.")
    return reasons


def _missing(
    comparisons: list[Comparison], design: Design, study: str, words: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is not there, and the commands that make it: training first, then probes."""
    lines = [
        f"{c.label}: {len(c.expected) - len(c.units)} of {len(c.expected)}" for c in comparisons if len(c.units) < len(c.expected)
    ]
    if not lines:
        return (), ()
    tail = " ".join([f"study={study}", *words])
    if any(cell not in design.records.folders for cell in design.cells):
        return tuple(lines), (f"python -m hardlabels.reproduce {tail}",)
    probes = sorted(_probes([c for c in comparisons if len(c.units) < len(c.expected)]))
    if probes:
        return tuple(lines), (f"python -m hardlabels.diagnose {tail} probe={','.join(probes)}",)
    return tuple(lines), ()


def _probes(comparisons: list[Comparison]) -> set[str]:
    return {c.quantity.split("/")[0] for c in comparisons if "/" in c.quantity}


def _list(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))
