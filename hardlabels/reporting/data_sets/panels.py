"""What figures over data sets share: one small panel per data set."""

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.style import WIDTH, canvas


def panels(names: Sequence[str], *, height: float, **settings: Any) -> tuple[Canvas, dict[str, Axes]]:
    """A picture with a panel a data set, its name above; at most three side by side: letters stay legible at a README's width.

    Args:
        names: of the data sets.
        height: of a row of panels, in inches.
        settings: as of matplotlib's ``subplots``.
    """
    columns = _columns(len(names))
    rows = -(-len(names) // columns)
    figure, axes = canvas(rows, columns, height=0.7 + rows * height, width=WIDTH, **settings)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    found = dict(zip(names, axes.flat, strict=False))
    for name, axis in found.items():
        axis.set_title(name)
    return figure, found


def lowest(found: dict[str, Axes]) -> list[Axes]:
    """The panels that have none below: where the names of the horizontal axis go."""
    return list(found.values())[-_columns(len(found)) :]


def leftmost(found: dict[str, Axes]) -> list[Axes]:
    """The first panel of each row: where the name of the vertical axis goes."""
    return list(found.values())[:: _columns(len(found))]


def missing_from(names: Sequence[str], measured: Iterable[str], what: str) -> list[str]:
    """A note on the data sets that have no panel.

    >>> missing_from(["a", "b"], ["b"], "runs with few votes")
    ['No runs with few votes yet: a.']
    """
    absent = [name for name in names if name not in set(measured)]
    return [f"No {what} yet: {', '.join(absent)}."] if absent else []


def _columns(count: int) -> int:
    return 2 if count in (2, 4) else min(3, count)
