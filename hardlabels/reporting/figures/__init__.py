"""The papers' figures, each a function of records: numbers are prepared by one function and drawn by another.

A figure is a module ``figure<number>_<name>.py`` (``figure_s<number>_<name>.py`` for those that the first paper has not) with the
functions ``prepare_<name>(records)``, ``draw_<name>(numbers)`` and ``<name>(records) -> Figure``. A new one is one file; there is
no list to edit.
"""

import pkgutil
import re
from collections.abc import Callable
from importlib import import_module

from hardlabels.reporting.figures.figure import Figure
from hardlabels.runs.records import Records

__all__ = ["FIGURES", "Figure"]

MODULE = re.compile(r"figure(_s|)(\d+)_(\w+)")


def _discover() -> dict[str, Callable[[Records], Figure]]:
    found = [match for module in pkgutil.iter_modules(__path__) if (match := MODULE.fullmatch(module.name))]
    found.sort(key=lambda match: (match[1], int(match[2])))  # the paper's own first, then S1, S2, ...
    modules = {f"{'S' * bool(match[1])}{match[2]}": (match[3], import_module(f"{__name__}.{match[0]}")) for match in found}
    return {number: getattr(module, name) for number, (name, module) in modules.items()}


FIGURES: dict[str, Callable[[Records], Figure]] = _discover()
"""Number to function, in order."""
