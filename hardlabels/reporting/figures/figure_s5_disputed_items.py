"""Figure S5 (figure 5 of the second paper): what both models make of disputed items."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.checkpoints import BOTH
from hardlabels.reporting.figures.examples import (
    METHODS,
    Examples,
    draw_examples,
    examples_notes,
    prepare_examples,
    runs_word,
    texts_word,
)
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import styled
from hardlabels.runs.records import Records
from hardlabels.votes import entropy

SHOWN = 6
TOP = 0.1


def most_disputed(p: np.ndarray, q: dict[str, np.ndarray]) -> Sequence[int]:
    """Six rows at equal steps through the tenth of highest entropy, the most disputed first; never a unanimous one.

    >>> most_disputed(np.array([[0.5, 0.5], [1.0, 0.0], [0.9, 0.1]]), {})
    [0]
    """
    undecided = entropy(p)
    order = np.argsort(-undecided, kind="stable")[: max(1, round(TOP * len(p)))]
    order = order[undecided[order] > 0]
    if not len(order):
        return []
    return order[np.unique(np.linspace(0, len(order) - 1, min(SHOWN, len(order))).round().astype(int))].tolist()


def prepare_disputed_items(records: Records) -> Examples:
    """Disputed evaluation items of one seed with the predictions of soft and of majority labels."""
    return prepare_examples(records, METHODS, most_disputed)


@styled
def draw_disputed_items(numbers: Examples) -> Canvas:
    """Pictures, votes, both predictions."""
    return draw_examples(numbers, lambda item: f"H = {item.entropy:.2f} nat")


def disputed_items(records: Records) -> Figure:
    """The figure."""
    numbers = prepare_disputed_items(records)
    caption = (
        "Six items at equal steps through the tenth of evaluation items with the highest annotator entropy H: shares of the "
        f"votes and both predictions. {BOTH.capitalize()} of {runs_word(numbers)}. Chosen by rule, not by eye."
        f"{texts_word(numbers)}"
    )
    notes = examples_notes(records, numbers, METHODS)
    return Figure("S5", "Disputed items", caption, notes, (lambda: draw_disputed_items(numbers)) if numbers.items else None)
