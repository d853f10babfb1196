"""The paper's tables, each a function of records.

A table is a module ``table<number>_<name>.py`` (``table_s<number>_<name>.py`` for those the paper does not have) with a function
``<name>(records) -> Table``. A new one is one file; there is no list to edit.
"""

from collections.abc import Callable

from hardlabels.reporting.discover import discover
from hardlabels.reporting.tables.table import Entry, Table
from hardlabels.runs.records import Records

__all__ = ["TABLES", "Entry", "Table"]

TABLES: dict[str, Callable[[Records], Table]] = discover("table", __name__, __path__)
"""Number to function, in order."""
