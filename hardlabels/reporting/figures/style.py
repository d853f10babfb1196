"""How figures look: each method has one colour and one mark in all of them."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.tables.sheet import METHODS
from hardlabels.runs.spelling import read_method
from hardlabels.statistics.summaries import mean_sd

# Okabe and Ito's colours: told apart with any common colour blindness. Marks and dashes say the same in grey.
T = TypeVar("T")
COLOURS = {
    "soft": "#0072B2",
    "sls": "#D55E00",
    "multipass": "#009E73",
    "deterministic_control": "#CC79A7",
    "shuffled_sls": "#8C6D31",
    "majority": "#444444",
    "label_smoothing": "#E69F00",
    "mixup": "#56B4E9",
    "stratified_sls": "#7F3C8D",
}
MARKS = dict(zip(METHODS, "osD^vXP*p", strict=True))
OTHERS = ("#A5AA99", "#B3B300", "#80BA5A")
ANNOTATORS = "#999999"
"""The colour of what people said."""

WIDTH = 6.4  # inches: 640 pixels at 100 dots an inch, where a letter of 9 points is still read with ease
RULES = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2,
}


def styled(draw: Callable[[T], Canvas]) -> Callable[[T], Canvas]:
    """Draws with ``RULES``, and leaves matplotlib's own settings as they were."""

    @wraps(draw)
    def drawn(numbers: T) -> Canvas:
        with matplotlib.rc_context(RULES):  # type: ignore[arg-type]
            return draw(numbers)

    return drawn


def colour(method: str) -> str:
    """The colour of a method; a variant has its method's, an unknown method one that depends on its name alone.

    >>> colour("sls"), colour("sls,hold=5") == colour("sls")
    ('#D55E00', True)
    """
    base = read_method(method).name
    return COLOURS.get(base, OTHERS[sum(base.encode()) % len(OTHERS)])


def mark(method: str) -> str:
    """The mark of a method.

    >>> mark("soft"), mark("unheard_of")
    ('o', 'h')
    """
    return MARKS.get(read_method(method).name, "h")


def label(method: str) -> str:
    """A method's name for people.

    >>> label("deterministic_control"), label("sls,hold=5")
    ('deterministic control', 'sls, hold 5')
    """
    name, settings = read_method(method)
    return ", ".join([name, *(f"{key} {value}" for key, value in settings)]).replace("_", " ")


def canvas(rows: int = 1, columns: int = 1, *, height: float, width: float = WIDTH, **settings: Any) -> tuple[Canvas, np.ndarray]:
    """An empty picture with rows x columns panels, (rows, columns) axes. Not pyplot's: nothing is kept after use."""
    figure = Canvas(figsize=(width, height), dpi=100, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def legend_below(figure: Canvas, axis: Axes, columns: int = 4) -> None:
    """One legend for all panels, below them; none where nothing has a name."""
    handles, labels = axis.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), columns), frameon=False, fontsize=8.5)


def strip(
    axis: Axes, values: Sequence[float], place: float, method: str, *, name: str | None = None, spread: float = 0.16
) -> None:
    """Every value as a dot about ``place``, in the order given, and their mean as a line."""
    y = np.asarray(values, dtype=float)
    y = y[np.isfinite(y)]
    if not len(y):
        return
    x = place + (np.linspace(-spread, spread, len(y)) if len(y) > 1 else np.zeros(1))
    axis.plot(x, y, mark(method), color=colour(method), alpha=0.65, markersize=4, markeredgewidth=0, label=name)
    axis.hlines(y.mean(), place - 1.6 * spread, place + 1.6 * spread, color=colour(method), linewidth=2)


def places(axis: Axes, words: Iterable[str], rotation: float = 0) -> None:
    """Words below an axis, at 0, 1, 2, ..."""
    words = list(words)
    axis.set_xticks(range(len(words)), words, rotation=rotation, ha="right" if rotation else "center")
    axis.set_xlim(-0.6, len(words) - 0.4)
    axis.grid(axis="x", visible=False)


def count_word(counts: Iterable[int]) -> str:
    """How many seeds, for a caption.

    >>> count_word([3, 5]), count_word([5, 5]), count_word([])
    ('n = 3 to 5 seeds', 'n = 5 seeds', 'no runs')
    """
    found = sorted(set(counts))
    if not found:
        return "no runs"
    return f"n = {found[0]} seeds" if len(found) == 1 else f"n = {found[0]} to {found[-1]} seeds"


def loss_limits(axis: Axes, curves: Iterable[np.ndarray]) -> None:
    """Fit the height to the mean curves after the first tenth of the epochs (three at least): what comes before may leave it.

    Args:
        axis: whose limits are set.
        curves: (seeds, epochs) each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an epoch without any finite value
        means = [np.nanmean(rows, axis=0) for rows in curves]
    later = [mean[max(3, len(mean) // 10) :] if len(mean) > 4 else mean for mean in means]
    values = np.concatenate(later) if later else np.zeros(0)
    values = values[np.isfinite(values)]
    if len(values) and values.max() > values.min():
        pad = 0.2 * (values.max() - values.min())
        axis.set_ylim(values.min() - pad, values.max() + pad)


def mean_and_bar(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean of the finite values and the length of the bar beside it, their sample SD: 0 for one value, NaN for none.

    >>> mean_and_bar([1.0, 3.0, float("nan")]), mean_and_bar([2.0])
    ((2.0, 1.4142135623730951), (2.0, 0.0))
    """
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x)]
    mean, sd = mean_sd(x)
    return mean, 0.0 if len(x) == 1 else sd
