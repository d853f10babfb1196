"""Tables and figures over several data sets, each a function of data set to records.

Modules are named and found as those of :mod:`hardlabels.reporting.tables` and :mod:`hardlabels.reporting.figures` are; their
functions take ``{name of the data set: its records}`` and likewise show one checkpoint.
"""

from collections.abc import Callable, Mapping

from hardlabels.reporting.discover import discover
from hardlabels.reporting.figures.both import figure_at_both
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.tables.both import table_at_both
from hardlabels.reporting.tables.table import Table
from hardlabels.runs.records import Records

__all__ = ["FIGURES_OVER_DATA", "TABLES_OVER_DATA"]

TABLES_OVER_DATA: dict[str, Callable[[Mapping[str, Records]], Table]] = {
    number: table_at_both(maker) for number, maker in discover("table", __name__, __path__).items()
}
"""Number to function, in order; each gives its table at both checkpoints."""

FIGURES_OVER_DATA: dict[str, Callable[[Mapping[str, Records]], Figure]] = {
    number: figure_at_both(maker) for number, maker in discover("figure", __name__, __path__).items()
}
"""Number to function, in order; each gives its figure at both checkpoints."""
