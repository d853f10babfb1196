r"""The corrected resampled t-test (Nadeau and Bengio 2003): seeds that split the same items anew are not independent data sets.

Each of n seeds divides one data set into training and test items and gives a difference :math:`d_j` between two methods. The test
sets of two seeds share items, so their differences rise and fall together. If they have variance :math:`\sigma^2` and correlation
:math:`\rho`, the sample variance :math:`s^2` estimates :math:`\sigma^2 (1 - \rho)` only, while the mean has the variance

.. math:: \operatorname{Var}(\bar d) = \sigma^2 \Big(\rho + \frac{1 - \rho}{n}\Big)
          = \Big(\frac1n + \frac{\rho}{1 - \rho}\Big) \, \operatorname{E}[s^2].

The ordinary t-test leaves the second term out, so it rejects too often, and the more so the more seeds there are. Nadeau and
Bengio set :math:`\rho = n_{test} / (n_{test} + n_{train})`. That term is then :math:`n_{test} / n_{train}`, the *ratio* below:

.. math:: t = \frac{\bar d}{\sqrt{(1/n + n_{test} / n_{train}) \, s^2}}, \quad n - 1 \text{ degrees of freedom.}

What a referee should know about it:

- The correlation is a convention, not an estimate; one data set allows no unbiased estimate of it. The variance is right for two
  predictors that are not trained on the split (two test sets then share :math:`\rho` of their items on average), and approximate
  for predictors that are. ``tests/statistics/test_resampled.py`` simulates both.
- It is about new items of the same population, not about these items.
- With ever more seeds the standard error tends to :math:`s \sqrt{n_{test} / n_{train}}`, not to 0: seeds cannot replace items.
- Items that are neither trained on nor tested (those that select the checkpoint) do not enter the ratio. It is then a little
  larger than the shared items ask for.

A ratio of 0 is the ordinary paired t-test.

C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 239-281, 2003.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from hardlabels.errors import InputError
from hardlabels.statistics.signed_rank import ALTERNATIVES, DIGITS, Alternative, as_differences, subtract

Number = TypeVar("Number", float, np.ndarray)


def checked_ratio(ratio: float) -> float:
    """The ratio of test to training items, at least 0 and finite; anything else is refused."""
    if not 0 <= ratio < np.inf:  # false for NaN
        raise InputError(f"the ratio of test to training items must be a finite number of at least 0, got {ratio}")
    return float(ratio)


def variance_factor(n: Number, ratio: float) -> Number:
    r"""What the sample variance is multiplied by to give that of the mean: :math:`1/n + n_{test} / n_{train}`.

    >>> variance_factor(10, 0.0), variance_factor(10, 0.25)
    (0.1, 0.35)
    """
    return 1 / n + ratio


@dataclass(frozen=True)
class ResampledTest:
    """The corrected resampled t-test of paired differences.

    Attributes:
        n: paired seeds.
        mean: of the differences.
        sd: their sample standard deviation (n - 1 below the line); NaN for one seed.
        ratio: test items per training item.
        alternative: the claim about the mean: less, greater or two-sided.
    """

    n: int
    mean: float
    sd: float
    ratio: float
    alternative: Alternative

    @property
    def error(self) -> float:
        """The corrected standard error of the mean; NaN for one seed."""
        return self.sd * float(np.sqrt(variance_factor(self.n, self.ratio)))

    @property
    def t(self) -> float:
        """The statistic of the mean against 0: see :meth:`t_against`."""
        return self.t_against(0.0)

    @property
    def p(self) -> float:
        """One-sided or two-sided, by the alternative."""
        return self.p_against(0.0)

    def t_against(self, value: float) -> float:
        """The statistic of the mean against another value.

        NaN for one seed, and where all differences are that value; infinite where they are all another one.
        """
        distance = float(subtract(self.mean, value))
        if self.error == 0:
            return float(np.copysign(np.inf, distance)) if distance else float("nan")
        return distance / self.error

    def p_against(self, value: float) -> float:
        """The p of the test that the mean is ``value``; the claim is that it is less, greater or other. 1 where t is NaN."""
        t = self.t_against(value)
        if np.isnan(t):
            return 1.0
        below, above = float(student.cdf(t, self.n - 1)), float(student.sf(t, self.n - 1))
        return {"less": below, "greater": above, "two-sided": min(1.0, 2 * min(below, above))}[self.alternative]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        r"""The two-sided interval :math:`\bar d \pm t_{n-1, (1 + level) / 2} \cdot` error.

        It holds the values that a two-sided test does not reject at 1 - level. One seed bounds nothing; where all differences are
        equal the interval is that point.
        """
        if not 0 < level < 1:
            raise InputError(f"the level of an interval must lie between 0 and 1, got {level}")
        if self.n == 1:
            return -np.inf, np.inf
        half = float(student.ppf((1 + level) / 2, self.n - 1)) * self.error
        return self.mean - half, self.mean + half

    def __str__(self) -> str:
        low, high = self.interval()
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        numbers = f"{self.mean:.4g} [{low:.4g}, {high:.4g}] (95 %)"
        return f"{numbers}, corrected t = {self.t:.3g}, {sides} p = {self.p:.4g} (n = {self.n}, ratio {self.ratio:.3g})"


def resampled_test(
    differences: Mapping[int, float] | npt.ArrayLike, *, ratio: float, alternative: Alternative = "two-sided"
) -> ResampledTest:
    """The corrected resampled t-test that the mean of paired differences is 0.

    Differences that are all equal have no spread to judge by. The limit of a vanishing spread is taken, as scipy does: p is 0
    where they are not 0. Where they are, p is 1. Metrics in steps of 1 / N can do this with two or three seeds, so a verdict
    should not rest on this test alone; the exact signed-rank test beside it has no p below 2^-n. One seed has p 1.

    Args:
        differences: (n,) or by seed, as :func:`~hardlabels.statistics.paired.pair` gives them.
        ratio: evaluation items divided by training items of one split (2,000 / 7,000); 0 for seeds with data of their own.
        alternative: the claim about the mean difference.

    Raises:
        InputError: without differences, on one that is not finite, on a ratio below 0, on an unknown alternative.

    >>> test = resampled_test([1.0, 2.0, 3.0, 4.0], ratio=0.25)  # mean 2.5, s^2 = 5/3, factor 1/4 + 1/4
    >>> round(test.t, 4), round(test.t**2, 9)  # 2.5^2 / (5/3 / 2) = 7.5
    (2.7386, 7.5)
    >>> print(test)
    2.5 [-0.4052, 5.405] (95 %), corrected t = 2.74, two-sided p = 0.07142 (n = 4, ratio 0.25)
    """
    if alternative not in ALTERNATIVES:
        raise InputError(f"alternative must be one of {', '.join(ALTERNATIVES)}, got {alternative!r}")
    d = as_differences(differences)
    if not np.ptp(d):  # the mean of equal numbers is that number, but for rounding
        return ResampledTest(len(d), float(d[0]), 0.0 if len(d) > 1 else float("nan"), checked_ratio(ratio), alternative)
    mean = float(d.mean())
    if abs(mean) < 10.0**-DIGITS * np.abs(d).max():
        mean = 0.0  # differences that cancel leave binary dust, which would have a sign
    return ResampledTest(len(d), mean, float(d.std(ddof=1)), checked_ratio(ratio), alternative)
