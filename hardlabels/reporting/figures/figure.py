"""What a figure is: a caption, what is missing, and how to draw the rest."""

from collections.abc import Callable
from dataclasses import dataclass, field

from matplotlib.figure import Figure as Canvas


@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Attributes:
        number: the paper's, "1" .. "12"; "S1" .. for others.
        title: a few words.
        caption: what is shown, of which checkpoint and items, n, and what the bars and bands are.
        notes: what is missing, with the command that fills it, and the paper's numbers.
        draw: makes the picture of the selected epoch; None when there is nothing to draw. Then ``notes`` say what to run.
        draw_last: makes that of the last epoch; None when there is nothing to draw.
        timeless: why there is one picture for both checkpoints, such as a curve over all epochs; empty where there are two.
    """

    number: str
    title: str
    caption: str
    notes: list[str] = field(default_factory=list)
    draw: Callable[[], Canvas] | None = None
    draw_last: Callable[[], Canvas] | None = None
    timeless: str = ""
