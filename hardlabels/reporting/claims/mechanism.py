"""Why multipass does well with few votes: in its first pass every vote is fresh, as if there were all of them."""

from dataclasses import dataclass

import numpy as np

from hardlabels.reporting.claims.claim import Comparison, Kind, Test
from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.kinds import BOTH_TESTS
from hardlabels.reporting.claims.quantities import NLL
from hardlabels.reporting.claims.rules import Rules
from hardlabels.reporting.claims.subjects import Subject, votes_word
from hardlabels.statistics.first_pass import differences_by_pass

ALL = np.inf
PASSES: tuple[tuple[int, Kind], ...] = ((1, "equal"), (2, "greater"))
"""In pass 1 the curves coincide; in pass 2 that of the few votes lies above."""


@dataclass(frozen=True)
class FirstPass:
    """The evaluation curves of a method with K votes and of another with all votes coincide in pass 1 and part in pass 2.

    A pass is K epochs, in which each of the K votes is shown once. The mean soft NLL over the epochs of a pass is compared.

    Args:
        method: shows its K votes one by one.
        fresh: draws from all votes.
    """

    method: str = "multipass"
    fresh: str = "sls"
    unit = "seeds"
    probes = ()

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Both methods."""
        return self.method, self.fresh

    def absent(self, design: Design) -> list[str]:
        """The first with few votes, the second with all of them."""
        return [*design.lacking([self.method], design.budgets("few")), *design.lacking([self.fresh], [ALL])]

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """Two for each K of which the epochs hold two passes."""
        found = []
        for k in design.budgets("few"):
            if not design.has(self.method, k) or not design.has(self.fresh, ALL):
                continue
            expected = tuple(seed for seed in design.units(self.method, k) if seed in design.units(self.fresh, ALL))
            few, fresh = design.curves(self.method, k), design.curves(self.fresh, ALL)
            common = [seed for seed in expected if len(few.get(seed, ())) == len(fresh.get(seed, ())) >= 2 * k]
            passes = None
            if common:
                passes = differences_by_pass({s: few[s] for s in common}, {s: fresh[s] for s in common}, int(k))
            elif few and fresh:
                continue  # the epochs do not hold two passes
            for number, kind in PASSES:
                left = {} if passes is None else passes.in_pass(number)
                label = f"soft NLL, {self.method} K = {votes_word(k)} − {self.fresh} K = all, pass {number}"
                margin = rules.margin(NLL, design, k)
                zero = dict.fromkeys(expected, 0.0)
                found.append(Comparison(label, NLL, kind, left, zero, expected, (k, ALL), margin=margin))
        return found

    def describe(self, rules: Rules) -> dict[str, str]:
        """In words."""
        what = (
            f"mean evaluation curve of {self.method} with K votes minus that of {self.fresh} with all votes, by pass of K epochs"
        )
        return {"test": f"{BOTH_TESTS}, {what}, paired by seed", "direction": "pass 1: no difference; pass 2: above 0"}

    def tempered(self) -> Test | None:
        """Curves have no temperature."""
        return None
