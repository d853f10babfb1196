"""The metrics over batches and processes, as torchmetrics: keep every prediction, compute once at the end.

Nothing is averaged over batches (a mean of batch ECEs or of batch correlations is another quantity), and processes gather their
rows, however unevenly divided. Ours rather than torchmetrics' own, whose calibration error has bins of equal width and whose
Spearman correlation sums ranks in int32.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torchmetrics import Metric, MetricCollection
from torchmetrics.utilities import dim_zero_cat

from hardlabels.metrics.collection import METRICS, as_distributions, log_probabilities, score
from hardlabels.metrics.together import Annotators, score_together


class Rows(Metric):
    """All predictions seen since the last reset, with the annotators' distributions: what every metric here is computed from."""

    full_state_update: bool | None = False
    is_differentiable: bool | None = False
    logits: list[torch.Tensor]
    p: list[torch.Tensor]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_state("logits", default=[], dist_reduce_fx="cat")
        self.add_state("p", default=[], dist_reduce_fx="cat")

    def update(self, logits: torch.Tensor, p: torch.Tensor) -> None:
        """Keep a batch: (B, C) logits and annotator probabilities, best in float64.

        B = 0 is allowed, as a batch may miss a slice, and needed: processes can only gather if each was updated at least once.
        """
        self.logits.append(logits.detach())
        self.p.append(p.detach())

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """All (N, C) logits and p: of this process, or of every process while synchronised. Float64 on the CPU."""
        if not len(self.logits):
            return np.zeros((0, 1)), np.zeros((0, 1))
        logits, p = (dim_zero_cat(state).cpu().double().numpy() for state in (self.logits, self.p))
        return logits, p


