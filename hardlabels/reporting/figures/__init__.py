"""The papers' figures, each a function of records: numbers are prepared by one function and drawn by another.

A figure is a module ``figure<number>_<name>.py`` (``figure_s<number>_<name>.py`` for those that the first paper has not) with the
functions ``prepare_<name>(records)``, ``draw_<name>(numbers)`` and ``<name>(records) -> Figure``. A new one is one file; there is
no list to edit.
"""

from collections.abc import Callable

from hardlabels.reporting.discover import discover
from hardlabels.reporting.figures.figure import Figure
from hardlabels.runs.records import Records

__all__ = ["FIGURES", "Figure"]

FIGURES: dict[str, Callable[[Records], Figure]] = discover("figure", __name__, __path__)
"""Number to function, in order."""
