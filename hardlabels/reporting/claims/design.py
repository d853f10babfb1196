"""What a study set out to measure, and what its finished runs say: the numbers that claims are tested on, one a seed."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardlabels.delivery.base import FEWEST_VOTES
from hardlabels.metrics import METRICS
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import Records

ACROSS = "~"
"""``sls~soft`` is a pair of runs of one seed, ``sls~sls`` two runs of one method with different seeds."""

PROBED = {
    "hessian/lambda_max": (False, "largest Hessian eigenvalue"),
    "hessian/trace": (False, "Hessian trace"),
    "dynamics/best_epoch": (False, "best epoch"),
    "dynamics/near_best_epoch": (False, "first epoch within 5 % of the best"),
    "gradient_variance/spearman": (True, "Spearman of gradient variance and entropy"),
    "gradient_variance/sampled_ratio": (None, "sampled over exact gradient variance"),
    "barrier/barrier_interpolated_bn": (True, "loss barrier"),
    "barrier/barrier_reestimated_bn": (True, "loss barrier, BN re-estimated"),
    "cka/cka": (True, "linear CKA"),
    "gradcam/correlation": (True, "Grad-CAM correlation"),
    "sparse_target/js_spearman": (True, "Spearman of JS distance and gain"),
    "sparse_target/l1_spearman": (True, "Spearman of L1 distance and gain"),
    "sparse_target/js_spearman_given_entropy": (True, "the same, given annotator entropy"),
}
"""Quantities of the probes: whether higher is what a claim calls better, and a name for people."""


def higher_is_better(name: str) -> bool:
    """The direction in which a quantity is better.

    >>> higher_is_better("soft_nll"), higher_is_better("ood/svhn/energy/auroc")
    (False, True)
    """
    if name.endswith("/auroc"):
        return True
    return bool(METRICS[name].higher_is_better if name in METRICS else PROBED[name][0])


def label_of(name: str) -> str:
    """A quantity's name in sentences.

    >>> label_of("soft_nll"), label_of("ood/svhn/energy/auroc")
    ('soft NLL', 'AUROC of energy, svhn')
    """
    if name.endswith("/auroc"):
        _, outliers, detector, _ = name.split("/")
        return f"AUROC of {detector}, {outliers}"
    return METRICS[name].label if name in METRICS else PROBED[name][1]


@dataclass(frozen=True)
class Design:
    """The part of a study with one data set and one recipe.

    Attributes:
        records: what finished runs say.
        cells: what the study asked for, finished or not.
    """

    records: Records
    cells: tuple[Cell, ...]

    @cached_property
    def seeds(self) -> dict[tuple[str, float], tuple[int, ...]]:
        """(method, K) to the seeds that were asked for; K is infinite where all votes are used."""
        found: dict[tuple[str, float], list[int]] = {}
        for cell in self.cells:
            found.setdefault((cell.method, np.inf if cell.K is None else float(cell.K)), []).append(cell.seed)
        return {key: tuple(sorted(seeds)) for key, seeds in found.items()}

    def budgets(self, votes: str) -> list[float]:
        """The numbers of votes K that ``votes`` means here: ``all`` of them, or each ``few`` at which deliveries can differ."""
        ks = sorted({k for _, k in self.seeds if k >= FEWEST_VOTES})
        return [k for k in ks if np.isinf(k) == (votes == "all")]

    def has(self, subject: str, k: float) -> bool:
        """Whether the study has this method (or both of a pair) at this K."""
        return all((method, k) in self.seeds for method in subject.split(ACROSS))

    def units(self, subject: str, k: float) -> tuple[int, ...]:
        """What is one observation, by design: a seed; for pairs across seeds, the first seed of each pair.

        Pairs across seeds that share a run are not independent. Tests therefore see disjoint pairs only: the first seed with
        the second, the third with the fourth, and so on.
        """
        first, _, second = subject.partition(ACROSS)
        seeds = self.seeds.get((first, k), ())
        if second == first:
            return seeds[0 : len(seeds) - 1 : 2]
        return tuple(seed for seed in seeds if not second or seed in self.seeds.get((second, k), ()))

    def values(self, name: str, subject: str, k: float, part: str) -> dict[int, float]:
        """The measured values of a quantity on a slice, by unit; units without one are left out."""
        first, _, second = subject.partition(ACROSS)
        wanted = self.units(subject, k)
        if not second:
            found = self._runs.get((name, part, first, k), {})
        else:
            seeds = self.seeds.get((first, k), ())
            partner = dict(zip(seeds[::2], seeds[1::2], strict=False)) if first == second else {seed: seed for seed in wanted}
            pairs = self._pairs.get((name, part, k), {})
            found = {unit: pairs.get(((first, unit), (second, partner[unit])), np.nan) for unit in wanted}
        return {unit: found[unit] for unit in wanted if np.isfinite(found.get(unit, np.nan))}

    @cached_property
    def _runs(self) -> dict[tuple[str, str, str, float], dict[int, float]]:
        """(name, slice, method, K) to the value of each seed, at the best checkpoint."""
        rows, cell = self.records.table, self.cells[0]
        rows = rows[(rows["data"] == cell.data) & (rows["recipe"] == cell.recipe) & (rows["checkpoint"] == "best")]
        found: dict[tuple[str, str, str, float], dict[int, float]] = {}
        columns = ("name", "slice", "method", "K", "seed", "value")
        for name, part, method, k, seed, value in zip(*(rows[column].tolist() for column in columns), strict=True):
            found.setdefault((name, part, method, k), {})[seed] = value
        return found

    @cached_property
    def _pairs(self) -> dict[tuple[str, str, float], dict[tuple[tuple[str, int], tuple[str, int]], float]]:
        """(name, slice, K) to the value of each pair of runs, in either order."""
        rows, cell = self.records.pairs, self.cells[0]
        rows = rows[(rows["data"] == cell.data) & (rows["recipe"] == cell.recipe) & (rows["K_a"] == rows["K_b"])]
        found: dict[tuple[str, str, float], dict[tuple[tuple[str, int], tuple[str, int]], float]] = {}
        for row in rows.itertuples(index=False):
            a, b = (row.method_a, row.seed_a), (row.method_b, row.seed_b)
            found.setdefault((f"{row.probe}/{row.name}", row.slice, row.K_a), {}).update({(a, b): row.value, (b, a): row.value})
        return found


def designs(records: Records, cells: Iterable[Cell]) -> dict[tuple[str, str], Design]:
    """A study, taken apart by data set and recipe: claims are judged in each of them."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.data, cell.recipe), []).append(cell)
    return {key: Design(records, tuple(group)) for key, group in groups.items()}
