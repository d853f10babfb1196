"""Figure 5: sparse targets, l1 error."""

from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.figures.figure import Figure
from hardlabels.reporting.figures.improvement import Improvement, draw_improvement, improvement_figure, prepare_improvement
from hardlabels.runs.records import Records

KIND, VIEW = "l1", "full"


def prepare_l1_diagnostic(records: Records) -> Improvement:
    """See :func:`~hardlabels.reporting.figures.improvement.prepare_improvement`."""
    return prepare_improvement(records, KIND, VIEW)


def draw_l1_diagnostic(numbers: Improvement) -> Canvas:
    """See :func:`~hardlabels.reporting.figures.improvement.draw_improvement`."""
    return draw_improvement(numbers)


def l1_diagnostic(records: Records) -> Figure:
    """The figure."""
    return improvement_figure(records, "5", "Sparse targets, L1 error", KIND, VIEW)
