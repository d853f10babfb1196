r"""Many tests at once: Holm's correction over a named family, and how many seeds it needs before it can reject anything.

Order the m p-values; Holm rejects the smallest when :math:`m \, p_{(1)} \le \alpha`, then asks for :math:`(m - 1) \, p_{(2)}
\le \alpha`, and so on until one fails. The exact signed-rank test of n seeds has p at least :math:`2^{-n}`. With few seeds the
first question is then answered before any data are seen, and "none survives Holm" says nothing about the methods.

Whether there is anything to correct depends on what is claimed of the m tests (:data:`Needs`):

- *any*: each rejected test is a finding by itself ("better at K = 5, and at K = 10"). One false finding is one too many, and m
  tests have m chances of it: Holm keeps the probability of any at α.
- *every*: one claim, which holds only where all m tests reject ("better at every K"). It is false as soon as one of them is, and
  calling it true then takes a false rejection of that one, whose probability is at most α: each test is made at α, uncorrected
  (the intersection-union test; Berger, Technometrics 24, 295-300, 1982). The claim's p is the largest of the m. What is *not*
  allowed is to fall back on single tests when the claim fails; those are of the first kind.

Contradicting an *every* claim takes one test that rejects the other way round. Any of them will do: that is of the first kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hardlabels.errors import InputError
from hardlabels.statistics.paired import PairedTest
from hardlabels.statistics.signed_rank import least_p

ALPHA = 0.05

Needs: TypeAlias = Literal["any", "every"]
"""Which of its tests a claim needs: any of them is a finding, or all of them must reject."""

NEEDS = ("any", "every")


def holm(p_by_name: Mapping[str, float]) -> dict[str, float]:
    r"""Holm-adjusted p-values: :math:`\tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) \, p_{(j)})`. Reject where at most α.

    Args:
        p_by_name: the whole family; leaving out tests that were made makes it wrong.

    Returns:
        name to adjusted p, in the order given.

    Raises:
        InputError: when a p is not in 0 .. 1.

    >>> holm({"K=5": 0.01, "K=10": 0.04, "K=25": 0.03})
    {'K=5': 0.03, 'K=10': 0.06, 'K=25': 0.06}
    """
    for name, p in p_by_name.items():
        if not 0 <= p <= 1:  # false for NaN
            raise InputError(f"p of {name!r} must lie in 0 .. 1, got {p}")
    adjusted, highest = {}, 0.0
    for place, name in enumerate(sorted(p_by_name, key=lambda name: p_by_name[name])):
        highest = max(highest, min(1.0, (len(p_by_name) - place) * p_by_name[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_by_name}


def adjusted_p(p_by_name: Mapping[str, float], needs: Needs) -> dict[str, float]:
    """The p-values that are compared with alpha: Holm's where any rejection is a finding, the p themselves where all must reject.

    Raises:
        InputError: as :func:`holm`, and when ``needs`` is neither.

    >>> p = {"K=5": 0.01, "K=10": 0.04, "K=25": 0.03}
    >>> adjusted_p(p, "any"), adjusted_p(p, "every") == p
    ({'K=5': 0.03, 'K=10': 0.06, 'K=25': 0.06}, True)
    """
    adjusted = holm(p_by_name)  # which refuses what is no p
    return adjusted if _checked(needs) == "any" else dict(p_by_name)


def claim_p(p_by_name: Mapping[str, float], needs: Needs) -> float:
    """One p for a claim about m >= 1 tests: the largest p where all must reject, the least Holm-adjusted one where any will do.

    >>> p = {"K=5": 0.01, "K=10": 0.04, "K=25": 0.03}
    >>> claim_p(p, "any"), claim_p(p, "every")
    (0.03, 0.04)
    """
    if not p_by_name:
        raise InputError("a claim rests on at least one test, got none")
    adjusted = adjusted_p(p_by_name, needs).values()
    return min(adjusted) if needs == "any" else max(adjusted)


def first_step(tests: int, needs: Needs) -> int:
    """What alpha is divided by at the strictest step: the number of tests under Holm, 1 where all of them must reject.

    As ``family`` of :func:`seeds_needed` it gives the seeds that the claim needs.

    >>> first_step(12, "any"), first_step(12, "every"), seeds_needed(first_step(12, "any")), seeds_needed(first_step(12, "every"))
    (12, 1, 8, 5)
    """
    return tests if _checked(needs) == "any" else 1


def _checked(needs: Needs) -> Needs:
    if needs not in NEEDS:
        raise InputError(f"a claim needs {' or '.join(NEEDS)} of its tests, got {needs!r}")
    return needs


def seeds_needed(family: int, alpha: float = ALPHA, two_sided: bool = False) -> int:
    """The least number of paired seeds with which Holm over ``family`` signed-rank tests can reject: family x 2^-n <= alpha.

    The first rejection is the hardest: the seeds that allow it allow all of them. A difference of 0 costs a seed.

    Args:
        family: number of tests, 1 for a test by itself.
        alpha: the level of the family, above 0 and below 1.
        two_sided: whether the tests are.

    >>> seeds_needed(1), seeds_needed(12), seeds_needed(12, two_sided=True)
    (5, 8, 9)
    """
    if family < 1 or not 0 < alpha < 1:
        raise InputError(f"a family has 1 or more tests and an alpha between 0 and 1, got {family} tests and alpha = {alpha}")
    n = 1
    while family * least_p(n, two_sided) > alpha:
        n += 1
    return n


def reach_of_holm(family: int, n: int, alpha: float = ALPHA, two_sided: bool = False, needs: Needs = "any") -> str:
    """The sentence a report prints above a family: from how many seeds on its tests can reject, and whether they can here.

    >>> reach_of_holm(12, n=5)
    'Holm over 12 one-sided tests at 0.05 can reject from 8 paired seeds on; here n = 5 (least adjusted p 0.375), so it cannot.'
    >>> reach_of_holm(12, n=10)
    'Holm over 12 one-sided tests at 0.05 can reject from 8 paired seeds on; here n = 10 (least adjusted p 0.0117), so it can.'
    >>> reach_of_holm(12, n=5, needs="every")  # doctest: +NORMALIZE_WHITESPACE
    '12 one-sided tests, all needed, each at 0.05 without correction, can reject from 5 paired seeds on;
    here n = 5 (least p 0.0312), so they can.'
    """
    step = first_step(family, needs)
    needed, least = seeds_needed(step, alpha, two_sided), min(1.0, step * least_p(n, two_sided))
    tests = f"{family} {'two' if two_sided else 'one'}-sided test{'s' * (family > 1)}"
    if needs == "every":
        here = f"here n = {n} (least p {least:.3g}), so they {'can' if n >= needed else 'cannot'}"
        return f"{tests}, all needed, each at {alpha:g} without correction, can reject from {needed} paired seeds on; {here}."
    here = f"here n = {n} (least adjusted p {least:.3g}), so it {'can' if n >= needed else 'cannot'}"
    return f"Holm over {tests} at {alpha:g} can reject from {needed} paired seeds on; {here}."


@dataclass(frozen=True)
class Family:
    """The tests that one claim rests on, corrected together.

    Attributes:
        name: what the family is, such as ``"sparse sweep, soft NLL"``.
        tests: name to test; one-sided (either way) all of them, or two-sided all of them.
        alpha: the level of the whole family.
        needs: whether any rejected test is a finding (Holm), or the claim needs every one of them (no correction).
    """

    name: str
    tests: dict[str, PairedTest]
    alpha: float = ALPHA
    needs: Needs = "any"

    def __post_init__(self) -> None:
        if not self.tests:
            raise InputError(f"family {self.name!r} must have at least one test, got none")
        if len({test.two_sided for test in self.tests.values()}) > 1:
            raise InputError(f"family {self.name!r} must have one-sided or two-sided tests, got both")
        _checked(self.needs)

    @property
    def p(self) -> float:
        """The p of the claim as a whole: :func:`claim_p`."""
        return claim_p({name: test.p for name, test in self.tests.items()}, self.needs)

    @property
    def adjusted(self) -> dict[str, float]:
        """Name to the p that is compared with alpha: :func:`adjusted_p`."""
        return adjusted_p({name: test.p for name, test in self.tests.items()}, self.needs)

    @property
    def rejected(self) -> list[str]:
        """The tests that are rejected at alpha; where the claim needs every one, they mean something only if all are here."""
        return [name for name, p in self.adjusted.items() if p <= self.alpha]

    @property
    def unanimous(self) -> list[str]:
        """The tests in which all seeds have the claimed sign."""
        return [name for name, test in self.tests.items() if test.agreeing == test.n]

    @property
    def reach(self) -> str:
        """:func:`reach_of_holm`, for the test that decides whether the claim can be shown.

        That is the one with most differences other than 0 where any will do: if it cannot be rejected, none can. Where all must
        reject it is the one with fewest.
        """
        first = next(iter(self.tests.values()))
        sizes = [test.n - test.zeros for test in self.tests.values()]
        n = max(sizes) if self.needs == "any" else min(sizes)
        return reach_of_holm(len(self.tests), n, self.alpha, first.two_sided, self.needs)
