"""Where the panels of a picture lie, and what they hold: settled before it is drawn."""

import numpy as np
from matplotlib.figure import Figure as Canvas


def share_limits(one: Canvas, other: Canvas) -> None:
    """Give the panels of two pictures with equally many panels the limits that hold both."""
    if len(one.axes) != len(other.axes):
        return
    for a, b in zip(one.axes, other.axes, strict=True):
        for get, put in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
            first, second = getattr(a, get)(), getattr(b, get)()
            if (first[0] < first[1]) == (second[0] < second[1]) and first != second:
                ends = np.sort([first, second], axis=1)
                low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
                for axis in (a, b):
                    getattr(axis, put)((low, high) if first[0] < first[1] else (high, low))


def lay_out(canvas: Canvas) -> None:
    """Give the panels their places, once and for all.

    A picture that still has a layout engine is drawn twice for each file, the first time for the places alone.
    """
    engine = canvas.get_layout_engine()
    if engine is not None:
        engine.execute(canvas)
        canvas.set_layout_engine(None)
