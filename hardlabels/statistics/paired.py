"""Is one method better than another, seed by seed? The paired test, and what makes a pair."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import numpy as np

from hardlabels.errors import InputError
from hardlabels.statistics.signed_rank import Alternative, Zeros, exact_p, least_p, subtract

Seeded: TypeAlias = Mapping[int, float] | Iterable[tuple[int, float]]
"""One value per seed: a mapping, or (seed, value) rows, which may be wrong in one more way: a seed may come twice."""


def by_seed(values: Seeded, name: str) -> dict[int, float]:
    """The values in the order of their seeds.

    Args:
        values: seed to value; a mapping, rows, or anything with ``.items()`` such as a pandas Series.
        name: what error messages call them.

    Raises:
        InputError: on a seed that is no whole number, a seed that comes twice, a value that is not finite.

    >>> by_seed([(1, 0.5), (0, 0.4)], "sls")
    {0: 0.4, 1: 0.5}
    """
    found: dict[int, float] = {}
    for seed, value in values.items() if hasattr(values, "items") else values:
        if not isinstance(seed, Integral):
            raise InputError(f"{name}: a seed must be a whole number, got {seed!r}")
        if int(seed) in found:
            raise InputError(f"{name}: one value a seed is needed, but seed {seed} comes twice")
        if not np.isfinite(value):
            raise InputError(f"{name}: seed {seed} must have a finite value, got {value}")
        found[int(seed)] = float(value)
    return dict(sorted(found.items()))


def pair(a: Seeded, b: Seeded, *, names: tuple[str, str] = ("a", "b")) -> tuple[tuple[int, ...], np.ndarray]:
    """The seeds of two methods, which must be the same, and the differences ``a - b``.

    Runs of one seed share split, weights, order and crops. A seed that only one of them has is no pair and is not quietly left
    out: which runs finished must not decide what is compared.

    Args:
        a: seed to value.
        b: seed to value.
        names: what error messages call them.

    Returns:
        seeds in order, and (n,) differences, rounded as in :func:`~hardlabels.statistics.signed_rank.subtract`.

    Raises:
        InputError: on seeds that are in one and not in the other, and as :func:`by_seed`.

    >>> seeds, differences = pair({0: 0.50, 1: 0.52}, {1: 0.53, 0: 0.54})
    >>> seeds, differences.tolist()
    ((0, 1), [-0.04, -0.01])
    """
    left, right = by_seed(a, names[0]), by_seed(b, names[1])
    if left.keys() != right.keys():
        alone = (left.keys() - right.keys(), right.keys() - left.keys())
        parts = [f"only {name} has {_list(seeds)}" for name, seeds in zip(names, alone, strict=True) if seeds]
        raise InputError(f"{names[0]} and {names[1]} must have the same seeds: {'; '.join(parts)}")
    if not left:
        raise InputError(f"{names[0]} and {names[1]} must have at least one seed in common, got none")
    return tuple(left), subtract(list(left.values()), list(right.values()))


def _list(seeds: Iterable[int]) -> str:
    found = sorted(seeds)
    return f"seed{'s' * (len(found) > 1)} {', '.join(map(str, found))}"


@dataclass(frozen=True)
class PairedTest:
    """The signed-rank test of one comparison, and what is needed to read its p.

    Attributes:
        n: paired seeds.
        differences: ``a - b`` by seed.
        mean: their mean.
        agreeing: seeds whose difference has the claimed sign; two-sided, the sign that more seeds have.
        zeros: seeds without any difference; they count neither way, and the test runs on n - zeros.
        p: exact.
        least_p: the least p that n - zeros differences can attain.
        alternative: the claim about ``a - b``: less, greater or two-sided.
    """

    n: int
    differences: dict[int, float]
    mean: float
    agreeing: int
    zeros: int
    p: float
    least_p: float
    alternative: Alternative

    @property
    def two_sided(self) -> bool:
        """Whether no direction was claimed."""
        return self.alternative == "two-sided"

    def __str__(self) -> str:
        sides = "two-sided" if self.two_sided else "one-sided"
        least = (
            f"the least {self.n - self.zeros} seeds can attain"
            if self.p == self.least_p
            else f"least attainable {self.least_p:.3g}"
        )
        return f"{self.agreeing} of {self.n} seeds agree, {sides} p = {self.p:.4g} ({least})"


def paired_test(
    a: Seeded, b: Seeded, *, alternative: Alternative, zeros: Zeros = "wilcox", names: tuple[str, str] = ("a", "b")
) -> PairedTest:
    """The exact paired Wilcoxon test of a against b.

    Args:
        a: seed to value.
        b: seed to value, the same seeds.
        alternative: the claim about ``a - b``: ``"less"`` where a is to have the lower loss.
        zeros: the rule for differences of 0, see :mod:`~hardlabels.statistics.signed_rank`.
        names: what error messages call them.

    >>> soft = {0: 0.59, 1: 0.58, 2: 0.60, 3: 0.57, 4: 0.59}
    >>> sls = {0: 0.56, 1: 0.54, 2: 0.55, 3: 0.55, 4: 0.58}
    >>> print(paired_test(sls, soft, alternative="less"))
    5 of 5 seeds agree, one-sided p = 0.03125 (the least 5 seeds can attain)
    """
    seeds, differences = pair(a, b, names=names)
    p = exact_p(differences, alternative, zeros)
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    return PairedTest(
        n=len(seeds),
        differences=dict(zip(seeds, differences.tolist(), strict=True)),
        mean=float(differences.mean()),
        agreeing={"greater": above, "less": below, "two-sided": max(above, below)}[alternative],
        zeros=len(seeds) - above - below,
        p=p,
        least_p=least_p(above + below, alternative == "two-sided"),
        alternative=alternative,
    )
