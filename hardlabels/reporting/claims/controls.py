"""Tests of the control that destroys the match of items and votes: what is left must be what no network is needed for."""

from dataclasses import dataclass

import numpy as np

from hardlabels.reporting.claims.claim import Comparison, Test
from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.kinds import BOTH_TESTS
from hardlabels.reporting.claims.quantities import ACCURACY, NLL
from hardlabels.reporting.claims.rules import Rules
from hardlabels.reporting.claims.subjects import Subject
from hardlabels.runs.quantity import Quantity

ALL = np.inf


@dataclass(frozen=True)
class _Destroyed:
    """What the controls share: soft labels and the control, all votes, paired by seed; the class shares are those of the runs."""

    method: str = "shuffled_sls"
    unit = "seeds"
    probes = ()

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The control and soft labels."""
        return self.method, "soft"

    def absent(self, design: Design) -> list[str]:
        """Methods that the study lacks."""
        return design.lacking(self.subjects, design.budgets("all"))

    def tempered(self) -> Test | None:
        """No second look: the class shares have no logits to scale."""
        return None

    def _expected(self, design: Design) -> tuple[int, ...]:
        soft = design.units("soft", ALL)
        return tuple(unit for unit in design.units(self.method, ALL) if unit in soft)


@dataclass(frozen=True)
class GainDestroyed(_Destroyed):
    r"""Of soft labels' gain over the class shares, at most a share (``Rules.shares.remaining``) is left.

    With the soft NLL h of the class shares, of the control and of soft labels on the same items:
    :math:`h_{prior} - h_{control} < s \, (h_{prior} - h_{soft})`, paired by seed.
    """

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """The gain that is left against the share of soft labels' gain."""
        if not all(design.has(subject, ALL) for subject in self.subjects):
            return []
        control, soft = (design.values(NLL, method, ALL) for method in (self.method, "soft"))
        prior = design.values(Quantity("soft_nll", "prior"), "soft", ALL)
        share = rules.shares.remaining
        left = {unit: prior[unit] - control[unit] for unit in control if unit in prior}
        right = {unit: share * (prior[unit] - soft[unit]) for unit in soft if unit in prior}
        label = f"gain over the class shares, {self.method} − {share:g} of soft labels'"
        return [Comparison(label, NLL, "less", left, right, self._expected(design), (ALL,), measure="gain over the class shares")]

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        test = f"{BOTH_TESTS}, one-sided, gain of {self.method} over the class shares against that of soft labels, paired by seed"
        return {"test": test, "direction": f"at most {100 * rules.shares.remaining:g} % of soft labels' gain remains"}


@dataclass(frozen=True)
class AccuracyDestroyed(_Destroyed):
    """Accuracy lies below the share of the most frequent class plus the margin of accuracy."""

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """Accuracy of the control against that of the class shares."""
        if not all(design.has(subject, ALL) for subject in self.subjects):
            return []
        left = design.values(ACCURACY, self.method, ALL)
        right = design.values(Quantity("hard_acc", "prior"), "soft", ALL)
        margin = rules.margin(ACCURACY, design, ALL)
        note = f"plus {margin.value:.4g}, {margin.why}" if margin.value is not None else margin.why
        label = f"accuracy, {self.method} − most frequent class"
        expected = self._expected(design)
        return [Comparison(label, ACCURACY, "less", left, right, expected, (ALL,), shift=margin.value or 0.0, note=note)]

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        test = f"{BOTH_TESTS}, one-sided, {self.method} against the share of the most frequent class, paired by seed"
        return {"test": test, "direction": "at most the margin of accuracy above it"}
