"""The paper's tables, each a function of records.

A table is a module ``table<number>_<name>.py`` (``table_s<number>_<name>.py`` for those the paper does not have) with a function
``<name>(records) -> Table``. A new one is one file; there is no list to edit.
"""

import pkgutil
import re
from collections.abc import Callable
from importlib import import_module

from hardlabels.reporting.tables.table import Entry, Table
from hardlabels.runs.records import Records

__all__ = ["TABLES", "Entry", "Table"]

MODULE = re.compile(r"table(_s|)(\d+)_(\w+)")


def _discover() -> dict[str, Callable[[Records], Table]]:
    found = [match for module in pkgutil.iter_modules(__path__) if (match := MODULE.fullmatch(module.name))]
    found.sort(key=lambda match: (match[1], int(match[2])))  # the paper's own first, then S1, S2, ...
    modules = {f"{'S' * bool(match[1])}{match[2]}": (match[3], import_module(f"{__name__}.{match[0]}")) for match in found}
    return {number: getattr(module, name) for number, (name, module) in modules.items()}


TABLES: dict[str, Callable[[Records], Table]] = _discover()
"""Number to function, in order."""
