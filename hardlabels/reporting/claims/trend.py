"""The kind of test for claims that something rises or falls step by step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import spearmanr

from hardlabels.reporting.claims.claim import Comparison, Test
from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.kinds import BOTH_TESTS
from hardlabels.reporting.claims.quantities import NLL, NLL_T, higher_is_better, label_of
from hardlabels.reporting.claims.rules import Rules
from hardlabels.reporting.claims.subjects import Subject, names, votes_word
from hardlabels.runs.quantity import Quantity


@dataclass(frozen=True)
class Trend:
    r"""A quantity rises (or falls) along an order: the per-seed Spearman correlation of value and place lies above (below) 0.

    Along ``methods`` with all votes; or, with ``than``, the gain of each method over ``than`` along the K of the study.

    Args:
        quantity: what rises or falls.
        methods: in the order claimed; or each on its own, with ``than``.
        rising: the claim.
        than: the method over which there is a gain.
        strict: the means over seeds must be in order at every step as well.
    """

    quantity: Quantity
    methods: tuple[str, ...]
    rising: bool
    than: str = ""
    strict: bool = False
    unit = "seeds"

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """All methods."""
        return (*self.methods, self.than) if self.than else self.methods

    @property
    def probes(self) -> tuple[str, ...]:
        """What measures the quantity."""
        return (self.quantity.probe,) if self.quantity.probe else ()

    def absent(self, design: Design) -> list[str]:
        """Methods that the study lacks."""
        return design.lacking(self.subjects, design.budgets("few" if self.than else "all"))

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """One of the methods in order; or one per method, along K. None where there are fewer than three steps."""
        if not self.than:
            steps = [method for method in self.methods if design.has(method, np.inf)]
            series = [design.values(self.quantity, method, np.inf) for method in steps]
            units = [design.units(method, np.inf) for method in steps]
            return self._along("along " + ", ".join(steps), series, units, [np.inf])
        ks, found = design.budgets("few"), []
        sign = 1 if higher_is_better(self.quantity) else -1
        for method in self.methods:
            if not all(design.has(subject, k) for k in ks for subject in (method, self.than)):
                continue
            sides = [[design.values(self.quantity, subject, k) for subject in (method, self.than)] for k in ks]
            series = [{unit: sign * (a[unit] - b[unit]) for unit in a if unit in b} for a, b in sides]
            units = [design.units(subject, k) for k in ks for subject in (method, self.than)]
            label = f"gain of {method} over {self.than}, K = {', '.join(map(votes_word, ks))}"
            found += self._along(label, series, units, ks)
        return found

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        what = f"{label_of(self.quantity)}, {'gain along K' if self.than else 'along ' + names(self.methods)}"
        order = "rising" if self.rising else "falling"
        test = f"{BOTH_TESTS}, one-sided, of per-seed Spearman correlations, {what}"
        return {"test": test, "direction": order + (", at every step of the means" if self.strict else "")}

    def tempered(self) -> Test | None:
        """On soft NLL after one temperature."""
        return replace(self, quantity=NLL_T) if self.quantity == NLL else None

    def _along(
        self, label: str, series: list[dict[int, float]], units: list[tuple[int, ...]], ks: Sequence[float]
    ) -> list[Comparison]:
        if len(series) < 3:
            return []
        expected = tuple(unit for unit in units[0] if all(unit in other for other in units))
        common = [unit for unit in expected if all(unit in values for values in series)]
        left = {unit: trend([values[unit] for values in series]) for unit in common}
        means = [float(np.mean([values[unit] for unit in common])) for values in series] if common else []
        steps = np.diff(means) if self.rising else -np.diff(means)
        return [
            Comparison(
                f"{label_of(self.quantity)}, {label}",
                self.quantity,
                "greater" if self.rising else "less",
                left,
                dict.fromkeys(expected, 0.0),
                expected,
                tuple(ks),
                ordered=bool((steps > 0).all()) or not self.strict,
                measure=f"Spearman correlation of {'the gain in ' if self.than else ''}{label_of(self.quantity)} and its place",
                note="means " + " → ".join(f"{mean:.4f}" for mean in means) if means else "",
            )
        ]


def trend(values: list[float]) -> float:
    """Spearman correlation of values with their places; 0 where they are all equal.

    >>> trend([0.50, 0.54, 0.60, 0.66]), trend([1.0, 1.0, 1.0])
    (1.0, 0.0)
    """
    return round(float(spearmanr(range(len(values)), values).statistic), 12) if np.ptp(values) else 0.0
