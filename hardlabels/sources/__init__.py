"""Stage 2, sources: items and their votes as one object.

A source is a module of this package that has a function of its own name, such as ``synthetic.synthetic``; it returns a
:class:`Source`. A new one touches two files: its module and its yaml in ``conf/data``. There is no list to edit.
"""

import pkgutil
from importlib import import_module
from typing import Any

from hardlabels.errors import InputError
from hardlabels.sources.source import Source

__all__ = ["Source", "load"]


def load(source: str, /, **arguments: Any) -> Source:
    """The source of this name, for notebooks and scripts; configs name the function itself as their ``_target_``.

    >>> load("synthetic", items=12).votes
    Votes(12 items, 6 classes, 600 votes)
    """
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    makers = {module: getattr(import_module(f"{__name__}.{module}"), module, None) for module in modules}
    known = sorted(module for module, make in makers.items() if callable(make))
    if source not in known:
        raise InputError(f"a source must be one of {', '.join(known)}, got {source!r}")
    return makers[source](**arguments)  # type: ignore[misc]  # callable: checked two lines above
