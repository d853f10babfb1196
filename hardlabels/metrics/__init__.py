"""Stage 5, metrics: how well predictions q match what annotators said, p.

Read in this order: ``scores``, ``calibration``, ``brier``, ``agreement`` (the formulas), ``collection`` (the one list of names),
``accumulate`` (the same over batches and processes). Only ``accumulate`` needs torch, so it is not imported here: finished
predictions can be scored with numpy and scipy alone.
"""

from hardlabels.metrics.collection import METRICS, MetricSpec, score

__all__ = ["METRICS", "MetricSpec", "score"]
