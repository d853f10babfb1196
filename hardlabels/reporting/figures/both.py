"""A figure at both checkpoints."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from hardlabels.reporting.checkpoints import About, seen_at, together
from hardlabels.reporting.figures.figure import Figure


def figure_at_both(maker: Callable[[About], Figure]) -> Callable[[About], Figure]:
    """The function that gives the figure of the selected epoch, with the picture of the last one in ``draw_last``.

    A figure that is about no single network (curves of training; items and votes) has one picture, and its caption says why.
    """

    @wraps(maker)
    def made(about: About) -> Figure:
        selected = maker(seen_at(about, "best"))
        if selected.timeless:
            return replace(selected, caption=f"{selected.caption} One picture for both checkpoints: {selected.timeless}.")
        last = maker(seen_at(about, "last"))
        return replace(selected, draw_last=last.draw, notes=together(selected.notes, last.notes))

    return made
