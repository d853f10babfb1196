"""From a comparison to its row: estimates, both tests, the opposite of the claim, the margin."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hardlabels.reporting.claims.claim import Comparison, Row
from hardlabels.statistics.equivalence import equivalence
from hardlabels.statistics.intervals import hodges_lehmann
from hardlabels.statistics.resampled import resampled_test
from hardlabels.statistics.signed_rank import Alternative, exact_p, subtract

OPPOSITE: dict[Alternative, Alternative] = {"greater": "less", "less": "greater"}


def measure(comparison: Comparison, *, alpha: float, ratio: float, both: bool) -> Row:
    """What the finished runs say about one comparison. ``against`` is not corrected yet.

    Args:
        comparison: two numbers per unit, and the claim.
        alpha: the level; the corrected interval has 1 - 2 alpha, that of exact differences 0.95.
        ratio: evaluation items per training item.
        both: whether both tests must reject; otherwise Wilcoxon decides, and the other is shown.
    """
    left, right = comparison.sides
    if not left:
        return _row(comparison)
    decide: Callable[[Sequence[float]], float] = max if both else (lambda p: p[0])
    d = subtract(left, right)
    corrected = resampled_test(d, ratio=ratio)
    low, high = corrected.interval(1 - 2 * alpha)
    margin = comparison.margin.value
    inside = margin is not None and -margin < low and high < margin
    untestable = ""
    if comparison.kind == "equal":
        shift = hodges_lehmann(d, level=1 - 2 * alpha)
        if margin is None:
            p, agreeing, against, untestable = (1.0, 1.0), 0, 1.0, comparison.margin.why
        else:
            p = (
                equivalence(d, margin, alpha=alpha).p,
                equivalence(d, margin, alpha=alpha, method="t", ratio=ratio).p,
            )
            agreeing = int((np.abs(d) < margin).sum())
            beyond: tuple[tuple[np.ndarray, Alternative], ...] = (
                (subtract(d, margin), "greater"),
                (subtract(d, -margin), "less"),
            )
            # Beyond either end will do. With a margin far below the noise that is a two-sided test, so both ends are paid for.
            against = min(1.0, 2 * min(decide(_both_tests(moved, side, ratio)) for moved, side in beyond))
    else:
        shift = hodges_lehmann(d, level=0.95)
        moved = subtract(d, comparison.shift)
        p = _both_tests(moved, comparison.kind, ratio)
        agreeing = int((moved > 0).sum() if comparison.kind == "greater" else (moved < 0).sum())
        against = decide(_both_tests(moved, OPPOSITE[comparison.kind], ratio))
    return replace(
        _row(comparison),
        left=float(np.mean(left)),
        right=float(np.mean(right)),
        estimate=shift.value,
        low=shift.low,
        high=shift.high,
        level=shift.level,
        corrected_low=low,
        corrected_high=high,
        sd=corrected.sd,
        agreeing=agreeing,
        claimed_side=_on_claimed_side(corrected.mean, comparison),
        n=len(d),
        p=p[0],
        p_corrected=p[1],
        decides=decide(p),
        against=against,
        inside=inside,
        untestable=untestable,
        differences=tuple(d.tolist()),
    )


def _row(comparison: Comparison) -> Row:
    """What is known before any number is."""
    margin = comparison.margin
    return Row(
        comparison.label,
        comparison.quantity.column,
        comparison.kind,
        len(comparison.expected),
        margin=margin.value,
        margin_why=margin.why,
        note=comparison.note,
        slice=comparison.quantity.slice,
        unselected=comparison.unselected,
        measure=comparison.measure,
    )


def _on_claimed_side(mean: float, comparison: Comparison) -> bool:
    if comparison.kind == "equal":
        return comparison.margin.value is not None and abs(mean) < comparison.margin.value
    return mean > comparison.shift if comparison.kind == "greater" else mean < comparison.shift


def _both_tests(d: np.ndarray, side: Alternative, ratio: float) -> tuple[float, float]:
    return exact_p(d, side), resampled_test(d, ratio=ratio, alternative=side).p
