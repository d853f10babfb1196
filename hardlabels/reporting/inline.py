"""Small pictures inside the page, as SVG that takes the page's own colours: they follow its light and dark mode.

Names of methods are escaped by ``Markup.format``; everything else is numbers.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from hardlabels.reporting.answer import Point
from hardlabels.reporting.claims.claim import Row
from hardlabels.reporting.claims.status import EPOCHS
from hardlabels.reporting.figures.style import colour, label
from hardlabels.runs.spelling import read_method, write_votes

WIDTH, HEIGHT = 480, 270  # narrow, so that letters stay legible on a phone
LEFT, RIGHT, TOP, BOTTOM = 56, 152, 14, 44
STRIP, STRIP_WIDTH, STRIP_LABEL = 42, 330, 15
"""Height and width of a strip, and the height of the words above it. It is as wide as a phone: the words stay readable there."""

MOST_STRIPS = 6
LANES = (-3.2, 0.0, 3.2)
"""Heights of the dots of a strip, in turn: equal differences stay visible beside each other."""


def ink(method: str) -> str:
    """A method's colour; the dark one of majority labels is the page's own ink, which is light where the page is dark."""
    return "var(--ink)" if read_method(method).name == "majority" else colour(method)


@dataclass(frozen=True)
class Frame:
    """Where numbers lie in the headline figure.

    Attributes:
        ks: the numbers of votes, in order.
        methods: in the order in which they stand beside each other.
        low: the value at the lower edge.
        high: the value at the upper edge.
    """

    ks: tuple[float, ...]
    methods: tuple[str, ...]
    low: float
    high: float

    @classmethod
    def around(cls, points: Sequence[Point]) -> "Frame":
        """A frame that all points and their intervals fit into."""
        low, high = min(point.low for point in points), max(point.high for point in points)
        room = 0.05 * ((high - low) or 1.0)
        ks = tuple(sorted({point.K for point in points}))
        return cls(ks, tuple(dict.fromkeys(point.method for point in points)), low - room, high + room)

    def x(self, k: float, method: str | None = None) -> float:
        """The middle of a number of votes, or a method's place beside it."""
        step = (WIDTH - LEFT - RIGHT) / len(self.ks)
        beside = 0.0 if method is None else 5 * (self.methods.index(method) - (len(self.methods) - 1) / 2)
        return LEFT + step * (self.ks.index(k) + 0.5) + beside

    def y(self, value: float) -> float:
        """The height of a value."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


def headlines(points: Mapping[str, Sequence[Point]]) -> Markup:
    """Soft NLL against votes per item, a picture per checkpoint: both have the same limits, so that they compare."""
    every = [point for found in points.values() for point in found]
    if not every:
        return Markup("")
    frame = Frame.around(every)
    pictures = [_headline(found, frame, EPOCHS[checkpoint]) for checkpoint, found in points.items()]
    return Markup('<div class="charts">{}</div>').format(Markup("").join(pictures))


def _headline(points: Sequence[Point], frame: Frame, epoch: str) -> Markup:
    """A line per method, with its interval over seeds."""
    digits = max(0, 1 - math.floor(math.log10(frame.high - frame.low)))
    parts = []
    for tick in ticks(frame.low, frame.high):
        parts.append(_line(LEFT, frame.y(tick), WIDTH - RIGHT, frame.y(tick), "grid"))
        parts.append(_text(LEFT - 8, frame.y(tick) + 4, f"{tick:.{digits}f}", "end"))
    parts += [_text(frame.x(k), HEIGHT - BOTTOM + 18, write_votes(k), "middle") for k in frame.ks]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "votes per item in training", "middle"))
    upright = '<text transform="translate(12 {:.1f}) rotate(-90)" text-anchor="middle">soft NLL (nat)</text>'
    parts.append(Markup(upright).format((TOP + HEIGHT - BOTTOM) / 2))
    parts += [_curve(frame, [point for point in points if point.method == method]) for method in frame.methods]
    last = {point.method: frame.y(point.mean) for point in points}
    order = sorted(last, key=lambda method: last[method])
    for place, method in zip(_apart([last[method] for method in order], 15, HEIGHT - BOTTOM), order, strict=True):
        parts.append(_text(WIDTH - RIGHT + 8, place + 4, _cut(label(method), 22), "start", ink(method)))
    about = f"Soft NLL at the {epoch} by votes per item and method, with 95 % intervals over seeds; lower is better."
    picture = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, about, Markup("").join(parts)
    )
    return Markup("<div><p>{}</p>{}</div>").format(epoch.capitalize(), picture)


def _curve(frame: Frame, points: Sequence[Point]) -> Markup:
    """One method: a line through its means, a whisker and a dot for each."""
    shade = ink(points[0].method)
    places = [(frame.x(point.K, point.method), point) for point in points]
    path = " ".join(f"{x:.1f},{frame.y(point.mean):.1f}" for x, point in places)
    parts = [Markup('<polyline points="{}" style="stroke:{}" class="curve"/>').format(path, shade)]
    for x, point in places:
        words = f"{label(point.method)}, {write_votes(point.K)} votes: {point.mean:.4f}, {point.n} seeds"
        whisker = Markup('<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" style="stroke:{3}" class="whisker"/>')
        dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="4" style="fill:{}"><title>{}</title></circle>')
        parts += [whisker.format(x, frame.y(point.low), frame.y(point.high), shade)]
        parts += [dot.format(x, frame.y(point.mean), shade, words)]
    return Markup("").join(parts)


def strips(rows: Iterable[Row]) -> Markup:
    """Paired differences, a dot per seed and a strip per comparison: the margin as a band, zero as a line, the mean as a bar."""
    shown = [row for row in rows if row.differences][:MOST_STRIPS]
    if not shown:
        return Markup("")
    about = "Differences by seed: " + "; ".join(f"{row.label}, {row.agreeing} of {row.n} as claimed" for row in shown)
    parts = [_strip(row, STRIP * place) for place, row in enumerate(shown)]
    return Markup('<svg class="strips" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        STRIP_WIDTH, STRIP * len(shown), about, Markup("").join(parts)
    )


def _strip(row: Row, top: float) -> Markup:
    middle = top + STRIP_LABEL + 11
    reach = 1.08 * max(*(abs(d) for d in row.differences), row.margin or 0.0, 1e-12)

    def x(value: float) -> float:
        return STRIP_WIDTH / 2 * (1 + value / reach)

    parts = []
    if row.margin is not None:
        band = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="16" class="margin"/>')
        parts.append(band.format(x(-row.margin), middle - 8, x(row.margin) - x(-row.margin)))
    parts.append(_line(x(0), middle - 9, x(0), middle + 9, "zero"))
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.6"/>')
    parts += [dot.format(x(d), middle + LANES[n % len(LANES)]) for n, d in enumerate(row.differences)]
    mean = sum(row.differences) / len(row.differences)
    parts.append(_line(x(mean), middle - 8, x(mean), middle + 8, "mean"))
    return Markup("").join([*parts, _text(0, top + STRIP_LABEL - 4, _cut(row.label, 48), "start")])


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two bounds, at most so many.

    >>> [round(tick, 3) for tick in ticks(0.81, 0.99)]
    [0.85, 0.9, 0.95]
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [step * number for number in range(first, math.floor(high / step) + 1)]


def _cut(words: str, most: int) -> str:
    """At most so many letters: the beginning and the end, which tell names apart.

    >>> _cut("deterministic", 8)
    'dete…tic'
    """
    return words if len(words) <= most else f"{words[: most // 2]}…{words[len(words) - (most - most // 2 - 1) :]}"


def _apart(wanted: list[float], gap: float, most: float) -> list[float]:
    """Places of labels, in order, at least a gap from each other; those that would lie too low push up only who is in their way.

    >>> _apart([10.0, 11.0, 40.0], 5, 100)
    [10.0, 15.0, 40.0]
    >>> _apart([10.0, 98.0, 99.0], 5.0, 100.0)
    [10.0, 95.0, 100.0]
    """
    found: list[float] = []
    for place in wanted:
        found.append(max(place, found[-1] + gap) if found else place)
    for number in reversed(range(len(found))):
        found[number] = min(found[number], most)
        most = found[number] - gap
    return found


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>').format(x1, y1, x2, y2, kind)


def _text(x: float, y: float, words: str, anchor: str, fill: str = "") -> Markup:
    style = Markup(' style="fill:{}"').format(fill) if fill else Markup("")
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>').format(x, y, anchor, style, words)
