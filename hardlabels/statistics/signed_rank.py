r"""Wilcoxon's signed-rank statistic and its exact null distribution, ties and zeros included.

Rank the absolute differences; :math:`W^+` is the sum of the ranks of the positive ones. When differences are symmetric about 0
every sign is a fair coin, whatever the ranks, so the law of :math:`W^+` given the ranks is that of :math:`\sum_i r_i B_i` with
fair bits :math:`B_i`. It is built one rank at a time. Tied differences share their mean rank, a multiple of 1/2; so ranks are
doubled and stay whole. ``scipy.stats.wilcoxon(method="exact")`` ignores ties; this does not.

Zero differences have no sign. ``"wilcox"`` (the default, Wilcoxon 1945) leaves them out before ranking; ``"pratt"`` (Pratt 1959)
ranks them and then leaves them out, so that the others keep the higher ranks. Where nothing is left, p is 1.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from hardlabels.errors import InputError

Alternative: TypeAlias = Literal["less", "greater", "two-sided"]
Zeros: TypeAlias = Literal["wilcox", "pratt"]

ALTERNATIVES = ("less", "greater", "two-sided")
ZERO_RULES = ("wilcox", "pratt")
DIGITS = 12  # differences are known to this many digits of the largest value; what is equal up to them is tied


def subtract(a: npt.ArrayLike, b: npt.ArrayLike) -> np.ndarray:
    """``a - b``, rounded to ``DIGITS`` significant digits of the largest value.

    Accuracies are multiples of 1 / N, but binary fractions are not: without this, differences that are equal would not be tied,
    and some that are zero would have a sign.

    >>> subtract([0.3, 0.9], [0.1, 0.7]).tolist(), 0.3 - 0.1 == 0.9 - 0.7
    ([0.2, 0.2], False)
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    if not largest:
        return x - y
    return np.round(x - y, min(DIGITS - int(np.ceil(np.log10(largest))), 300))


def as_differences(values: Mapping[int, float] | npt.ArrayLike) -> np.ndarray:
    """(n,) differences, n >= 1, all finite; of a mapping by seed, its values.

    Raises:
        InputError: when there are none, or one is not finite, or they are not one row of numbers.
    """
    d = np.array(list(values.values()) if isinstance(values, Mapping) else values, dtype=np.float64)
    if d.ndim != 1 or not len(d) or not np.isfinite(d).all():
        raise InputError(f"differences must be one or more finite numbers, one a seed, got {d.tolist()}")
    return d


def signed_ranks(differences: npt.ArrayLike, zeros: Zeros = "wilcox") -> np.ndarray:
    """(m,) twice the rank of each non-zero difference among the absolute ones, with its sign; ties share their mean rank.

    >>> signed_ranks([0.2, -0.1, 0.2, 0.0]).tolist(), signed_ranks([0.2, -0.1, 0.2, 0.0], zeros="pratt").tolist()
    ([5, -2, 5], [7, -4, 7])
    """
    if zeros not in ZERO_RULES:
        raise InputError(f"zeros must be one of {', '.join(ZERO_RULES)}, got {zeros!r}")
    d = as_differences(differences)
    if zeros == "wilcox":
        d = d[d != 0]
    ranks = np.rint(2 * rankdata(np.abs(d))).astype(np.int64)
    return (ranks * np.sign(d).astype(np.int64))[d != 0]


def null_distribution(ranks: npt.ArrayLike) -> np.ndarray:
    r"""P(W = w) for w = 0 .. sum of the ranks, where :math:`W = \sum_i r_i B_i` and the bits are fair.

    Every value is a whole number of :math:`2^{-m}`, so sums of them are exact in float64 up to m = 52 ranks.

    Args:
        ranks: (m,) whole, positive: 2, 4, ..., 2m for doubled ranks without ties.

    >>> (8 * null_distribution([1, 2, 3])).tolist()  # 3 is 3 or 1 + 2
    [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]
    """
    whole = np.asarray(ranks, dtype=np.int64)
    probability = np.zeros(int(whole.sum()) + 1)
    probability[0] = 1.0
    for rank in whole:
        moved = np.zeros_like(probability)
        moved[rank:] = probability[:-rank]
        probability = (probability + moved) / 2
    return probability


def exact_p(differences: npt.ArrayLike, alternative: Alternative = "two-sided", zeros: Zeros = "wilcox") -> float:
    r"""The exact p of the signed-rank test that differences are symmetric about 0.

    ``"greater"``: :math:`P(W^+ \ge w)`; ``"less"``: :math:`P(W^+ \le w)`; ``"two-sided"``: twice the smaller one, at most 1. The
    law is symmetric, so that is also the probability of a statistic at least as far from its mean.

    Args:
        differences: (n,) one a seed.
        alternative: where the differences lie when the claim holds.
        zeros: what is done with differences of 0.

    >>> exact_p([1, 2, 3, 4, 5], "greater"), exact_p([1, 2, 3, 4, 5]), exact_p([0, 0])
    (0.03125, 0.0625, 1.0)
    >>> exact_p([-1, 1, 1], "greater")  # ranks 2, 2, 2; two or more of three coins
    0.5
    """
    if alternative not in ALTERNATIVES:
        raise InputError(f"alternative must be one of {', '.join(ALTERNATIVES)}, got {alternative!r}")
    signed = signed_ranks(differences, zeros)
    law, w = null_distribution(np.abs(signed)), int(signed[signed > 0].sum())
    greater, less = float(law[w:].sum()), float(law[: w + 1].sum())
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[alternative]


def least_p(n: int, two_sided: bool = False) -> float:
    """The least p that n differences other than 0 can attain: all of one sign, 2^-n, and twice that two-sided.

    Ties do not change it: one of 2^n sign patterns is the most extreme.

    >>> least_p(5), least_p(5, two_sided=True), least_p(0, two_sided=True)
    (0.03125, 0.0625, 1.0)
    """
    return min(1.0, 2.0 ** (int(two_sided) - n))
