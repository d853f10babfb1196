"""What captions, headings and cells of tables say, in the same words everywhere."""

from hardlabels.reporting.claims.quantities import better_direction, label_of
from hardlabels.reporting.tables.table import Cells
from hardlabels.runs.quantity import Quantity

TWO_CALIBRATIONS = (
    "ECE (equal mass) is the paper's, against the majority label: the annotators' own distribution has a large one. ECE against "
    "votes holds confidence against the share of votes for the predicted class: there the annotators' own distribution has 0."
)
"""Beside every table that has both."""

TEMPERED = (
    "After one temperature: all logits divided by the T that is best on the selection items, or, without such items, on the "
    "other half of the evaluation items; what is left of a difference is no matter of their scale."
)
"""In the caption of every table that has soft NLL or KL after one temperature."""

ARROWS = {True: " ↑", False: " ↓", None: ""}


def heading(metric: str) -> str:
    """A metric's column: its label and the better direction.

    >>> heading("soft_nll"), heading("soft_nll_t")
    ('soft NLL ↓', 'soft NLL after one temperature ↓')
    """
    quantity = Quantity(metric)
    return label_of(quantity) + ARROWS[better_direction(quantity)]


def over_seeds(cells: Cells) -> str:
    """What the numbers of the cells are, and of how many seeds, for a caption.

    >>> from hardlabels.reporting.tables.table import Entry
    >>> over_seeds({("a", "x"): Entry(1.0, n=5), ("b", "x"): Entry(1.0, n=3)}), over_seeds({("a", "x"): Entry(text="missing")})
    ('mean ± SD over n = 3 to 5 seeds', 'mean ± SD over n = 0 seeds')
    """
    counts = sorted({entry.n for entry in cells.values() if entry.mean is not None}) or [0]
    return (
        f"mean ± SD over n = {counts[0]} seeds" if len(counts) == 1 else f"mean ± SD over n = {counts[0]} to {counts[-1]} seeds"
    )
