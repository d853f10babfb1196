"""The two pictures of a comparison: every run's score beside the references, and reliability."""

import base64
import io

from matplotlib.figure import Figure as Canvas

from hardlabels.comparing.answer import Answer
from hardlabels.comparing.measure import PRIMARY
from hardlabels.reporting.figures.figure3_reliability import draw_reliability, reliability_curve
from hardlabels.reporting.figures.style import canvas, label, places, strip, styled


@styled
def draw_scores(answer: Answer) -> Canvas:
    """The soft NLL of every run, by method; the class shares and the annotators' entropy as lines."""
    figure, axes = canvas(height=3.4)
    axis = axes[0, 0]
    for place, measured in enumerate(answer.methods):
        strip(axis, list(measured.values(PRIMARY).values()), place, measured.method)
    axis.axhline(answer.prior, color="0.4", linestyle="--", linewidth=1)
    axis.axhline(answer.floor, color="0.4", linestyle=":", linewidth=1)
    axis.annotate("class shares", (1.0, answer.prior), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8)
    axis.annotate(
        "annotators' entropy", (1.0, answer.floor), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8
    )
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
