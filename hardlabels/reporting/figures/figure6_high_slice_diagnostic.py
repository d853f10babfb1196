"""Figure 6: sparse targets, high-disagreement slice."""

from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.improvement import Improvement, draw_improvement, improvement_figure, prepare_improvement
from hardlabels.runs.records import Records

KIND, VIEW = "js", "high_disagreement"


def prepare_high_slice_diagnostic(records: Records) -> Improvement:
    """See :func:`~hardlabels.reporting.figures.improvement.prepare_improvement`."""
    return prepare_improvement(records, KIND, VIEW)


def draw_high_slice_diagnostic(numbers: Improvement) -> Canvas:
    """See :func:`~hardlabels.reporting.figures.improvement.draw_improvement`."""
    return draw_improvement(numbers)


def high_slice_diagnostic(records: Records) -> Figure:
    """The figure."""
    return improvement_figure(records, "6", "Sparse targets, high-disagreement slice", KIND, VIEW)
