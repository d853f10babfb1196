"""Figures as pictures: the same every time, and safe in a page."""

import xml.etree.ElementTree as ElementTree

from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.drawing import LARGE_SVG, Picture, draw, write_drawing
from hardlabels.reporting.figures import Figure


def picture() -> Canvas:
    figure = Canvas(figsize=(3, 2))
    axis = figure.subplots()
    axis.plot([0, 1], [1, 0], label="<script>alert(1)</script>")
    axis.set_title("a < b & c")
    axis.legend()
    return figure


def test_a_figure_is_drawn_once_the_same_every_time(tmp_path):
    calls = []
    figure = Figure("3", "Lines", "Two points.", draw=lambda: calls.append(1) or picture())
    drawing = draw(figure)
    paths = write_drawing(drawing, tmp_path)
    assert calls == [1]
    assert [path.name for path in paths] == ["figure_3.svg", "figure_3.png"]
    assert paths[0].read_bytes() == drawing.pictures["best"].svg == draw(figure).pictures["best"].svg
    assert paths[1].read_bytes() == drawing.pictures["best"].png == draw(figure).pictures["best"].png
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    root = ElementTree.fromstring(drawing.pictures["best"].svg)  # well formed, though a label has tags
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert draw(Figure("4", "", "")) is None


def test_a_large_picture_is_embedded_as_png():
    assert Picture(b"<svg/>", b"png", 3.0).address.startswith("data:image/svg+xml;base64,")
    assert Picture(b" " * (LARGE_SVG + 1), b"png", 3.0).address == "data:image/png;base64,cG5n"


def test_a_picture_of_each_epoch_has_the_same_limits(tmp_path):
    def lower() -> Canvas:
        figure = picture()
        figure.axes[0].set_ylim(-3, 0.5)
        return figure

    canvases = [picture(), lower()]
    drawing = draw(Figure("3", "", "", draw=lambda: canvases[0], draw_last=lambda: canvases[1]))
    assert [path.name for path in write_drawing(drawing, tmp_path)] == [
        "figure_3.svg", "figure_3.png", "figure_3_last.svg", "figure_3_last.png",
    ]  # fmt: skip
    limits = [canvas.axes[0].get_ylim() for canvas in canvases]
    assert limits[0] == limits[1] == (-3.0, picture().axes[0].get_ylim()[1])
