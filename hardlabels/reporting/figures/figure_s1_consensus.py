"""Figure S1 (figure 1 of the second paper): items from consensus to disagreement."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.examples import Examples, draw_examples, examples_notes, prepare_examples, texts_word
from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.style import styled
from hardlabels.runs.records import Records
from hardlabels.votes import entropy

SHOWN = 6


def spread_over_entropy(p: np.ndarray, q: dict[str, np.ndarray]) -> Sequence[int]:
    """Rows whose entropies are nearest to equal steps from 0 to the largest; each row once.

    >>> spread_over_entropy(np.array([[0.5, 0.5], [1.0, 0.0], [0.9, 0.1]]), {})
    [1, 2, 0]
    """
    undecided = entropy(p)
    nearest = [int(np.abs(undecided - step).argmin()) for step in np.linspace(0, undecided.max(), SHOWN)]
    return list(dict.fromkeys(nearest))


def prepare_consensus(records: Records) -> Examples:
    """Evaluation items of one run, from those all agree on to the most disputed."""
    return prepare_examples(records, (), spread_over_entropy)


@styled
def draw_consensus(numbers: Examples) -> Canvas:
    """Pictures and votes."""
    return draw_examples(numbers, lambda item: f"H = {item.entropy:.2f} nat")


def consensus(records: Records) -> Figure:
    """The figure."""
    numbers = prepare_consensus(records)
    caption = (
        "Items from consensus to disagreement: those whose annotator entropy H is nearest to equal steps from 0 to the largest. "
        f"Bars: shares of the votes.{texts_word(numbers)}"
    )
    notes = examples_notes(records, numbers, ("soft",))
    draw = (lambda: draw_consensus(numbers)) if numbers.items else None
    return Figure("S1", "From consensus to disagreement", caption, notes, draw, timeless="items and votes, no network")
