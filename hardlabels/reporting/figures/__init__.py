"""The papers' figures, each a function of records: numbers are prepared by one function and drawn by another.

A figure is a module ``figure<number>_<name>.py`` (``figure_s<number>_<name>.py`` for those that the first paper has not) with the
functions ``prepare_<name>(records)``, ``draw_<name>(numbers)`` and ``<name>(records) -> Figure``, which show the checkpoint that
the records are seen at. A new one is one file; there is no list to edit, and it is shown at both checkpoints by itself.
"""

from collections.abc import Callable

from hardlabels.reporting.discover import discover
from hardlabels.reporting.figures.both import figure_at_both
from hardlabels.reporting.figures.figure import Figure
from hardlabels.runs.records import Records

__all__ = ["FIGURES", "Figure"]

FIGURES: dict[str, Callable[[Records], Figure]] = {
    number: figure_at_both(maker) for number, maker in discover("figure", __name__, __path__).items()
}
"""Number to function, in order; each gives its figure at both checkpoints."""
