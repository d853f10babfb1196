r"""Do two methods match? A large p of a difference is no answer: it may only say that there are few seeds.

"Matches" is a claim of its own, with a margin stated beforehand: the shift lies within (-margin, margin). Two one-sided tests
(TOST, Schuirmann 1987) reject its opposite when the differences are shown to lie above -margin *and* below +margin; p is the
larger of the two. At level α that is the same as a :math:`1 - 2 \alpha` interval inside the margin, which is therefore reported.

The tests are exact signed-rank tests (``"signed_rank"``) or t tests (``"t"``). The first cannot get below :math:`2^{-n}`: at 0.05
it never says "equivalent" with fewer than 5 seeds. The second has no such bound but needs normal differences, which nobody can
check on 5 of them. Both take seeds for independent data sets. Where seeds split the same items anew they are not; ``"t"`` with a
``ratio`` above 0 is then the corrected test of :mod:`~hardlabels.statistics.resampled`, whose interval is wider.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from hardlabels.errors import InputError
from hardlabels.statistics.holm import ALPHA, seeds_needed
from hardlabels.statistics.intervals import hodges_lehmann
from hardlabels.statistics.resampled import resampled_test
from hardlabels.statistics.signed_rank import Alternative, Zeros, as_differences, exact_p, least_p, subtract

Method: TypeAlias = Literal["signed_rank", "t"]
METHODS = ("signed_rank", "t")
SIDES: tuple[Alternative, Alternative] = ("greater", "less")


@dataclass(frozen=True)
class Equivalence:
    """The outcome of two one-sided tests.

    Attributes:
        n: paired seeds.
        margin: differences within it do not matter; stated beforehand.
        alpha: the level of the claim.
        method: ``"signed_rank"`` or ``"t"``.
        estimate: the Hodges-Lehmann shift, or the mean difference.
        low: lower end of the 1 - 2 alpha interval.
        high: its upper end.
        level: what the interval attains; below 1 - 2 alpha where there are too few seeds.
        p_low: p of the test that differences lie above -margin.
        p_high: p of the test that they lie below +margin.
        least_p: the least p that n seeds can attain.
        needed: seeds needed before the test can say "equivalent" at all.
        ratio: test items per training item of the corrected t tests; 0 where seeds were taken for independent.
    """

    n: int
    margin: float
    alpha: float
    method: Method
    estimate: float
    low: float
    high: float
    level: float
    p_low: float
    p_high: float
    least_p: float
    needed: int
    ratio: float = 0.0

    @property
    def p(self) -> float:
        """The larger of the two: both must be small."""
        return max(self.p_low, self.p_high)

    @property
    def equivalent(self) -> bool:
        """Whether the claim holds at alpha."""
        return self.p <= self.alpha

    @property
    def verdict(self) -> str:
        """``equivalent``; ``different`` where the interval is beyond the margin; ``too few seeds`` or ``undecided`` otherwise."""
        if self.n < self.needed:
            return "too few seeds"
        if self.equivalent:
            return "equivalent"
        return "different" if self.low >= self.margin or self.high <= -self.margin else "undecided"

    def __str__(self) -> str:
        numbers = f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}] ({100 * self.level:.4g} %), p = {self.p:.4g}"
        least = f"n = {self.n}, least attainable p {self.least_p:.3g}, possible from {self.needed} seeds on"
        claim = "within" if self.equivalent else "not shown to be within"
        return f"{self.verdict}: {claim} ±{self.margin:g}; {numbers}; {least}"


def equivalence(
    differences: Mapping[int, float] | npt.ArrayLike,
    margin: float,
    *,
    alpha: float = ALPHA,
    method: Method = "signed_rank",
    zeros: Zeros = "wilcox",
    ratio: float = 0.0,
) -> Equivalence:
    """Two one-sided tests that paired differences lie within (-margin, margin).

    Args:
        differences: (n,) or by seed, as :func:`~hardlabels.statistics.paired.pair` gives them.
        margin: above 0, in units of the metric.
        alpha: below 0.5.
        method: which tests.
        zeros: signed rank only: what is done with a difference that is exactly the margin.
        ratio: t only: test items divided by training items where seeds split the same items anew, 0 where each has its own data.

    >>> result = equivalence([0.002, -0.001, 0.003, 0.001, -0.002], margin=0.01)
    >>> result.p, result.verdict, result.low, result.high, result.level  # all within the margin: 1 / 2^5 on both sides
    (0.03125, 'equivalent', -0.002, 0.003, 0.9375)
    >>> equivalence([0.002, -0.001, 0.003], margin=0.01).verdict
    'too few seeds'
    >>> d = [0.002, -0.001, 0.003, 0.001, -0.002]
    >>> [round(equivalence(d, margin=0.003, method="t", ratio=ratio).high, 4) for ratio in (0.0, 2000 / 7000)]
    [0.0026, 0.0037]
    """
    if not 0 < margin < np.inf:
        raise InputError(f"the margin of an equivalence test must be a finite number above 0, got {margin}")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha of an equivalence test must lie between 0 and 0.5, got {alpha}")
    if ratio and method != "t":
        raise InputError(f"a ratio corrects the t test only: method must be 't' for ratio={ratio}, got {method!r}")
    d = as_differences(differences)
    if method == "signed_rank":
        p_low, p_high = exact_p(subtract(d, -margin), "greater", zeros), exact_p(subtract(d, margin), "less", zeros)
        shift = hodges_lehmann(d, level=1 - 2 * alpha)
        interval = shift.value, shift.low, shift.high, shift.level
        least, needed = least_p(len(d)), seeds_needed(1, alpha)
    elif method == "t":
        above, below = (resampled_test(d, ratio=ratio, alternative=side) for side in SIDES)
        p_low, p_high = above.p_against(-margin), below.p_against(margin)
        interval = above.mean, *above.interval(1 - 2 * alpha), 1 - 2 * alpha
        least, needed = float(len(d) == 1), 2
    else:
        raise InputError(f"method of an equivalence test must be one of {', '.join(METHODS)}, got {method!r}")
    return Equivalence(
        len(d), margin, alpha, method, *interval, p_low=p_low, p_high=p_high, least_p=least, needed=needed, ratio=ratio
    )
