"""Texts in a picture: wrapped by their measured width, cut legibly, and with nothing that the font or the file cannot show."""

from functools import lru_cache
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

SIZE = 7.5
PARTS = (4, 3)
"""Lines of a premise and of its hypothesis at most; a text alone has both."""

SPACING = 1.25
INKS = ("black", "#00507d")
UNKNOWN = "□"


def show_text(axis: Axes, parts: tuple[str, ...], width: float) -> None:
    """Write the parts of a text from the top of an axis, one below the other.

    Args:
        axis: hidden but for the text.
        parts: a text, or a premise and its hypothesis.
        width: of the axis, in inches.
    """
    axis.axis("off")
    lines = PARTS if len(parts) > 1 else (sum(PARTS),)
    texts = [fit(part, 72 * width, most) for part, most in zip(parts, lines, strict=True)]
    down = 0.0
    for text, ink in zip(texts, INKS, strict=False):
        # parse_math: a dollar sign in somebody's text starts no formula. Not in the layout: texts must fit, and move nothing.
        axis.annotate(
            text, (0, 1), (0, -down), xycoords="axes fraction", textcoords="offset points", fontsize=SIZE, color=ink, va="top",
            linespacing=SPACING, parse_math=False, annotation_clip=False, in_layout=False,
        )  # fmt: skip
        down += SPACING * SIZE * (text.count("\n") + 1) + 4


def fit(text: str, width: float, lines: int) -> str:
    """The text on at most so many lines of this width in points; the rest is an ellipsis.

    >>> print(fit("a premise that goes on and on and on", 60, 2))
    a premise that
    goes on and …
    """
    shown = clean(text)
    found = [shown]
    for letters in range(max(10, int(width / 2)), 9, -2):  # no letter but i and l is narrower than 2 points
        found = wrap(shown, letters, max_lines=lines, placeholder=" …") or [""]
        if max(map(_width, found)) <= width:
            break
    return "\n".join(found)


def clean(text: str) -> str:
    r"""One line of what the font has a sign for; another letter is a box.

    >>> clean(" so\n far \U0010fffd")
    'so far □'
    """
    known = _font().get_char_index
    letters = " ".join(text.split())
    return "".join(letter if letter.isprintable() and known(ord(letter)) else UNKNOWN for letter in letters)


def cut(name: str, letters: int = 18) -> str:
    """A name of a class, cut where it is long.

    >>> cut("contradiction"), cut("neither agree nor disagree")
    ('contradiction', 'neither agree nor…')
    """
    return name if len(name) <= letters else name[: letters - 1].rstrip() + "…"


def _width(line: str) -> float:
    """In points: the sum of the letters' advances. Laying out each candidate line would be most of the time of such a page."""
    return sum(map(_advance, line))


@lru_cache(maxsize=4096)
def _advance(letter: str) -> float:
    return float(_font().load_char(ord(letter)).horiAdvance / 64 / 10)


@lru_cache(maxsize=1)
def _font() -> FT2Font:
    font = FT2Font(findfont(FontProperties()))  # our own: drawing sets the size of matplotlib's
    font.set_size(SIZE, 720)  # ten times the size: whole pixels of small letters would not add up
    return font
