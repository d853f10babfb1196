r"""Many tests at once: Holm's correction over a named family, and how many seeds it needs before it can reject anything.

Order the m p-values; Holm rejects the smallest when :math:`m \, p_{(1)} \le \alpha`, then asks for :math:`(m - 1) \, p_{(2)}
\le \alpha`, and so on until one fails. The exact signed-rank test of n seeds has p at least :math:`2^{-n}`. With few seeds the
first question is then answered before any data are seen, and "none survives Holm" says nothing about the methods.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hardlabels.errors import InputError
from hardlabels.statistics.paired import PairedTest
from hardlabels.statistics.signed_rank import least_p

ALPHA = 0.05


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


def reach_of_holm(family: int, n: int, alpha: float = ALPHA, two_sided: bool = False) -> str:
    """The sentence a report prints above a family: from how many seeds on Holm can reject, and whether it can here.

    >>> reach_of_holm(12, n=5)
    'Holm over 12 one-sided tests at 0.05 can reject from 8 paired seeds on; here n = 5 (least adjusted p 0.375), so it cannot.'
    >>> reach_of_holm(12, n=10)
    'Holm over 12 one-sided tests at 0.05 can reject from 8 paired seeds on; here n = 10 (least adjusted p 0.0117), so it can.'
    """
    needed, least = seeds_needed(family, alpha, two_sided), min(1.0, family * least_p(n, two_sided))
    tests = f"{family} {'two' if two_sided else 'one'}-sided test{'s' * (family > 1)}"
    here = f"here n = {n} (least adjusted p {least:.3g}), so it {'can' if n >= needed else 'cannot'}"
    return f"Holm over {tests} at {alpha:g} can reject from {needed} paired seeds on; {here}."


@dataclass(frozen=True)
class Family:
    """The tests that one claim rests on, corrected together.

    Attributes:
        name: what the family is, such as ``"sparse sweep, soft NLL"``.
        tests: name to test; one-sided (either way) all of them, or two-sided all of them.
        alpha: the level of the whole family.
    """

    name: str
    tests: dict[str, PairedTest]
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if not self.tests:
            raise InputError(f"family {self.name!r} must have at least one test, got none")
        if len({test.two_sided for test in self.tests.values()}) > 1:
            raise InputError(f"family {self.name!r} must have one-sided or two-sided tests, got both")

    @property
    def adjusted(self) -> dict[str, float]:
        """Name to Holm-adjusted p."""
        return holm({name: test.p for name, test in self.tests.items()})

    @property
    def rejected(self) -> list[str]:
        """The tests that are rejected at alpha."""
        return [name for name, p in self.adjusted.items() if p <= self.alpha]

    @property
    def unanimous(self) -> list[str]:
        """The tests in which all seeds have the claimed sign."""
        return [name for name, test in self.tests.items() if test.agreeing == test.n]

    @property
    def reach(self) -> str:
        """:func:`reach_of_holm`, for the test with most differences other than 0: if it cannot be rejected, none can."""
        first = next(iter(self.tests.values()))
        most = max(test.n - test.zeros for test in self.tests.values())
        return reach_of_holm(len(self.tests), most, self.alpha, first.two_sided)
