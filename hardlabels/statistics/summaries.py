"""One number per seed, summed up. One owner of mean and SD over seeds, and of the t interval of such a mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from hardlabels.errors import InputError
from hardlabels.statistics.paired import Seeded, by_seed


@dataclass(frozen=True)
class Summary:
    """Mean and spread over seeds.

    Attributes:
        n: number of seeds.
        mean: over seeds.
        sd: the sample's standard deviation (n - 1 below the line); NaN for one seed.
        least: the lowest value.
        greatest: the highest value.
    """

    n: int
    mean: float
    sd: float
    least: float
    greatest: float


def mean_sd(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean and the sample's standard deviation (n - 1 below the line); NaN for an SD of one value, and for both of none.

    >>> mean_sd([1.0, 3.0]), mean_sd([2.0])
    ((2.0, 1.4142135623730951), (2.0, nan))
    """
    x = np.asarray(values, dtype=float)
    return float(x.mean()) if len(x) else float("nan"), float(x.std(ddof=1)) if len(x) > 1 else float("nan")


def t_half_width(sd: float | np.ndarray, n: int | np.ndarray, level: float = 0.95) -> np.ndarray:
    r"""Half of the t interval of a mean, :math:`t_{(1 + level)/2,\, n - 1} \cdot SD / \sqrt n`; 0 for one value, which has none.

    Args:
        sd: the sample's standard deviation of n values; of any shape.
        n: how many values; of the same shape, or one number.
        level: of the interval.

    >>> t_half_width(np.array([1.0, 2.0]), 3).round(3).tolist(), float(t_half_width(float("nan"), 1))
    ([2.484, 4.968], 0.0)
    """
    n = np.asarray(n)
    return np.where(n > 1, t.ppf((1 + level) / 2, np.maximum(n - 1, 1)) * sd / np.sqrt(n), 0.0)


def summarise(values: Seeded, name: str = "values") -> Summary:
    """Mean, SD and range over seeds.

    Args:
        values: seed to value.
        name: what error messages call them.

    Raises:
        InputError: without seeds, and as :func:`~hardlabels.statistics.paired.by_seed`.

    >>> summarise({0: 1.0, 1: 2.0, 2: 3.0})
    Summary(n=3, mean=2.0, sd=1.0, least=1.0, greatest=3.0)
    """
    x = np.array(list(by_seed(values, name).values()))
    if not len(x):
        raise InputError(f"{name}: at least one seed is needed, got none")
    return Summary(len(x), *mean_sd(x), float(x.min()), float(x.max()))
