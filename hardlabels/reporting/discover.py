"""Tables and figures are found by the names of their modules: a new one is one file, and there is no list to edit."""

import pkgutil
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any


def discover(kind: str, package: str, path: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """Number to function, in order: of ``<kind><number>_<name>.py``, and of ``<kind>_s<number>_<name>.py`` after those.

    Args:
        kind: ``table`` or ``figure``; each of their modules has a function ``<name>``.
        package: its name.
        path: its ``__path__``.
    """
    pattern = re.compile(rf"{kind}(_s|)(\d+)_(\w+)")
    found = [match for module in pkgutil.iter_modules(path) if (match := pattern.fullmatch(module.name))]
    found.sort(key=lambda match: (match[1], int(match[2])))  # the paper's own first, then S1, S2, ...
    return {f"{'S' * bool(match[1])}{match[2]}": getattr(import_module(f"{package}.{match[0]}"), match[3]) for match in found}
