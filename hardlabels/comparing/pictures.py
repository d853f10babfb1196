"""The two pictures of a comparison: every run's score beside the references, and reliability."""

import base64
import io
from collections.abc import Sequence

from matplotlib.figure import Figure as Canvas

from hardlabels.comparing.answer import Answer
from hardlabels.comparing.measure import PRIMARY
from hardlabels.reporting.figures.figure3_reliability import draw_reliability, reliability_curve
from hardlabels.reporting.figures.style import canvas, label, places, strip, styled
from hardlabels.reporting.limit import ENTROPY, REACHABLE, few_votes_matter

FAR = 3.0
"""A reference that is farther from the runs than this many times their own spread is named at the edge, not drawn: it would
squeeze them into one line."""


def is_near(reference: float, scores: Sequence[float]) -> bool:
    """Whether a line at the reference leaves the runs apart.

    >>> is_near(1.1, [0.9, 1.0]), is_near(2.3, [0.43, 0.47])
    (True, False)
    """
    low, high = min(scores), max(scores)
    return max(low - reference, reference - high) <= FAR * (high - low)


@styled
def draw_scores(answer: Answer) -> Canvas:
    """The soft NLL of every run, by method; the class shares and what can be reached as lines, or named where far away."""
    figure, axes = canvas(height=3.4)
    axis = axes[0, 0]
    for place, measured in enumerate(answer.methods):
        strip(axis, list(measured.values(PRIMARY).values()), place, measured.method)
    scores = [value for measured in answer.methods for value in measured.values(PRIMARY).values()]
    references = [("class shares", answer.prior, "--"), (ENTROPY, answer.limit.floor, ":")]
    if answer.limit.reachable is not None and few_votes_matter(answer.limit):
        references[1] = (REACHABLE, answer.limit.reachable, ":")
    for name, value, line in references:
        if is_near(value, scores):
            axis.axhline(value, color="0.4", linestyle=line, linewidth=1)
            axis.annotate(name, (1.0, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8)
        else:
            above = value > max(scores)
            text = f"{name}: {value:.3f}, {'above' if above else 'below'} this picture"
            corner, side = ((1.0, 1.0), "top") if above else ((1.0, 0.0), "bottom")
            axis.annotate(text, corner, xycoords="axes fraction", ha="right", va=side, fontsize=8)
    places(axis, [label(measured.method) for measured in answer.methods])
    axis.set_ylabel("soft NLL (nat), lower is better")
    return figure


def draw_calibration(answer: Answer) -> Canvas:
    """Accuracy given confidence, of every method."""
    return draw_reliability([reliability_curve(m.method, [run.predictions for run in m.runs]) for m in answer.methods])


def as_address(figure: Canvas) -> str:
    """A picture as a PNG in the address of an ``<img>``."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=140)
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
