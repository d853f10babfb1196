"""How reports write numbers: in tables, in sentences, as p-values. A number looks the same wherever it stands."""

import numpy as np

NOTHING = "–"
"""What stands where there is no number."""


def true_minus(text: str) -> str:
    """A number's text with a minus sign in place of the hyphen.

    >>> true_minus("-0.5")
    '−0.5'
    """
    return text.replace("-", "−")


def decimal(value: float, like: float | None = None, fewest: int = 1) -> str:
    """A number of a table: four decimals below 10, fewer above.

    Args:
        value: the number.
        like: decides the decimals in place of the value; an SD has those of its mean.
        fewest: decimals of a number from 10 on. One suits tables with thousands in them (traces of Hessians).

    >>> decimal(0.50519), decimal(-4946.04), decimal(0.5, like=12.0), decimal(12.34567, fewest=3)
    ('0.5052', '−4946.0', '0.5', '12.346')
    """
    return true_minus(f"{value:.{4 if abs(value if like is None else like) < 10 else fewest}f}")


def mean_and_sd(mean: float, sd: float | None, fewest: int = 1) -> str:
    """Mean ± SD; the mean alone where one seed leaves no SD. ``fewest`` is that of :func:`decimal`.

    >>> mean_and_sd(0.50519, 0.0263), mean_and_sd(0.5, float("nan")), mean_and_sd(0.5, None)
    ('0.5052 ± 0.0263', '0.5000', '0.5000')
    >>> mean_and_sd(12.34567, 0.0263, fewest=3)
    '12.346 ± 0.026'
    """
    shown = decimal(mean, fewest=fewest)
    return shown if sd is None or np.isnan(sd) else f"{shown} ± {decimal(sd, like=mean, fewest=fewest)}"


def score_and_sd(mean: float, sd: float | None) -> str:
    """Mean ± SD of a score: three decimals also from 10 on, where methods still differ in the second.

    >>> score_and_sd(0.50519, 0.0263), score_and_sd(12.34567, 0.0263)
    ('0.5052 ± 0.0263', '12.346 ± 0.026')
    """
    return mean_and_sd(mean, sd, fewest=3)


def number(value: float, signed: bool = False) -> str:
    """A number of a sentence: four decimals, fewer where it is large, two digits where it is tiny.

    >>> number(0.50519), number(-0.0263, signed=True), number(4946.04), number(104.93), number(0.00023), number(float("nan"))
    ('0.5052', '−0.0263', '4946', '104.9', '0.00023', '–')
    """
    if not np.isfinite(value):
        return NOTHING if np.isnan(value) else ("∞" if value > 0 else "−∞")
    size, sign = abs(value), "+" if signed else ""
    form = ".2g" if 0 < size < 0.001 else f".{4 if size < 10 else max(0, 4 - len(str(int(size))))}f"
    return true_minus(f"{value:{sign}{form}}")


def signed(value: float) -> str:
    """A difference in four decimals with its sign; what rounds to zero has none.

    >>> signed(0.0319), signed(-0.0319), signed(-0.00001), signed(0.00001), signed(float("-inf"))
    ('+0.0319', '−0.0319', '0.0000', '0.0000', '−∞')
    """
    if np.isnan(value):
        return NOTHING
    if np.isinf(value):
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.4f}"
    return true_minus(text) if float(text) else text[1:]


def p_value(value: float | None) -> str:
    """A p-value, three digits.

    >>> p_value(0.69531), p_value(0.0000012), p_value(None)
    ('0.695', '1.2e-06', '–')
    """
    return NOTHING if value is None else f"{value:.3g}"
