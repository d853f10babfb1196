"""The runs of a comparison as numbers: every score of every seed, and the soft NLL of every item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

from hardlabels.errors import InputError
from hardlabels.metrics.scores import item_nll
from hardlabels.metrics.temperature import soft_nll_after_temperature
from hardlabels.runs.finished import FinishedRun

METRICS = ("soft_nll", "kl_to_annotator", "hard_acc", "ent_corr", "ece_eqmass", "smooth_ece")
PRIMARY = "soft_nll"


@dataclass(frozen=True)
class SeedRun:
    """One trained run: what is needed of it, so that its files are read once.

    Attributes:
        path: its folder.
        seed: of the run.
        scores: metric to value at the best checkpoint, on all evaluation items.
        prior: likewise, of the class shares of the training votes.
        epoch: of the best checkpoint, from 0; and the last one.
        predictions: as ``predictions.npz`` has them.
    """

    path: Path
    seed: int
    scores: dict[str, float]
    prior: dict[str, float]
    epoch: tuple[int, int]
    predictions: dict[str, np.ndarray]

    @cached_property
    def item_nll(self) -> np.ndarray:
        r"""(n,) :math:`-\sum_c p_c \log q_c` of each evaluation item."""
        return item_nll(log_softmax(self.predictions["logits"].astype(np.float64), axis=1), self.predictions["p"])

    @property
    def after_temperature(self) -> float:
        """The soft NLL with one temperature that was fitted on the items that selected the checkpoint; NaN without such items."""
        found = self.predictions
        if "select_logits" not in found:
            return float("nan")
        return soft_nll_after_temperature(found["logits"], found["p"], found["select_logits"], found["select_p"])


@dataclass(frozen=True)
class Measured:
    """The runs of one method, by seed."""

    method: str
    runs: tuple[SeedRun, ...]

    def values(self, metric: str) -> dict[int, float]:
        """Seed to value."""
        return {run.seed: run.scores.get(metric, float("nan")) for run in self.runs}

    def mean(self, metric: str) -> float:
        """Over seeds; NaN where no seed has it (the entropy correlation of unanimous items)."""
        found = [value for value in self.values(metric).values() if np.isfinite(value)]
        return float(np.mean(found)) if found else float("nan")

    def sd(self, metric: str) -> float:
        """The sample standard deviation over seeds; NaN for one seed."""
        found = [value for value in self.values(metric).values() if np.isfinite(value)]
        return float(np.std(found, ddof=1)) if len(found) > 1 else float("nan")


def read_runs(folders: Mapping[str, Sequence[Path]]) -> list[Measured]:
    """The finished runs of every method; refuses what is not finished, or not of the same seeds.

    Args:
        folders: method to the folders of its seeds, in order.
    """
    measured = []
    for method, places in folders.items():
        missing = [str(place) for place in places if not FinishedRun(place).directory.has_result()]
        if missing:
            raise InputError(
                f"{len(missing)} of {len(places)} runs of {method} did not finish, such as {missing[0]}: the same command goes on"
            )
        measured.append(Measured(method, tuple(read_run(place) for place in places)))
    return measured


def read_run(place: Path) -> SeedRun:
    """One finished run's numbers."""
    run = FinishedRun.open(place)
    best = run.result["best"]
    scores = {name: _number(best["full"].get(name)) for name in METRICS}
    prior = {name: _number(run.result.get("prior", {}).get("full", {}).get(name)) for name in METRICS}
    return SeedRun(place, run.cell.seed, scores, prior, (int(best["epoch"]), int(run.result["last"]["epoch"])), run.predictions)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")
