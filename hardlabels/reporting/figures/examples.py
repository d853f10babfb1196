"""Single items for people to look at: the picture (or the text), the votes, and what models predict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from scipy.special import softmax, xlogy

from hardlabels.reporting.figures.shown_texts import cut, show_text
from hardlabels.reporting.figures.style import ANNOTATORS, WIDTH, canvas, colour, label, legend_below
from hardlabels.reporting.tables.saved import predictions_of, source_at_hand
from hardlabels.reporting.tables.sheet import Sheet
from hardlabels.runs.cell import Cell
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records
from hardlabels.sources.source import Source
from hardlabels.votes import entropy

METHODS = ("soft", "majority")
TEXT_HEIGHT = 1.1  # inches: eight lines
TEXT_SHARE, TEXT_WIDTH = 0.7, 3.5  # of the picture's width, and in inches, less what the names of classes may take


@dataclass(frozen=True)
class Item:
    """One item.

    Attributes:
        position: in the data set.
        p: (C,) the annotators' distribution.
        entropy: of p, in nats.
        predictions: method to (C,) probabilities.
        picture: (H, W, channels) image, or its text in one or two parts; None where the data are neither, or not on this machine.
    """

    position: int
    p: np.ndarray
    entropy: float
    predictions: dict[str, np.ndarray]
    picture: np.ndarray | tuple[str, ...] | None

    def kl(self, method: str) -> float:
        """KL(p || q) of a method's prediction, in nats."""
        q = self.predictions[method]
        with np.errstate(divide="ignore"):
            return float((xlogy(self.p, self.p) - xlogy(self.p, q)).sum())


@dataclass(frozen=True)
class Examples:
    """Some items of the evaluation split of one seed.

    Attributes:
        items: in the order of the figure.
        classes: C names; numbers where the data are not on this machine.
        cells: the runs whose predictions are shown.
        at_hand: whether the data are on this machine.
    """

    items: list[Item] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    at_hand: bool = True

    @property
    def has_texts(self) -> bool:
        """Whether the items are texts."""
        return any(isinstance(item.picture, tuple) for item in self.items)


Choose = Callable[[np.ndarray, dict[str, np.ndarray]], Sequence[int]]
"""From p (n, C) and method to q (n, C) to the rows to show."""


def prepare_examples(records: Records, methods: Sequence[str], choose: Choose) -> Examples:
    """Chosen evaluation items of the first seed that has all these methods, with the most votes that they share.

    Args:
        records: finished runs.
        methods: whose predictions are needed; none asks for any run.
        choose: which rows of the evaluation split.
    """
    cells, saved = _matched(records, methods)
    if not cells:
        return Examples()
    first = saved[0]
    p = first["p"].astype(np.float64)
    q = {cell.variant: softmax(one["logits"].astype(np.float64), axis=1) for cell, one in zip(cells, saved, strict=True)}
    if not methods:
        cells, q = cells[:1], {}
    source = source_at_hand(FinishedRun(records.folders[cells[0]]))
    names = [str(c) for c in range(p.shape[1])] if source is None else list(source.class_names)
    undecided = entropy(p)
    items = []
    for row in choose(p, q):
        position = int(first["index"][row])
        picture = None if source is None else _picture(source, position)
        items.append(Item(position, p[row], float(undecided[row]), {m: x[row] for m, x in q.items()}, picture))
    return Examples(items, names, cells, source is not None)


def _picture(source: Source, position: int) -> np.ndarray | tuple[str, ...] | None:
    if source.has_texts:
        return tuple(source.inputs[position])
    return source.inputs[position] if source.has_images else None


