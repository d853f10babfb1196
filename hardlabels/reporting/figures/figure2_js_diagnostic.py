"""Figure 2: sparse targets, js distance."""

from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.improvement import Improvement, draw_improvement, improvement_figure, prepare_improvement
from hardlabels.runs.records import Records

KIND, VIEW = "js", "full"


def prepare_js_diagnostic(records: Records) -> Improvement:
    """See :func:`~hardlabels.reporting.figures.improvement.prepare_improvement`."""
    return prepare_improvement(records, KIND, VIEW)


def draw_js_diagnostic(numbers: Improvement) -> Canvas:
    """See :func:`~hardlabels.reporting.figures.improvement.draw_improvement`."""
    return draw_improvement(numbers)


def js_diagnostic(records: Records) -> Figure:
    """The figure."""
    return improvement_figure(records, "2", "Sparse targets, JS distance", KIND, VIEW)
