"""Figures as pictures: drawn once, as SVG and PNG, in the page and as files."""

import base64
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np

from hardlabels.errors import InputError
from hardlabels.runs.writing import write_atomically

if TYPE_CHECKING:  # figures are many modules, and none is needed to draw one
    from matplotlib.figure import Figure as Canvas

    from hardlabels.reporting.figures import Figure

DOTS_PER_INCH = 160
LARGE_SVG = 400_000
"""Bytes above which a page embeds the PNG: a scatter of thousands of points."""


@dataclass(frozen=True)
class Picture:
    """One picture, drawn once.

    Attributes:
        svg: as a file's bytes.
        png: likewise.
        width: in inches.
    """

    svg: bytes
    png: bytes
    width: float

    @property
    def address(self) -> str:
        """The picture as an address for ``<img>``, where no script can run: the SVG, or the PNG where that one is large."""
        kind, content = ("svg+xml", self.svg) if len(self.svg) <= LARGE_SVG else ("png", self.png)
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


@dataclass(frozen=True)
class Drawing:
    """A figure, drawn: its pictures at each checkpoint.

    Attributes:
        figure: what it shows.
        pictures: checkpoint to picture; under ``best`` alone where the figure is about no single network.
    """

    figure: "Figure"
    pictures: dict[str, Picture]


def draw(figure: "Figure") -> Drawing | None:
    """Draw a figure; None where it has nothing to show. Its two pictures have the same limits, so that they compare."""
    makers = {"best": figure.draw, "last": figure.draw_last}
    canvases = {checkpoint: maker() for checkpoint, maker in makers.items() if maker is not None}
    if not canvases:
        return None
    if len(canvases) == 2:
        share_limits(*canvases.values())
    pictures = {checkpoint: _render(canvas, f"figure {figure.number} {checkpoint}") for checkpoint, canvas in canvases.items()}
    return Drawing(replace(figure, draw=None, draw_last=None), pictures)


def share_limits(one: "Canvas", other: "Canvas") -> None:
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


def _render(canvas: "Canvas", salt: str) -> Picture:
    svg, png = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        lay_out(canvas)
        canvas.savefig(svg, format="svg", metadata={"Date": None}, facecolor="white")
        canvas.savefig(png, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None}, facecolor="white")
    return Picture(svg.getvalue(), png.getvalue(), float(canvas.get_figwidth()))


def lay_out(canvas: "Canvas") -> None:
    """Give the panels their places, once and for all.

    A picture that still has a layout engine is drawn twice for each file, the first time for the places alone.
    """
    engine = canvas.get_layout_engine()
    if engine is not None:
        engine.execute(canvas)
        canvas.set_layout_engine(None)


def write_drawing(drawing: Drawing, folder: Path) -> list[Path]:
    """``figure_<number>.svg`` and ``.png``, and ``figure_<number>_last`` of the last epoch."""
    paths = []
    for checkpoint, picture in drawing.pictures.items():
        stem = f"figure_{file_number(drawing.figure.number)}{'_last' if checkpoint == 'last' else ''}"
        for suffix, content in (("svg", picture.svg), ("png", picture.png)):
            paths.append(folder / f"{stem}.{suffix}")
            write_atomically(paths[-1], lambda file, content=content: file.write(content))  # type: ignore[misc]
    return paths


def file_number(number: str) -> str:
    """The number of a table or figure as part of a file's name; refuses what could be more than that."""
    if not number.isalnum():
        raise InputError(f"the number of a table or figure must be letters and digits, got {number!r}")
    return number
