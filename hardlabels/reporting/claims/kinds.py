"""The kinds of test that most claims are made of: better, and the same. Each says which comparisons it takes."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardlabels.reporting.claims.claim import Comparison, Test
from hardlabels.reporting.claims.design import Design, Votes
from hardlabels.reporting.claims.quantities import KL, NLL, NLL_T, higher_is_better, label_of
from hardlabels.reporting.claims.rules import Rules
from hardlabels.reporting.claims.subjects import Across, Subject, names, votes_word
from hardlabels.runs.quantity import Quantity

BOTH_TESTS = "exact Wilcoxon and corrected resampled t-test"


@dataclass(frozen=True)
class Point:
    """Where one comparison stands: number of votes, both sides, quantity."""

    k: float
    subject: Subject
    other: Subject | None
    quantity: Quantity


@dataclass(frozen=True)
class _Pairs:
    """Every quantity, at every K, of each subject against each of the others.

    Args:
        quantities: what is compared, each on its slice.
        methods: the left side.
        than: the right side; empty where the right side is a number.
        votes: at all votes, at each smaller K of the study, or at both.
    """

    quantities: tuple[Quantity, ...]
    methods: tuple[Subject, ...]
    than: tuple[Subject, ...] = ()
    votes: Votes = "all"

    @property
    def unit(self) -> str:
        """What one observation is."""
        return "disjoint pairs of seeds" if any(isinstance(subject, Across) for subject in self.methods) else "seeds"

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Both sides."""
        return *self.methods, *self.than

    @property
    def probes(self) -> tuple[str, ...]:
        """What measures the quantities."""
        return tuple(dict.fromkeys(quantity.probe for quantity in self.quantities if quantity.probe))

    def absent(self, design: Design) -> list[str]:
        """Methods that the study lacks at a K where it has others."""
        return design.lacking(self.subjects, design.budgets(self.votes))

    def points(self, design: Design) -> Iterator[Point]:
        """Every comparison that the study can make."""
        for k, subject, other, quantity in itertools.product(
            design.budgets(self.votes), self.methods, self.than or (None,), self.quantities
        ):
            if design.has(subject, k) and (other is None or design.has(other, k)):
                yield Point(k, subject, other, quantity)

    def compare(self, design: Design, point: Point, constant: float, **claim: Any) -> Comparison:
        """The comparison at a point; without another subject, against a constant."""
        units = design.units(point.subject, point.k)
        left = design.values(point.quantity, point.subject, point.k)
        right = dict.fromkeys(units, constant)
        if point.other is not None:
            units = tuple(unit for unit in units if unit in design.units(point.other, point.k))
            right = design.values(point.quantity, point.other, point.k)
        sides: Any = {"left": left, "right": right, "expected": units, "unselected": self._unselected(design, point, units)}
        return Comparison(self._label(point), point.quantity, ks=(point.k,), **sides, **claim)

    def _unselected(self, design: Design, point: Point, units: tuple[int, ...]) -> float | None:
        """The mean difference at the epochs that the other seeds choose; None where that is not known of every unit."""
        if point.other is None:
            return None
        left, right = (design.unselected(point.quantity, subject, point.k) for subject in (point.subject, point.other))
        known = [left[unit] - right[unit] for unit in units if unit in left and unit in right]
        return float(np.mean(known)) if known and len(known) == len(units) else None

    def margin_subject(self, point: Point) -> Subject:
        """Whose across-seed SD is the scale of a margin: that of soft labels, or of pairs of them."""
        return Across("soft") if isinstance(point.subject, Across) else "soft"

    def _label(self, point: Point) -> str:
        sides = str(point.subject) if point.other is None else f"{point.subject} − {point.other}"
        words = [label_of(point.quantity), sides]
        words += [point.quantity.slice.replace("_", " ")] if point.quantity.slice != "full" else []
        words += [f"K = {votes_word(point.k)}"] if self.votes != "all" else []
        return ", ".join(words)

    def _tempered(self) -> Any:
        # KL is soft NLL less the entropy of the same items, which no difference of two methods sees.
        slices = [quantity.slice for quantity in self.quantities if quantity.on("full") in (NLL, KL)]
        return replace(self, quantities=tuple(NLL_T.on(part) for part in slices)) if slices else None


@dataclass(frozen=True)
class Better(_Pairs):
    """Each subject is better than each other one.

    Args:
        by: a name in ``Rules.thresholds``: better by at least that; without other subjects, better than that.
        otherwise: a probe that measures the same on other items, for studies that have not measured the first.
        caveat: what is to be said of the other probe's numbers.
    """

    by: str = ""
    otherwise: str = ""
    caveat: str = ""

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """All of them, in the order K, subject, other, quantity."""
        found = self._comparisons(design, rules)
        if self.otherwise and not any(comparison.units for comparison in found):
            other = replace(self, quantities=tuple(replace(q, probe=self.otherwise) for q in self.quantities), otherwise="")
            instead = other._comparisons(design, rules)
            if any(comparison.units for comparison in instead):
                return [replace(comparison, note=self.caveat) for comparison in instead]
        return found

    def _comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        least = rules.threshold(self.by) if self.by else 0.0
        found = []
        for point in self.points(design):
            greater = higher_is_better(point.quantity)
            claim: dict[str, Any] = {"kind": "greater" if greater else "less"}
            if self.than and self.by:
                claim["shift"] = least if greater else -least
            elif self.than:
                claim["margin"] = rules.margin(point.quantity, design, point.k, self.margin_subject(point))
            found.append(self.compare(design, point, least, **claim))
        return found

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        against = names(self.than) if self.than else f"{rules.threshold(self.by):g}"
        ways = {
            f"{label_of(quantity)} {'higher' if higher_is_better(quantity) else 'lower'}": None for quantity in self.quantities
        }
        by = f", by at least {rules.threshold(self.by):g}" if self.than and self.by else ""
        test = f"{BOTH_TESTS}, one-sided, {names(self.methods)} against {against}, paired by {self.unit}"
        return {"test": test, "direction": "; ".join(ways) + by}

    def tempered(self) -> Test | None:
        """On soft NLL after one temperature."""
        tempered: Test | None = self._tempered()
        return tempered


@dataclass(frozen=True)
class Same(_Pairs):
    """Each subject matches each other one within the margin of the quantity: two one-sided tests (TOST).

    Args:
        as_number: what it is compared with, where there is no other subject.
    """

    as_number: float = 0.0

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """All of them."""
        found = []
        for point in self.points(design):
            margin = rules.margin(point.quantity, design, point.k, self.margin_subject(point))
            found.append(self.compare(design, point, self.as_number, kind="equal", margin=margin))
        return found

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        against = names(self.than) if self.than else f"{self.as_number:g}"
        test = f"equivalence, two one-sided tests each ({BOTH_TESTS}), {names(self.methods)} against {against}, paired by seed"
        return {"test": test, "direction": "no difference"}

    def tempered(self) -> Test | None:
        """On soft NLL after one temperature."""
        tempered: Test | None = self._tempered()
        return tempered