class Scores(Metric):
    """Every metric of ``METRICS`` on every slice of one part of a data set: what a run computes after each epoch.

    Predictions are kept once, with the items that they are of. The annotators' side of a slice is prepared at the first epoch and
    serves all others, since a part is predicted in the same order every time.

    Args:
        slices: name to (N,) which items of the data set are in the slice, and (N, C) what they are scored against.

    Attributes:
        names: of the values that ``compute`` gives: ``soft_nll`` of the slice ``full``, ``non_unanimous/soft_nll`` of another.

    >>> p = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> scores = Scores({"full": (np.ones(3, dtype=bool), p), "non_unanimous": (p.max(1) < 1, p)})
    >>> scores.update(torch.zeros(2, 2), torch.tensor([0, 1]))
    >>> values = dict(zip(scores.names, scores.compute().tolist(), strict=True))
    >>> round(values["soft_nll"], 4), values["non_unanimous/hard_acc"]  # ln 2
    (0.6931, 1.0)
    """

    full_state_update: bool | None = False
    is_differentiable: bool | None = False
    logits: list[torch.Tensor]
    items: list[torch.Tensor]

    def __init__(self, slices: Mapping[str, tuple[np.ndarray, np.ndarray]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.names = [name if view == "full" else f"{view}/{name}" for view in slices for name in METRICS]
        # Rounded to float32, as distributions are where they are scored on a device, so that records of earlier versions compare.
        self._slices = {view: (inside, target.astype(np.float32)) for view, (inside, target) in slices.items()}
        self._prepared: tuple[np.ndarray, list[tuple[np.ndarray, Annotators | None]]] | None = None
        self.add_state("logits", default=[], dist_reduce_fx="cat")
        self.add_state("items", default=[], dist_reduce_fx="cat")

    def update(self, logits: torch.Tensor, items: torch.Tensor) -> None:
        """Keep a batch: (B, C) logits, and (B,) the positions of its items in the data set.

        B = 0 is allowed, and needed: processes can only gather if each was updated at least once.
        """
        self.logits.append(logits.detach())
        self.items.append(items)

    def compute(self) -> torch.Tensor:
        """(len(names),) float64 on the CPU; NaN where a slice has no items or a prediction is no distribution."""
        logits, items = dim_zero_cat(self.logits).cpu().double().numpy(), dim_zero_cat(self.items).cpu().numpy()
        log_q = log_probabilities(logits)
        found = []
        for inside, annotators in self._annotators(items):
            rows = log_q[inside]
            if annotators is None or np.isnan(rows).any():
                found += [math.nan] * len(METRICS)
            else:
                found += score_together(rows, annotators).values()
        return torch.tensor(found, dtype=torch.float64)

    def _annotators(self, items: np.ndarray) -> list[tuple[np.ndarray, Annotators | None]]:
        """For each slice which of these items are in it, and what people said about those; None where there are none."""
        if self._prepared is None or not np.array_equal(self._prepared[0], items):
            prepared: list[tuple[np.ndarray, Annotators | None]] = []
            for inside, target in self._slices.values():
                rows = np.flatnonzero(inside[items])
                p = as_distributions(target[items[rows]].astype(np.float64))
                prepared.append((rows, Annotators.of(p) if len(rows) else None))
            self._prepared = items, prepared
        return self._prepared[1]


class PredictionMetric(Rows):
    """A metric of ``METRICS`` over all rows seen since the last reset.

    A subclass only says which: ``class SoftNLL(PredictionMetric, metric="soft_nll")``.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, metric: str, **kwargs: Any) -> None:
        """Take the facts about ``metric`` from the one list."""
        super().__init_subclass__(**kwargs)
        cls.name, cls.higher_is_better = metric, METRICS[metric].higher_is_better

    def compute(self) -> torch.Tensor:
        """The metric as a 0-dimensional float64 tensor on the CPU; NaN when no row was seen."""
        return torch.tensor(score(*self.rows(), [self.name])[self.name], dtype=torch.float64)


class SoftNLL(PredictionMetric, metric="soft_nll"):
    """:func:`~hardlabels.metrics.scores.soft_nll` over all rows."""


class KLToAnnotator(PredictionMetric, metric="kl_to_annotator"):
    """:func:`~hardlabels.metrics.scores.kl_to_annotator` over all rows."""


class SoftBrier(PredictionMetric, metric="soft_brier"):
    """:func:`~hardlabels.metrics.scores.soft_brier` over all rows."""


class HardAccuracy(PredictionMetric, metric="hard_acc"):
    """:func:`~hardlabels.metrics.scores.hard_acc` over all rows."""


class EqualMassECE(PredictionMetric, metric="ece_eqmass"):
    """:func:`~hardlabels.metrics.calibration.ece_eqmass` over all rows."""


class VoteECE(PredictionMetric, metric="ece_votes"):
    """:func:`~hardlabels.metrics.calibration.ece_votes` over all rows."""


class SmoothECE(PredictionMetric, metric="smooth_ece"):
    """:func:`~hardlabels.metrics.calibration.smooth_ece` over all rows."""


class EntropyCorrelation(PredictionMetric, metric="ent_corr"):
    """:func:`~hardlabels.metrics.agreement.ent_corr` over all rows."""


class BrierReliability(PredictionMetric, metric="brier_reliability"):
    """:func:`~hardlabels.metrics.brier.brier_reliability` over all rows."""


class BrierResolution(PredictionMetric, metric="brier_resolution"):
    """:func:`~hardlabels.metrics.brier.brier_resolution` over all rows."""


class BrierUncertainty(PredictionMetric, metric="brier_uncertainty"):
    """:func:`~hardlabels.metrics.brier.brier_uncertainty` over all rows."""


class PredictionMetrics(MetricCollection):
    """All metrics at once, under the names of ``METRICS`` with ``prefix`` in front, sharing one state.

    They are declared to be one compute group, so that from the first batch on the rows are kept once and not for each metric:
    torchmetrics would find the group by itself only after an update of each. Use ``update`` and ``compute``: ``forward`` would
    score every batch.

    >>> metrics = PredictionMetrics("val/")
    >>> metrics.update(torch.zeros(3, 2), torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> round(float(metrics.compute()["val/soft_nll"]), 4)  # ln 2
    0.6931
    """

    def __init__(self, prefix: str = "") -> None:
        members: dict[str, Metric | MetricCollection] = {metric.name: metric() for metric in PredictionMetric.__subclasses__()}
        super().__init__(members, prefix=prefix or None, compute_groups=[list(METRICS)])

    def compute(self) -> dict[str, torch.Tensor]:
        """Name to value, in the order of ``METRICS``: what each member's ``compute`` gives, but gathered and prepared once."""
        leader = cast(PredictionMetric, next(iter(self.values(copy_state=False))))
        with leader.sync_context():
            values = score(*leader.rows())
        return {f"{self.prefix or ''}{name}": torch.tensor(value, dtype=torch.float64) for name, value in values.items()}
