"""The paper's tables, each a function of records.

A table is a module ``table<number>_<name>.py`` (``table_s<number>_<name>.py`` for those the paper does not have) with a function
``<name>(records) -> Table``, which shows the checkpoint that the records are seen at. A new one is one file; there is no list to
edit, and it is shown at both checkpoints without a line of its own.
"""

from collections.abc import Callable

from hardlabels.reporting.discover import discover
from hardlabels.reporting.tables.both import table_at_both
from hardlabels.reporting.tables.table import Entry, Table
from hardlabels.runs.records import Records

__all__ = ["TABLES", "Entry", "Table"]

TABLES: dict[str, Callable[[Records], Table]] = {
    number: table_at_both(maker) for number, maker in discover("table", __name__, __path__).items()
}
"""Number to function, in order; each gives its table at both checkpoints."""
