r"""What could a study have seen? The smallest difference that it would have shown, and the seeds that a given one would take.

A difference counts as shown when two tests both reject at the strictest step of Holm (:class:`Criterion`): the exact signed-rank
test and the corrected resampled t-test. Their joint power is simulated: n differences are drawn and tested, 10,000 times.

The differences are normal, with the standard deviation s of the study's own paired differences:

.. math:: d_j = \delta + s \, (\sqrt r \, Z + \varepsilon_j), \qquad Z, \varepsilon_1, ..., \varepsilon_n \sim N(0, 1),

with r the ratio of test to training items. Z is what all seeds share because they split the same items anew. This is the model
under which the corrected t-test has exactly its level (see :mod:`~hardlabels.statistics.resampled`), so that power and test take
the same thing for chance; independent differences would promise more power than the test allows for. With r = 0 there is no Z.

Normal rather than resampled differences, because 5 to 12 differences know their spread but not their shape: drawing them with
replacement shrinks the variance by (n - 1) / n, ties what has no ties, and cannot tell how a larger study would look.

Three things to read the numbers by:

- Only the *spread* of the differences enters, never their mean. "Observed power", the power at the difference that was found, is
  a function of p and says nothing new (Hoenig and Heisey, The American Statistician 55, 19-24, 2001).
- The smallest difference is proportional to s, which n seeds know roughly: with 10 seeds its 95 % interval goes from 0.69 s to
  1.83 s, and the smallest difference is known no better.
- Holm's strictest step is that of the test with the least p; where several cells differ, later steps ask for less.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import nct, norm
from scipy.stats import t as student

from hardlabels.errors import InputError
from hardlabels.randomness import stream
from hardlabels.statistics.holm import ALPHA, seeds_needed
from hardlabels.statistics.resampled import checked_ratio, resampled_test, variance_factor
from hardlabels.statistics.signed_rank import as_differences, null_distribution

DRAWS = 10_000  # of a power of 0.8 the standard error is then 0.004
POWER = 0.8
LIMIT = 200


@dataclass(frozen=True)
class Criterion:
    """What must happen before a difference counts as shown: both tests reject at alpha / family.

    Attributes:
        ratio: test items divided by training items where seeds split the same items anew; 0 where each seed has its own data.
        family: what alpha is divided by, as :func:`~hardlabels.statistics.holm.first_step` gives it: the number of tests under
            Holm, 1 where the claim needs all of them.
        alpha: the level of the claim.
        two_sided: whether the tests are. Power counts rejections in the direction of the difference only.
    """

    ratio: float
    family: int = 1
    alpha: float = ALPHA
    two_sided: bool = True

    def __post_init__(self) -> None:
        checked_ratio(self.ratio)
        seeds_needed(self.family, self.alpha, self.two_sided)  # refuses a family or an alpha that is none

    @property
    def tail(self) -> float:
        """The probability in one tail that a single test may have."""
        return self.alpha / self.family / (2 if self.two_sided else 1)

    @property
    def needed(self) -> int:
        """Seeds with which both tests can reject at all."""
        return max(2, seeds_needed(self.family, self.alpha, self.two_sided))


# ---- the power of a study of n seeds; effects are in units of s ----


def power(effect: float, n: int, criterion: Criterion) -> float:
    """The share of simulated studies of n seeds in which both tests find a mean difference of ``effect`` standard deviations.

    A function of its arguments: the draws depend on n alone, so power rises with the effect without noise between effects.

    >>> criterion = Criterion(ratio=0.0)
    >>> power(5.0, 5, criterion), power(5.0, 6, criterion)  # two-sided at 0.05 the exact test takes six seeds
    (0.0, 1.0)
    """
    critical = signed_rank_critical(n, criterion.tail)
    if n < 2 or critical is None:
        return 0.0
    d = _noise(n, criterion.ratio) + effect
    error = d.std(axis=1, ddof=1) * np.sqrt(variance_factor(n, criterion.ratio))
    by_t = d.mean(1) >= student.isf(criterion.tail, n - 1) * error
    positive = np.take_along_axis(d, np.abs(d).argsort(axis=1), axis=1) > 0  # place k has rank k + 1; normal draws have no ties
    return float((by_t & (positive @ np.arange(1, n + 1) >= critical)).mean())


def t_power(effect: npt.ArrayLike, n: npt.ArrayLike, criterion: Criterion) -> np.ndarray:
    r"""The power of the corrected t-test alone, in closed form: at least that of both tests.

    Under the model above t has the noncentral t law with n - 1 degrees of freedom and noncentrality
    :math:`(\delta / s) / \sqrt{1/n + r}`.

    >>> t_power(1.0, [5, 10, 20], Criterion(ratio=0.0)).round(3).tolist()
    [0.401, 0.803, 0.989]
    >>> t_power(1.0, [5, 10, 20], Criterion(ratio=0.25)).round(3).tolist()  # more seeds on the same items: little gained
    [0.211, 0.327, 0.41]
    """
    n = np.asarray(n)
    shift = np.asarray(effect) / np.sqrt(variance_factor(n, criterion.ratio))
    return nct.sf(student.isf(criterion.tail, n - 1), n - 1, shift)


@lru_cache(maxsize=256)
def signed_rank_critical(n: int, tail: float) -> int | None:
    r"""The least w with :math:`P(W^+ \ge w) \le` tail for n differences without ties; None where n are too few.

    >>> signed_rank_critical(5, 0.05), signed_rank_critical(5, 0.025)  # 15 is all of 1 .. 5: 1/32
    (15, None)
    """
    at_least = null_distribution(np.arange(1, n + 1))[::-1].cumsum()[::-1]
    w = int((at_least > tail + 1e-12).sum())  # the tail falls with w; 2^-n times a family may miss alpha by rounding
    return w if w < len(at_least) else None


@lru_cache(maxsize=4)
def _noise(n: int, ratio: float) -> np.ndarray:
    """(DRAWS, n) differences of mean 0 in units of s."""
    draws = stream(0, "power", n).standard_normal((DRAWS, n + 1))
    return draws[:, 1:] + np.sqrt(ratio) * draws[:, :1]


# ---- what a study could have seen, and what it would take ----


def smallest_effect(differences: Mapping[int, float] | npt.ArrayLike, criterion: Criterion, *, target: float = POWER) -> float:
    """The smallest mean difference that a study with as many seeds and such a spread shows with probability ``target``.

    Args:
        differences: (n,) or by seed; their number and spread count, their mean does not.
        criterion: the tests.
        target: the power.

    Returns:
        a size, without sign, to about 0.1 %. Infinite where n seeds cannot show anything; 0 where the differences do not differ.

    >>> d = [-0.05, -0.03, -0.04, -0.06, -0.02, -0.04, -0.05, -0.03]  # their standard deviation is 0.0131
    >>> round(smallest_effect(d, Criterion(ratio=0.0)), 3), round(smallest_effect(d, Criterion(2000 / 7000, family=4)), 3)
    (0.017, 0.036)
    >>> smallest_effect(d[:5], Criterion(ratio=0.0))
    inf
    """
    d = as_differences(differences)
    if len(d) < criterion.needed:
        return float("inf")
    return _unit_effect(len(d), criterion, _checked(target)) * resampled_test(d, ratio=criterion.ratio).sd


@lru_cache(maxsize=1024)
def _unit_effect(n: int, criterion: Criterion, target: float) -> float:
    """The smallest effect in units of s, by bisection: power rises with the effect draw by draw."""
    low, high = 0.0, 1.0
    while power(high, n, criterion) < target:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle, n, criterion) >= target else (middle, high)
    return high


def smallest_margin(differences: Mapping[int, float] | npt.ArrayLike, criterion: Criterion, *, target: float = POWER) -> float:
    """The smallest margin within which such a study shows two equal methods to be equal with probability ``target``.

    Equality is shown by two one-sided tests, each by both tests of the criterion: the intervals of 1 - 2 tail lie inside
    the margin. The question is another one than that of :func:`smallest_effect`: a study may see a difference of 0.01 and yet not
    be able to exclude one of that size where there is none, since it has to exclude it at both ends.

    Args:
        differences: (n,) or by seed; their number and spread count, their mean does not.
        criterion: the tests.
        target: the power.

    Returns:
        a size. Infinite where n seeds cannot show anything; 0 where the differences do not differ.

    >>> d = [-0.05, -0.03, -0.04, -0.06, -0.02, -0.04, -0.05, -0.03]
    >>> one_sided = Criterion(ratio=0.0, two_sided=False)
    >>> round(smallest_margin(d, one_sided), 4) > round(smallest_effect(d, one_sided), 4)
    True
    """
    d = as_differences(differences)
    if len(d) < criterion.needed:
        return float("inf")
    return _unit_margin(len(d), criterion, _checked(target)) * resampled_test(d, ratio=criterion.ratio).sd


@lru_cache(maxsize=1024)
def _unit_margin(n: int, criterion: Criterion, target: float) -> float:
    """The margin in units of s: that quantile of the margins that simulated studies without a difference would need."""
    noise, critical = _noise(n, criterion.ratio), signed_rank_critical(n, criterion.tail)
    assert critical is not None  # as many seeds as are needed
    error = noise.std(axis=1, ddof=1) * np.sqrt(variance_factor(n, criterion.ratio))
    by_t = np.abs(noise.mean(1)) + student.isf(criterion.tail, n - 1) * error
    i, j = np.triu_indices(n)
    walsh = (noise[:, i] + noise[:, j]) / 2
    k = len(i) - critical  # W+ of d + m is the number of Walsh averages above -m, and so many of them may lie below it
    ends = np.partition(walsh, [k, len(i) - 1 - k], axis=1)
    by_ranks = np.maximum(np.abs(ends[:, k]), np.abs(ends[:, len(i) - 1 - k]))
    return float(np.quantile(np.maximum(by_t, by_ranks), target))


def seeds_for_effect(
    differences: Mapping[int, float] | npt.ArrayLike,
    effect: float,
    criterion: Criterion,
    *,
    target: float = POWER,
    limit: int = LIMIT,
) -> int | None:
    """The number of seeds with which a mean difference of this size is shown with probability ``target``.

    Args:
        differences: (n,) or by seed, n >= 2; only their spread counts.
        effect: the difference that is looked for, such as a published one; its sign does not matter.
        criterion: the tests.
        target: the power.
        limit: the largest number of seeds that is tried.

    Returns:
        the first number of seeds that suffices; None where ``limit`` seeds do not. Below :func:`effect_out_of_reach` none do.

    Raises:
        InputError: with a single difference, whose spread is unknown, and on an effect that is not finite.

    >>> d = [-0.05, -0.03, -0.04, -0.06, -0.02, -0.04, -0.05, -0.03]
    >>> [seeds_for_effect(d, effect, Criterion(ratio=0.0)) for effect in (-0.04, 0.01, 0.0)]
    [6, 17, None]
    >>> seeds_for_effect(d, 0.01, Criterion(ratio=2000 / 7000))  # not with any number of seeds on the same items
    """
    d = as_differences(differences)
    if len(d) < 2 or not np.isfinite(effect):
        raise InputError(f"seeds for an effect need 2 or more differences and a finite effect, got {len(d)} and {effect}")
    sd, seeds = resampled_test(d, ratio=criterion.ratio).sd, np.arange(criterion.needed, limit + 1)
    if not effect or not len(seeds):
        return None
    if not sd:
        return int(seeds[0])
    return _unit_seeds(abs(effect) / sd, criterion, _checked(target), limit)


@lru_cache(maxsize=1024)
def _unit_seeds(effect: float, criterion: Criterion, target: float, limit: int) -> int | None:
    """The first n whose power suffices; those that the t-test alone rules out are not simulated."""
    seeds = np.arange(criterion.needed, limit + 1)
    able = seeds[t_power(effect, seeds, criterion) >= target]
    return next((int(n) for n in able if power(effect, int(n), criterion) >= target), None)


def effect_out_of_reach(
    differences: Mapping[int, float] | npt.ArrayLike, criterion: Criterion, *, target: float = POWER
) -> float:
    r"""The mean difference below which no number of seeds on the same items has the power ``target``.

    .. math:: s \sqrt r \, (z_{1 - tail} + z_{target}),

    the limit of the corrected t-test for :math:`n \to \infty`. Smaller differences take more items. 0 where r is 0; NaN for a
    single difference.

    >>> d = [-0.05, -0.03, -0.04, -0.06, -0.02, -0.04, -0.05, -0.03]
    >>> round(effect_out_of_reach(d, Criterion(ratio=2000 / 7000)), 4)
    0.0196
    """
    sd = resampled_test(differences, ratio=criterion.ratio).sd
    return sd * float(np.sqrt(criterion.ratio) * (norm.isf(criterion.tail) + norm.ppf(_checked(target))))


def _checked(target: float) -> float:
    if not 0.5 <= target < 1:
        raise InputError(f"the power asked for must be at least 0.5 and below 1, got {target}")
    return target
