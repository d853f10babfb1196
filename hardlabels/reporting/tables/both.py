"""A table at both checkpoints."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from hardlabels.reporting.checkpoints import About, seen_at, together
from hardlabels.reporting.tables.references import REFERENCES
from hardlabels.reporting.tables.table import Table

AT_THE_SELECTED_EPOCH: dict[str, Any] = dict.fromkeys(("published", "published_sd", "published_p"))
"""What stands beside the selected epoch only: the paper's numbers are of its best checkpoints."""


def table_at_both(maker: Callable[[About], Table]) -> Callable[[About], Table]:
    """The function that gives the table of the selected epoch, with its cells at the last one in ``last``.

    What is about no network (``prior``, ``oracle``) stands once.
    """

    @wraps(maker)
    def made(about: About) -> Table:
        selected, last = (maker(seen_at(about, checkpoint)) for checkpoint in ("best", "last"))
        cells = {
            (row, column): replace(entry, **AT_THE_SELECTED_EPOCH)
            for (row, column), entry in last.cells.items()
            if not {row, column} & set(REFERENCES) and entry.mean is not None
        }
        return replace(selected, last=cells, notes=together(selected.notes, last.notes))

    return made
