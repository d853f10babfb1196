"""Figure S2 (figure 2 of the second paper): the same answer, another certainty."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas
from scipy.special import xlogy

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
from hardlabels.reporting.published import published
from hardlabels.runs.records import Records

QUANTILES = (0.1, 0.5, 0.9)


def by_gap(p: np.ndarray, q: dict[str, np.ndarray]) -> Sequence[int]:
    """Rows at three quantiles of KL(p || majority's) - KL(p || soft's), among those where both predict the annotators' majority.

    Quantiles, so that nobody picks the items: at 0.1 soft labels may well be the worse.

    >>> p, sure = np.array([[0.6, 0.4]] * 3), np.array([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]])
    >>> by_gap(p, {"soft": p, "majority": sure})
    [2, 1, 0]
    """
    agree = np.all([x.argmax(1) == p.argmax(1) for x in q.values()], axis=0)
    rows = np.flatnonzero(agree & (p.max(1) < 1))
    if not len(rows):
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = (xlogy(p, q["soft"]) - xlogy(p, q["majority"])).sum(1)[rows]
    order = rows[np.argsort(np.nan_to_num(gap), kind="stable")]
    return list(dict.fromkeys(int(order[round(level * (len(order) - 1))]) for level in QUANTILES))


def prepare_paired_predictions(records: Records) -> Examples:
    """Three items of one seed with the predictions of soft and of majority labels."""
    return prepare_examples(records, METHODS, by_gap)


@styled
def draw_paired_predictions(numbers: Examples) -> Canvas:
    """Pictures, votes, both predictions; KL of both above."""
    return draw_examples(numbers, lambda item: f"KL: soft {item.kl('soft'):.2f}\nmajority {item.kl('majority'):.2f}")


def paired_predictions(records: Records) -> Figure:
    """The figure."""
    numbers, paper = prepare_paired_predictions(records), published()["singh_soft_label"]["example_pair_kl"]
    caption = (
        "Items that both models put in the annotators' majority class, at the 10th, 50th and 90th percentile of KL(majority) - "
        f"KL(soft), among disputed evaluation items. {BOTH.capitalize()} of {runs_word(numbers)}.{texts_word(numbers)}"
    )
    notes = [
        f"Published, one example: KL {paper['soft']} (soft), {paper['hard']} (hard).",
        *examples_notes(records, numbers, METHODS),
    ]
    draw = (lambda: draw_paired_predictions(numbers)) if numbers.items else None
    return Figure("S2", "Same answer, another certainty", caption, notes, draw)
