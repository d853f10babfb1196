"""Stage 2, sources: items and their votes as one object.

A source is a module of this package that has a function of its own name, such as ``synthetic.synthetic``; it returns a
:class:`Source`. A new one touches two files: its module and its yaml in ``conf/data``. There is no list to edit.
"""

import pkgutil
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hardlabels.errors import InputError
from hardlabels.guard import named_code
from hardlabels.sources.source import Source

__all__ = ["Source", "load"]


def load(source: str, /, **arguments: Any) -> Source:
    """The source of this name, for notebooks and scripts; configs name the function itself as their ``_target_``.

    >>> load("synthetic", items=12).votes
    Votes(12 items, 6 classes, 600 votes)
    """
    known: dict[str, Callable[..., Source]] = {}
    for module in pkgutil.iter_modules(__path__):
        with suppress(InputError):  # a module without such a function is no source
            known[module.name] = named_code("source", f"{__name__}.{module.name}.{module.name}", Source)
    if source not in known:
        raise InputError(f"a source must be one of {', '.join(known)}, got {source!r}")
    return known[source](**arguments)
