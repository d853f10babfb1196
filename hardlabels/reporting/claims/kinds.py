"""The kinds of test that claims are made of: better, the same, a trend. Each says which comparisons it takes."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.stats import spearmanr

from hardlabels.reporting.claims.claim import Comparison, Rules
from hardlabels.reporting.claims.design import ACROSS, Design, higher_is_better, label_of

Votes: TypeAlias = Literal["all", "few"]


@dataclass(frozen=True)
class _Pairs:
    """Every quantity, on every slice, at every K, of each method against each of the others.

    Args:
        quantities: names in the records.
        methods: the left side.
        than: the right side; empty where the right side is a number.
        votes: at K = all, or at each smaller K of the study.
        slices: of the evaluation items.
    """

    quantities: tuple[str, ...]
    methods: tuple[str, ...]
    than: tuple[str, ...] = ()
    votes: Votes = "all"
    slices: tuple[str, ...] = ("full",)

    @property
    def unit(self) -> str:
        """What one observation is."""
        return "disjoint pairs of seeds" if any(map(_is_across, self.methods)) else "seeds"

    @property
    def subjects(self) -> tuple[str, ...]:
        """Both sides."""
        return *self.methods, *self.than

    def absent(self, design: Design) -> list[str]:
        """Methods that the study lacks at a K where it has others."""
        return _lacking(self.subjects, design, design.budgets(self.votes))

    def points(self, design: Design) -> Iterator[tuple[float, str, str, str, str]]:
        """(K, method, other, quantity, slice) of every comparison that the study can make."""
        product = itertools.product(design.budgets(self.votes), self.methods, self.than or ("",), self.quantities, self.slices)
        for k, method, other, name, part in product:
            if design.has(method, k) and (not other or design.has(other, k)):
                yield k, method, other, name, part

    def compare(self, design: Design, point: tuple[float, str, str, str, str], constant: float, **claim: Any) -> Comparison:
        """The comparison at a point; without another method, against a constant."""
        k, method, other, name, part = point
        units = design.units(method, k)
        if other:
            units = tuple(unit for unit in units if unit in design.units(other, k))
        left = design.values(name, method, k, part)
        right = design.values(name, other, k, part) if other else dict.fromkeys(units, constant)
        return Comparison(self._label(point), name, left, right, expected=units, **claim)

    def _label(self, point: tuple[float, str, str, str, str]) -> str:
        k, method, other, name, part = point
        words = [label_of(name), f"{_name(method)} − {_name(other)}" if other else _name(method)]
        words += [part.replace("_", " ")] if part != "full" else []
        words += [f"K = {k:g}"] if self.votes == "few" else []
        return ", ".join(words)


@dataclass(frozen=True)
class Better(_Pairs):
    """Each method is better than each other one: exact one-sided paired Wilcoxon tests, Holm over all of them.

    Args:
        by: a name in ``Rules.thresholds``: better by at least that; without other methods, better than that.
    """

    by: str = ""
    equal = False

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """All of them, in the order K, method, other, quantity, slice."""
        least = rules.threshold(self.by) if self.by else 0.0
        found = []
        for point in self.points(design):
            greater = higher_is_better(point[3])
            shift = (least if greater else -least) if self.than else 0.0
            found.append(self.compare(design, point, least, greater=greater, shift=shift))
        return found

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        against = (
            f"{_names(self.methods)} against {_names(self.than)}" if self.than else f"{_names(self.methods)} against a number"
        )
        ways = {f"{label_of(name)} {'higher' if higher_is_better(name) else 'lower'}": None for name in self.quantities}
        margin = f"{'by at least' if self.than else 'above'} {rules.threshold(self.by):g}" if self.by else "none: any difference"
        test = f"one-sided exact Wilcoxon, {against}, paired by {self.unit}, Holm"
        return {"test": test, "direction": "; ".join(ways), "margin": margin}


@dataclass(frozen=True)
class Same(_Pairs):
    """Each method matches each other one within the margin of the quantity: two one-sided exact tests (TOST).

    Args:
        as_number: what it is compared with, where there is no other method.
    """

    as_number: float = 0.0
    equal = True

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """All of them; ``shift`` is the margin."""
        points = list(self.points(design))
        return [self.compare(design, p, self.as_number, greater=True, shift=rules.margin(p[3])) for p in points]

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        against = _names(self.than) if self.than else f"{self.as_number:g}"
        margins = {f"{label_of(name)} ±{rules.margin(name):g}": None for name in self.quantities}
        test = f"equivalence, two one-sided exact Wilcoxon, {_names(self.methods)} against {against}, paired by seed"
        return {"test": test, "direction": "no difference", "margin": "; ".join(margins)}


@dataclass(frozen=True)
class Trend:
    r"""A quantity rises (or falls) along an order: the Spearman correlation of value and place, one a seed, lies above (below) 0.

    Along ``methods`` with all votes; or, with ``than``, the gain of each method over ``than`` along the K of the study.

    Args:
        quantity: its name in the records.
        methods: in the order claimed; or each on its own, with ``than``.
        rising: the claim.
        than: the method over which there is a gain.
        strict: the means over seeds must be in order at every step as well.
    """

    quantity: str
    methods: tuple[str, ...]
    rising: bool
    than: str = ""
    strict: bool = False
    equal = False
    unit = "seeds"

    @property
    def subjects(self) -> tuple[str, ...]:
        """All methods."""
        return (*self.methods, self.than) if self.than else self.methods

    def absent(self, design: Design) -> list[str]:
        """Methods that the study lacks."""
        return _lacking(self.subjects, design, design.budgets("few" if self.than else "all"))

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """One of the methods in order; or one a method, along K. None where there are fewer than three steps."""
        if not self.than:
            steps = [method for method in self.methods if design.has(method, np.inf)]
            series = [design.values(self.quantity, method, np.inf, "full") for method in steps]
            return self._along("along " + ", ".join(map(_name, steps)), series, [design.units(m, np.inf) for m in steps])
        ks, found = design.budgets("few"), []
        sign = 1 if higher_is_better(self.quantity) else -1
        for method in self.methods:
            if not all(design.has(subject, k) for k in ks for subject in (method, self.than)):
                continue
            sides = [[design.values(self.quantity, subject, k, "full") for subject in (method, self.than)] for k in ks]
            series = [{unit: sign * (a[unit] - b[unit]) for unit in a if unit in b} for a, b in sides]
            units = [design.units(subject, k) for k in ks for subject in (method, self.than)]
            found += self._along(f"gain of {_name(method)} over {_name(self.than)}, K = {_numbers(ks)}", series, units)
        return found

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        what = f"{label_of(self.quantity)}, {'gain along K' if self.than else 'along ' + _names(self.methods)}"
        order = "rising" if self.rising else "falling"
        test = f"one-sided exact Wilcoxon of per-seed Spearman correlations, {what}"
        return {"test": test, "direction": order + (", at every step of the means" if self.strict else ""), "margin": "none"}

    def _along(self, label: str, series: list[dict[int, float]], units: list[tuple[int, ...]]) -> list[Comparison]:
        if len(series) < 3:
            return []
        expected = tuple(unit for unit in units[0] if all(unit in other for other in units))
        common = [unit for unit in expected if all(unit in values for values in series)]
        left = {unit: trend([values[unit] for values in series]) for unit in common}
        means = [float(np.mean([values[unit] for unit in common])) for values in series] if common else []
        steps = np.diff(means) if self.rising else -np.diff(means)
        note = " → ".join(f"{mean:.4f}" for mean in means)
        zero = dict.fromkeys(expected, 0.0)
        ordered = bool((steps > 0).all()) or not self.strict
        return [
            Comparison(
                f"{label_of(self.quantity)}, {label}", self.quantity, left, zero, self.rising, 0.0, expected, ordered, note
            )
        ]


def trend(values: list[float]) -> float:
    """Spearman correlation of values with their places; 0 where they are all equal.

    >>> trend([0.50, 0.54, 0.60, 0.66]), trend([1.0, 1.0, 1.0])
    (1.0, 0.0)
    """
    return round(float(spearmanr(range(len(values)), values).statistic), 12) if np.ptp(values) else 0.0


def _lacking(subjects: tuple[str, ...], design: Design, ks: list[float]) -> list[str]:
    """One name for each subject that is not there at every K: of a pair, the method that is missing."""
    absent = [subject for subject in subjects if not ks or not all(design.has(subject, k) for k in ks)]
    return [
        next((one for one in subject.split(ACROSS) if not all(design.has(one, k) for k in ks)), _name(subject))
        for subject in absent
    ]


def _name(subject: str) -> str:
    first, _, second = subject.partition(ACROSS)
    return first if not second else f"{first} across seeds" if first == second else f"{first} and {second}"


def _names(subjects: tuple[str, ...]) -> str:
    return ", ".join(map(_name, subjects))


def _numbers(ks: list[float]) -> str:
    return ", ".join(f"{k:g}" for k in ks)


def _is_across(subject: str) -> bool:
    first, _, second = subject.partition(ACROSS)
    return first == second
