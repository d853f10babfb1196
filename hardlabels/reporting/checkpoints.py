"""Every table and figure at both checkpoints: its function is called for each of them, and what comes out is joined.

The choice of the epoch can decide the sign of a difference, so no number about a trained network stands alone: the selected epoch
comes first and the last one beside it. The function of a table or figure knows one checkpoint, that of its records; the joining
is in ``tables/both.py`` and ``figures/both.py``.
"""

from collections.abc import Mapping
from typing import TypeVar

from hardlabels.runs.records import Records

About = TypeVar("About", Records, Mapping[str, Records])
"""What tables and figures are made of: the records of one data set, or of several by name."""

BOTH = "selected and last epoch"
"""How captions say it."""


def seen_at(about: About, checkpoint: str) -> About:
    """The records, or those of each data set, seen at a checkpoint."""
    if isinstance(about, Records):
        return about.at(checkpoint)
    return {name: records.at(checkpoint) for name, records in about.items()}


def together(selected: list[str], last: list[str]) -> list[str]:
    """The notes of both checkpoints, each once; what the last epoch alone has to say is marked.

    >>> together(["No test.", "Mean 0.5."], ["No test.", "Mean 0.7."])
    ['No test.', 'Mean 0.5.', 'Last epoch: Mean 0.7.']
    """
    return [*selected, *(f"Last epoch: {note}" for note in last if note not in selected)]
