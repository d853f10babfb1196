r"""What a difference between two methods is worth, and what it would take to see it.

Where every seed splits the items anew, the corrected resampled t-test (:mod:`hardlabels.statistics.resampled`) is about new
items: seeds that share items are not independent. Where the split is given, all seeds evaluate the same m items, and the noise of
these items does not show in the spread over n seeds. It is then added: with :math:`d_i` the difference on item i, averaged over
seeds, and :math:`\bar d_s` that of seed s,

.. math:: \operatorname{Var}(\bar d) \approx \frac{\operatorname{var}_i(d_i)}{m} + \frac{\operatorname{var}_s(\bar d_s)}{n},

with the degrees of freedom of Welch and Satterthwaite. Both are tested two-sided, and Holm over all pairs of methods.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from hardlabels.comparing.measure import PRIMARY, Measured
from hardlabels.statistics import Criterion, resampled_test
from hardlabels.statistics.holm import holm
from hardlabels.statistics.power import t_power

ALPHA, POWER = 0.05, 0.8
MOST_SEEDS, MOST_TIMES = 200, 100


class TTest(NamedTuple):
    """A mean difference, its standard error, the two-sided p of the t-test against 0, and its degrees of freedom."""

    mean: float
    error: float
    p: float
    freedom: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the difference; unbounded where its error is not known."""
        half = float(student.ppf(0.975, self.freedom)) * self.error if np.isfinite(self.error) else float("inf")
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class Difference:
    """Soft NLL of method ``a`` minus that of ``b``: negative where a is better.

    Attributes:
        a: a method.
        b: another one.
        test: its mean over seeds, with the standard error for new items of the same kind.
        seeds: n.
        adjusted: p after Holm over all pairs.
        sd: of the differences over seeds.
        ratio: the part of the variance of the mean that no number of seeds takes away, over that of the seeds, ``sd`` squared:
            evaluation items per training item; where the split is given, what :func:`share_of_items` finds.
    """

    a: str
    b: str
    test: TTest
    seeds: int
    adjusted: float
    sd: float
    ratio: float

    @property
    def mean(self) -> float:
        """The mean difference over seeds."""
        return self.test.mean

    @property
    def resolved(self) -> bool:
        """Whether the difference is distinguished from chance."""
        return self.adjusted < ALPHA


def all_pairs(methods: Sequence[Measured], *, given: bool, ratio: float) -> list[Difference]:
    """Every pair of methods, tested on the soft NLL of the best checkpoint.

    Args:
        methods: of the same seeds.
        given: whether all seeds evaluate the same items, by a split of the user's own.
        ratio: evaluation items per training item.
    """
    tests = {(a.method, b.method): compare_pair(a, b, given=given, ratio=ratio) for a, b in combinations(methods, 2)}
    adjusted = holm({" ".join(pair): test.p for pair, test in tests.items()})
    by_name = {measured.method: measured for measured in methods}
    found = []
    for (a, b), test in tests.items():
        n, sd = len(by_name[a].runs), _sd(by_name[a], by_name[b])
        left = share_of_items(test.error, sd, n) if given else ratio
        found.append(Difference(a, b, test, n, adjusted[f"{a} {b}"], sd, left))
    return found


def share_of_items(error: float, sd: float, n: int) -> float:
    """The noise of the items of a given split in the variance of a mean over n seeds, in units of the variance over seeds.

    Args:
        error: what :func:`fixed_split_test` finds, of items and seeds together.
        sd: of the differences over seeds.
        n: seeds.

    >>> round(share_of_items(0.51**0.5, 0.2, 4), 6)  # 0.5 of the items, 0.04 / 4 of the seeds
    12.5
    """
    return max(error**2 / sd**2 - 1 / n, 0.0) if sd > 0 else 0.0


def compare_pair(a: Measured, b: Measured, *, given: bool, ratio: float) -> TTest:
    """The test of the soft NLL of a minus that of b."""
    by_seed = _by_seed(a, b)
    if not given:
        return resampled(by_seed, ratio)
    items = np.mean([first.item_nll - second.item_nll for first, second in zip(a.runs, b.runs, strict=True)], axis=0)
    return fixed_split_test(items, by_seed)


def resampled(by_seed: np.ndarray, ratio: float) -> TTest:
    """The corrected resampled t-test, where every seed has a split of its own."""
    test = resampled_test(by_seed, ratio=ratio)
    return TTest(test.mean, test.error, test.p, max(test.n - 1, 1))


def fixed_split_test(items: np.ndarray, seeds: np.ndarray) -> TTest:
    """The t-test where all seeds evaluate the same items.

    Args:
        items: (m,) differences of the items, averaged over seeds.
        seeds: (n,) differences of the seeds, averaged over items.

    >>> test = fixed_split_test(np.array([1.0, 3.0, 2.0, 2.0]), np.array([1.5, 2.5]))
    >>> test.mean, round(test.error**2, 4)  # 2/3 over 4 items, 0.5 over 2 seeds
    (2.0, 0.4167)
    """
    mean, m, n = float(seeds.mean()), len(items), len(seeds)
    if m < 2 or n < 2:
        return TTest(mean, float("nan"), 1.0, 1.0)
    of_items, of_seeds = float(items.var(ddof=1)) / m, float(seeds.var(ddof=1)) / n
    error = float(np.sqrt(of_items + of_seeds))
    if not error:
        return TTest(mean, 0.0, float(mean == 0), n - 1)
    freedom = (of_items + of_seeds) ** 2 / (of_items**2 / (m - 1) + of_seeds**2 / (n - 1))
    return TTest(mean, error, float(2 * student.sf(abs(mean) / error, freedom)), freedom)


def seeds_needed(difference: Difference, pairs: int) -> int | None:
    """Seeds with which a true difference of this size would be seen with a probability of 0.8; None where no number suffices."""
    if not difference.mean or not difference.sd:
        return None
    n = np.arange(2, MOST_SEEDS + 1)
    power = t_power(abs(difference.mean) / difference.sd, n, Criterion(difference.ratio, family=max(pairs, 1)))
    return int(n[power >= POWER][0]) if (power >= POWER).any() else None


def items_needed(difference: Difference, items: int, pairs: int) -> int | None:
    """Items (all of them, not the evaluated ones) with which it would be seen; None for more than 100 times as many.

    The standard error falls as one over the root of the number of items.
    """
    test = difference.test
    if not test.mean or not np.isfinite(test.error):
        return None
    reach = student.ppf(1 - ALPHA / max(pairs, 1) / 2, test.freedom) + student.ppf(POWER, test.freedom)
    times = float(reach * test.error / abs(test.mean)) ** 2
    return None if times > MOST_TIMES else int(np.ceil(max(times, 1.0) * items))


def _by_seed(a: Measured, b: Measured) -> np.ndarray:
    left, right = a.values(PRIMARY), b.values(PRIMARY)
    return np.array([left[seed] - right[seed] for seed in left])


def _sd(a: Measured, b: Measured) -> float:
    found = _by_seed(a, b)
    return float(found.std(ddof=1)) if len(found) > 1 else float("nan")
