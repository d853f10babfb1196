"""Stage 5, metrics: how well predictions q match what annotators said, p.

Read in this order: ``scores``, ``calibration``, ``brier``, ``agreement``, ``scale`` (the formulas), ``collection`` (the one list
of names), ``temperature`` (soft NLL without the scale of logits), ``baselines`` (what needs no network), ``bootstrap`` (how far
scores would move), ``accumulate`` (the same over batches and processes). Only ``accumulate`` needs torch, so it is not imported
here: finished predictions can be scored with numpy and scipy alone.
"""

from hardlabels.metrics.collection import METRICS, SCALE_METRICS, MetricSpec, metric_names, score

__all__ = ["METRICS", "SCALE_METRICS", "MetricSpec", "metric_names", "score"]