def draw_examples(numbers: Examples, title: Callable[[Item], str], columns: int = 6) -> Canvas:
    """One column per item: its picture above, the shares of its votes and of each prediction below, class by class.

    Texts need the width: there an item is a row, with its bars beside it.
    """
    if numbers.has_texts:
        return _draw_texts(numbers, title)
    columns = min(columns, len(numbers.items))
    lines = -(-len(numbers.items) // columns)
    classes = len(numbers.classes)
    bars = 0.6 + 0.16 * classes
    pictures = any(item.picture is not None for item in numbers.items)
    ratios = [1.0, bars] * lines if pictures else [bars] * lines
    height = 0.3 + lines * (bars + 0.35 + 1.0 * pictures)
    figure, axes = canvas(len(ratios), columns, height=height, width=1.0 + 1.05 * max(columns, 3), height_ratios=ratios)
    step = 1 + pictures
    for axis in axes.flat:
        axis.set_visible(False)
    for place, item in enumerate(numbers.items):
        row, column = divmod(place, columns)
        top = axes[row * step, column]
        if pictures:
            _show(top, item.picture)
        top.set_title(title(item), fontsize=8)
        _bars(axes[row * step + step - 1, column], item, numbers.classes, names=column == 0)
    legend_below(figure, axes[step - 1, 0])
    return figure


def _draw_texts(numbers: Examples, title: Callable[[Item], str]) -> Canvas:
    height = max(0.35 + 0.16 * len(numbers.classes), TEXT_HEIGHT)
    rows = len(numbers.items)
    shares = [TEXT_SHARE, 1 - TEXT_SHARE]
    figure, axes = canvas(rows, 2, height=0.4 + rows * (height + 0.25), width=WIDTH, width_ratios=shares)
    for (left, right), item in zip(axes, numbers.items, strict=True):
        if isinstance(item.picture, tuple):
            show_text(left, item.picture, TEXT_WIDTH)
        left.set_title(title(item).replace("\n", ", "), fontsize=8, loc="left", fontweight="bold")
        _bars(right, item, numbers.classes, names=True)
    legend_below(figure, axes[0, 1])
    return figure


def examples_notes(records: Records, numbers: Examples, methods: Sequence[str]) -> list[str]:
    """What is missing for such a figure."""
    sheet = Sheet(records, "main", seeds=10)
    for method in methods if not numbers.items else ():
        sheet.entry("soft_nll", method)
    notes = sheet.notes()
    if numbers.items and not numbers.at_hand:
        notes.append("The items and class names are left out: the data are not on this machine (HARDLABELS_DATA).")
    return notes


def texts_word(numbers: Examples) -> str:
    """How texts are shown, for a caption; nothing where the items are no texts."""
    if not numbers.has_texts:
        return ""
    two = any(isinstance(item.picture, tuple) and len(item.picture) > 1 for item in numbers.items)
    return f" Texts are cut where they are long{'; the second part in blue' if two else ''}."


def runs_word(numbers: Examples) -> str:
    """Which runs are shown, for a caption."""
    return ", ".join(map(str, numbers.cells)) or "no runs"


def _matched(records: Records, methods: Sequence[str]) -> tuple[list[Cell], list[dict[str, np.ndarray]]]:
    """Runs of one seed and K that predict the same items, and their predictions; most votes first, then lowest seed.

    Without methods any run that has its predictions will do: those of secondary methods may be published without.
    """
    by_place: dict[tuple[float, int], dict[str, Cell]] = {}
    for cell in records.folders:
        by_place.setdefault((cell.votes, cell.seed), {})[cell.variant] = cell
    for _, found in sorted(by_place.items(), key=lambda entry: (-entry[0][0], entry[0][1])):
        if not set(methods) <= set(found):
            continue
        for names in [methods] if methods else [[name] for name in sorted(found)]:
            runs = [FinishedRun(records.folders[found[name]]) for name in names]
            saved = [one for run in runs if (one := predictions_of(run, records.checkpoint)) is not None]
            if len(saved) == len(names) and all(np.array_equal(one["index"], saved[0]["index"]) for one in saved):
                return [found[name] for name in names], saved
    return [], []


def _show(axis: Axes, picture: np.ndarray | tuple[str, ...] | None) -> None:
    axis.set_visible(True)
    axis.axis("off")
    if isinstance(picture, np.ndarray):
        axis.imshow(np.squeeze(picture), cmap="gray", interpolation="nearest")


def _bars(axis: Axes, item: Item, classes: list[str], *, names: bool) -> None:
    axis.set_visible(True)
    series = {"annotators": (item.p, ANNOTATORS)}
    series |= {label(method): (q, colour(method)) for method, q in item.predictions.items()}
    thick = 0.8 / len(series)
    for place, (name, (share, tint)) in enumerate(series.items()):
        y = np.arange(len(classes)) + (place - (len(series) - 1) / 2) * thick
        axis.barh(y, share, height=thick, color=tint, label=name)
    words = [cut(name) if names else "" for name in classes]
    axis.set_yticks(range(len(classes)), words, fontsize=7.5, parse_math=False)
    axis.set_ylim(len(classes) - 0.5, -0.5)
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 1])
    axis.grid(visible=False)
