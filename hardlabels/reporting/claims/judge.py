"""From a claim and finished runs to a verdict, at each checkpoint.

A claim needs every one of its comparisons. Each is tested twice: by the exact Wilcoxon test over seeds, and by the corrected
resampled t-test, which knows that seeds split the same items anew. Both must reject; in the paper's own regime, where its own
test is repeated, Wilcoxon decides and the other is shown. A comparison whose corrected 1 - 2 alpha interval lies inside
the margin differs by nothing that matters, whatever its sign: it supports nothing and contradicts nothing.

- *supported*: every comparison passes at alpha. Without Holm: a claim that needs all of m tests is called true by mistake only if
  each of them is, so the claim's level is that of one test (intersection-union).
- *contradicted*: at least one comparison lies, by the same tests, on the wrong side (for equality: beyond the margin). There any
  of m tests will do, so these are corrected by Holm; of an equality either end of the margin will do, so its p is doubled before.
  A large p is no contradiction.
- *no difference*: every comparison passes or lies inside the margin, and at least one does the latter.
- *not testable*: a comparison has no margin although the claim is one of equality; or soft labels, at its K, do not beat the
  class shares, so that there is nothing that a delivery could preserve.
- *inconclusive*: everything else that has numbers. Runs that are missing make every verdict inconclusive: which runs finished
  must not decide what is compared. So do methods of the claim that the study does not have.
- *not run*: no numbers, or a study that lacks half of the methods and more: another one was made for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hardlabels.reporting.claims.claim import Claim, Comparison, Finding, Row, Test, Verdict
from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.measure import measure
from hardlabels.reporting.claims.quantities import label_of
from hardlabels.reporting.claims.rules import Rules
from hardlabels.reporting.claims.sentences import called, listed, margins, reasons, spans, summary, without_luck
from hardlabels.reporting.claims.status import Status, status_word
from hardlabels.reporting.claims.subjects import votes_word
from hardlabels.reporting.number_formats import number
from hardlabels.runs.quantity import CHECKPOINTS, Quantity
from hardlabels.runs.studies.commands import Commands
from hardlabels.statistics.holm import first_step, holm, seeds_needed
from hardlabels.statistics.power import LIMIT, Criterion, effect_out_of_reach, seeds_for_effect, smallest_effect, smallest_margin
from hardlabels.statistics.signed_rank import least_p, subtract

TINY_P = 1e-12  # tolerance of p <= alpha: 5 / 2^n and such are exact, their sums with Holm nearly so


def judge(claim: Claim, design: Design, rules: Rules, *, study: str, probes: Iterable[str] | None = None) -> Verdict:
    """The verdict on a claim.

    Args:
        claim: the claim.
        design: what the study set out to measure, and what there is.
        rules: level, margins, thresholds.
        study: its name, for commands.
        probes: those that the study runs; a claim about another one belongs to another study. None: any.
    """
    commands = Commands(study, design.records.words, design.records.places)
    views = {checkpoint: design.at(checkpoint) for checkpoint in CHECKPOINTS}
    comparisons = {checkpoint: claim.test.comparisons(view, rules) for checkpoint, view in views.items()}
    measured = any(comparison.units for found in comparisons.values() for comparison in found)
    absent = claim.test.absent(design)
    unprobed = [] if measured or probes is None else sorted(set(claim.test.probes) - set(probes))
    if not any(comparisons.values()) or 2 * len(absent) >= len(claim.test.subjects) or unprobed:
        lacks = absent or [f"probe {name}" for name in unprobed]
        sentence = f"This study has no {listed(lacks)}." if lacks else "This study does not have the cells for it."
        command = commands.reproduce(design.cells[0].data, design.cells[0].tagged_recipe, claim.study)
        finding = Finding("not run", sentence, how=_how(claim.test, rules, ()), commands=(command,))
        return Verdict(claim, dict.fromkeys(CHECKPOINTS, finding), elsewhere=True, own_regime=design.own_regime)
    found = {
        checkpoint: _find(claim, claim.test, comparisons[checkpoint], absent, view, rules, commands)
        for checkpoint, view in views.items()
    }
    tempered = claim.test.tempered()
    for checkpoint, view in views.items():
        after = [] if tempered is None else tempered.comparisons(view, rules)
        if tempered is not None and any(comparison.units for comparison in after):
            beside = _find(claim, tempered, after, absent, view, rules, commands)
            word = status_word(beside.status, carried=not (design.own_regime or claim.ours))
            sentence = f"{found[checkpoint].sentence} After one temperature: {word} ({spans(beside.rows)})."
            found[checkpoint] = replace(found[checkpoint], tempered=beside, sentence=sentence)
    return Verdict(claim, found, own_regime=design.own_regime)


def _find(
    claim: Claim,
    test: Test,
    comparisons: Sequence[Comparison],
    absent: Sequence[str],
    design: Design,
    rules: Rules,
    commands: Commands,
) -> Finding:
    """What the runs say at the checkpoint of the design."""
    missing, lines = _missing(comparisons, design, commands)
    needed = seeds_needed(first_step(len(comparisons), "every"), rules.alpha)
    if not any(comparison.units for comparison in comparisons):
        sentence = "No numbers yet." if design.records.checkpoint == "best" else "Not measured at the last epoch."
        return Finding(
            "not run",
            sentence,
            needed=needed,
            missing=missing,
            commands=lines,
            unit=test.unit,
            how=_how(test, rules, ()),
        )
    both = not design.own_regime
    rows = [measure(comparison, alpha=rules.alpha, ratio=design.ratio, both=both) for comparison in comparisons]
    rows = [_without_signal(row, comparison, design) for row, comparison in zip(rows, comparisons, strict=True)]
    rows = _corrected(rows)
    level = rules.alpha + TINY_P
    ordered = [comparison.ordered for comparison in comparisons]
    passes = [passes_alone(row, level) and in_order for row, in_order in zip(rows, ordered, strict=True)]
    whole = not missing and not absent
    status = decide(rows, passes, whole=whole, needed=needed, level=level)
    n = min(row.n for row in rows)
    sentences = [summary(rows, sum(passes), test.unit), *filter(None, [without_luck(rows)])]
    if n < needed:
        floor = f"With n = {n} the least attainable p is {least_p(n):.3g}: {needed} {test.unit} are needed."
        sentences.append(floor)
    sentences += reasons(status, rows, absent=absent, missing=bool(missing), ordered=all(ordered), alpha=level)
    if status == "inconclusive":
        rows = [_with_power(row, c, claim.effect, design, rules) for row, c in zip(rows, comparisons, strict=True)]
        sentences += _power_words(rows, claim.effect, rules, test.unit)
    sentence = " ".join(sentences)
    return Finding(
        status,
        sentence[0].upper() + sentence[1:],
        n,
        max(row.decides for row in rows),
        least_p(n),
        needed,
        tuple(rows),
        missing,
        lines,
        test.unit,
        _how(test, rules, rows),
    )


def decide(rows: Sequence[Row], passes: Sequence[bool], *, whole: bool, needed: int, level: float) -> Status:
    """The status, from the rows of a claim.

    Args:
        rows: its comparisons, ``against`` after Holm.
        passes: which of them are as claimed.
        whole: whether all that the claim needs is there.
        needed: units from which on the exact test can reject.
        level: alpha.
    """
    if not whole:
        return "inconclusive"
    if any(opposed(row, level) for row in rows):
        return "contradicted"
    if any(row.untestable for row in rows):
        return "not testable"
    if any(row.n < needed for row in rows):
        return "inconclusive"
    if all(passes):
        return "supported"
    immaterial = [row.kind != "equal" and row.inside for row in rows]
    return "no difference" if all(one or other for one, other in zip(passes, immaterial, strict=True)) else "inconclusive"


def passes_alone(row: Row, level: float) -> bool:
    """Whether a comparison is as claimed; a difference that does not matter is none."""
    return row.decides <= level and not row.untestable and (row.kind == "equal" or not row.inside)


def opposed(row: Row, level: float) -> bool:
    """Whether a comparison is shown to lie on the wrong side."""
    return row.against <= level and not row.untestable and not row.inside


def match_by_match(finding: Finding, alpha: float) -> str:
    """What became of each comparison of a claim that several things match; empty for other claims and for a single comparison.

    The verdict needs all of them, so that one which cannot be tested hides what the others show.

    Args:
        finding: at one checkpoint.
        alpha: the level of the claim.
    """
    rows, level = [row for row in finding.rows if row.n], alpha + TINY_P
    if len(rows) < 2 or any(row.kind != "equal" for row in rows):
        return ""
    several = len({called(row) for row in rows}) < len(rows)
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        word = "Not decided"
        if row.untestable:
            word = "Not testable"
        elif passes_alone(row, level):
            word = "Shown to lie within the margin"
        elif opposed(row, level):
            word = "Shown to lie outside the margin"
        why = f", since {row.untestable.removeprefix('no margin: ')}" if row.untestable else ""
        found.setdefault((word, why), []).append(row.label if several else called(row))
    return " ".join(f"{word}: {('; ' if several else ', ').join(names)}{why}." for (word, why), names in found.items())


def _without_signal(row: Row, comparison: Comparison, design: Design) -> Row:
    """The row, marked where soft labels do not beat the class shares at one of its K."""
    for k in comparison.ks:
        floor = design.floor(k)
        if floor is not None and floor[0] >= floor[1]:
            values = f"soft NLL {number(floor[0])} against {number(floor[1])}"
            why = f"soft labels do not beat the class shares at K = {votes_word(k)} ({values})"
            return replace(row, untestable=why)
    return row


def _corrected(rows: Sequence[Row]) -> list[Row]:
    """The rows with Holm over those opposites that can be tested."""
    p = {str(place): row.against for place, row in enumerate(rows) if row.n and not row.untestable}
    adjusted = holm(p)
    return [replace(row, against=adjusted.get(str(place), 1.0)) for place, row in enumerate(rows)]


def _with_power(row: Row, comparison: Comparison, effects: Mapping[Quantity, float], design: Design, rules: Rules) -> Row:
    if row.n < 2:
        return row
    d = subtract(*comparison.sides)
    criterion = Criterion(0.0 if design.own_regime else design.ratio, alpha=rules.alpha, two_sided=False)
    if comparison.kind == "equal":
        return replace(row, detectable=smallest_margin(d, criterion, target=rules.power))
    seen = smallest_effect(d, criterion, target=rules.power)
    effect = None if comparison.measure else effects.get(comparison.quantity)
    if effect is None:
        return replace(row, detectable=seen)
    out_of_reach = effect <= effect_out_of_reach(d, criterion, target=rules.power)
    seeds = None if out_of_reach else seeds_for_effect(d, effect, criterion, target=rules.power)
    return replace(row, detectable=seen, seeds_for_effect=seeds, out_of_reach=out_of_reach)


def _power_words(rows: Sequence[Row], effects: Mapping[Quantity, float], rules: Rules, unit: str) -> list[str]:
    """What could have been seen, by quantity: the comparison that would have been hardest to show."""
    found = []
    for what, equal in (("difference that", False), ("margin within which", True)):
        seen: dict[str, float] = {}
        for row in rows:
            if row.detectable is not None and row.detectable < float("inf") and (row.kind == "equal") == equal:
                seen[called(row)] = max(seen.get(called(row), 0.0), row.detectable)
        if seen:
            sizes = ", ".join(f"{label} {number(size)}" for label, size in list(seen.items())[:4])
            shown = "shown equality where there is no difference" if equal else "shown"
            found.append(f"The smallest {what} this study could have {shown} ({100 * rules.power:g} % power): {sizes}.")
    for quantity, effect in effects.items():
        same = [row for row in rows if (row.quantity, row.slice) == (quantity.column, quantity.slice)]
        mine = [row for row in same if row.detectable is not None and row.kind != "equal" and not row.measure]
        if mine:
            seeds = [row.seeds_for_effect for row in mine]
            most = f"more than {LIMIT}" if None in seeds else str(max(s for s in seeds if s is not None))
            takes = (
                f"{most} {unit}" if not any(row.out_of_reach for row in mine) else "more items, not more seeds on the same ones"
            )
            what = label_of(quantity) + (f" ({quantity.slice.replace('_', ' ')})" if quantity.slice != "full" else "")
            found.append(f"The published difference in {what}, {number(effect)}, would take {takes}.")
    return found


def _how(test: Test, rules: Rules, rows: Sequence[Row]) -> dict[str, str]:
    return {**test.describe(rules), "margin": margins(rows) if rows else "set by the study's own numbers"}


def _missing(comparisons: Sequence[Comparison], design: Design, commands: Commands) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is not there, and the commands that make it: training first, then probes."""
    short = [comparison for comparison in comparisons if comparison.missing]
    if not short:
        return (), ()
    first = design.cells[0]
    lines = tuple(f"{c.label}: {c.missing} of {len(c.expected)}" for c in short)
    if any(cell not in design.records.folders for cell in design.cells):
        return lines, (commands.reproduce(first.data, first.tagged_recipe),)
    probes = sorted({c.quantity.probe for c in short if c.quantity.probe})
    return lines, (commands.probe(probes, first.data, first.tagged_recipe),) if probes else ()
