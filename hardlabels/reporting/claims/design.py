"""What a study set out to measure, and what its finished runs say: the numbers that claims are tested on, one for each seed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np

from hardlabels.delivery.base import FEWEST_VOTES
from hardlabels.reporting.claims.subjects import Across, Pair, Subject, methods_of
from hardlabels.reporting.published import PUBLISHED_DATA, PUBLISHED_RECIPE
from hardlabels.reporting.selection import curves, unselected
from hardlabels.runs.cell import Cell
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import Records
from hardlabels.votes.split import EVALUATE_SHARE, SPLITS

Votes: TypeAlias = Literal["all", "few", "each"]
"""At which K a claim is tested: all votes, each smaller K of the study, or all of these."""

RunKey: TypeAlias = tuple[str, int]
"""Method and seed of a run whose data set, recipe and K are known."""

PAPER_RATIO = EVALUATE_SHARE / (1 - EVALUATE_SHARE)
"""Evaluation items per training item of the protocol ``paper``; what is assumed where no run says which protocol it had."""


@dataclass(frozen=True)
class Design:
    """The part of a study with one data set and one recipe.

    Attributes:
        records: what finished runs say, seen at one checkpoint.
        cells: what the study asked for, finished or not.
    """

    records: Records
    cells: tuple[Cell, ...]

    def at(self, checkpoint: str) -> "Design":
        """The same design with the records of another checkpoint."""
        if checkpoint not in self._views:
            self._views[checkpoint] = replace(self, records=self.records.at(checkpoint))
        return self._views[checkpoint]

    @cached_property
    def _views(self) -> dict[str, "Design"]:
        return {}  # each view indexes thousands of numbers, and every claim asks for it

    @property
    def own_regime(self) -> bool:
        """Whether this is what the first paper trained: its data with its recipe."""
        return (self.cells[0].data, self.cells[0].tagged_recipe) == (PUBLISHED_DATA, PUBLISHED_RECIPE)

    @cached_property
    def ratio(self) -> float:
        """Evaluation items per training item, from the settings of one of its runs: all of them share the recipe."""
        run = self._configured_run
        if run is None:
            return PAPER_RATIO
        recipe = run.cfg.get("recipe") or {}
        counts = run.result.get("items")  # of the slices; records of the first edition lack them, and have predictions
        n_evaluate = counts["full"] if counts else len(run.predictions["index"])
        return split_ratio(recipe.get("split", "paper"), recipe.get("train_items"), n_evaluate)

    @property
    def same_items(self) -> bool:
        """Whether all seeds evaluate the same items, by a split that was given with the data.

        The spread over seeds then has no noise of items in it, and no test over seeds is about other items.
        """
        run = self._configured_run
        return run is not None and bool((run.cfg.get("data") or {}).get("split"))

    @cached_property
    def _configured_run(self) -> FinishedRun | None:
        """The first of its finished runs that has its settings."""
        paths = (self.records.folders.get(cell) for cell in self.cells)
        return next((FinishedRun(path) for path in paths if path is not None and (path / "config.yaml").is_file()), None)

    @cached_property
    def seeds(self) -> dict[tuple[str, float], tuple[int, ...]]:
        """(method, K) to the seeds that were asked for; K is infinite where all votes are used."""
        found: dict[tuple[str, float], list[int]] = {}
        for cell in self.cells:
            found.setdefault((cell.variant, cell.votes), []).append(cell.seed)
        return {key: tuple(sorted(seeds)) for key, seeds in found.items()}

    def budgets(self, votes: Votes) -> list[float]:
        """The numbers of votes K that ``votes`` means here; a single vote is left out, since deliveries cannot differ there."""
        ks = sorted({k for _, k in self.seeds if k >= FEWEST_VOTES})
        return [k for k in ks if votes == "each" or np.isinf(k) == (votes == "all")]

    def has(self, subject: Subject, k: float) -> bool:
        """Whether the study has the runs of this subject at this K."""
        return all((method, k) in self.seeds for method in methods_of(subject))

    def lacking(self, subjects: Iterable[Subject], ks: list[float]) -> list[str]:
        """One name for each subject that is not there at every K: of a pair, the method that is missing."""
        absent = [subject for subject in subjects if not ks or not all(self.has(subject, k) for k in ks)]
        return [
            next((method for method in methods_of(subject) if not all(self.has(method, k) for k in ks)), str(subject))
            for subject in absent
        ]

    def units(self, subject: Subject, k: float) -> tuple[int, ...]:
        """What is one observation, by design: a seed; for pairs across seeds, the first seed of each pair.

        Pairs across seeds that share a run are not independent. Tests therefore see disjoint pairs only: the first seed with
        the second, the third with the fourth, and so on.
        """
        first, *others = (self.seeds.get((method, k), ()) for method in methods_of(subject))
        if isinstance(subject, Across):
            return first[0 : len(first) - 1 : 2]
        return tuple(seed for seed in first if all(seed in other for other in others))

    def values(self, quantity: Quantity, subject: Subject, k: float) -> dict[int, float]:
        """The measured values of a quantity, by unit; units without one are left out."""
        wanted = self.units(subject, k)
        if isinstance(subject, str):
            found = self._runs.get((quantity, subject, k), {})
        else:
            pairs = self._pairs.get((quantity, k), {})
            if isinstance(subject, Pair):
                keys = {unit: ((subject.first, unit), (subject.second, unit)) for unit in wanted}
            else:
                seeds = self.seeds.get((subject.method, k), ())
                two = zip(seeds[::2], seeds[1::2], strict=False)
                keys = {a: ((subject.method, a), (subject.method, b)) for a, b in two}
            found = {unit: pairs[key] for unit, key in keys.items() if key in pairs}
        return {unit: found[unit] for unit in wanted if np.isfinite(found.get(unit, np.nan))}

    def curves(self, method: str, k: float, column: str = "evaluate/soft_nll") -> dict[int, list[float]]:
        """The values of ``history.csv`` by epoch, for each finished seed whose values are all finite."""
        found = {}
        for seed in self.seeds.get((method, k), ()):
            path = self.records.folders.get(Cell.read(self.cells[0].data, self.cells[0].tagged_recipe, method, k, seed))
            values = np.zeros(0) if path is None else curves(path).get(column, np.zeros(0))
            if len(values) and np.isfinite(values).all():
                found[seed] = values.tolist()
        return found

    def unselected(self, quantity: Quantity, subject: Subject, k: float) -> dict[int, float]:
        """The values of a metric by seed at the epochs that the other seeds choose; empty where that says nothing.

        That is where no metric of a run is meant, and where the epoch was not selected on the scored items.
        """
        if not isinstance(subject, str) or quantity.probe:
            return {}
        return unselected(self.records, subject, k, quantity.name, quantity.slice)

    def floor(self, k: float) -> tuple[float, float] | None:
        """Mean soft NLL of soft labels at this K, and of the class shares on the same items (``prior``); None without both."""
        soft = self.values(Quantity("soft_nll"), "soft", k)
        prior = self.values(Quantity("soft_nll", "prior"), "soft", k)
        common = [seed for seed in soft if seed in prior]
        if not common:
            return None
        return float(np.mean([soft[seed] for seed in common])), float(np.mean([prior[seed] for seed in common]))

    @cached_property
    def _runs(self) -> dict[tuple[Quantity, str, float], dict[int, float]]:
        """(quantity, method, K) to the value of each seed."""
        table, cell = self.records.table, self.cells[0]
        mine = (table["data"] == cell.data) & (table["recipe"] == cell.tagged_recipe)
        records = self.records if mine.all() else replace(self.records, table=table[mine])
        quantity = lru_cache(maxsize=None)(Quantity.from_column)  # a hundred of them, in many thousand cells
        return {(quantity(name, part), method, k): dict(rows) for (name, part, method, k), rows in records.by_cell.items()}

    @cached_property
    def _pairs(self) -> dict[tuple[Quantity, float], dict[tuple[RunKey, RunKey], float]]:
        """(quantity, K) to the value of each pair of runs, in either order."""
        rows, cell = self.records.seen_pairs, self.cells[0]
        rows = rows[(rows["data"] == cell.data) & (rows["recipe"] == cell.tagged_recipe) & (rows["K_a"] == rows["K_b"])]
        found: dict[tuple[Quantity, float], dict[tuple[RunKey, RunKey], float]] = {}
        for row in rows.itertuples(index=False):
            a, b = (row.method_a, row.seed_a), (row.method_b, row.seed_b)
            key = Quantity(row.name, row.probe, row.slice), row.K_a
            found.setdefault(key, {}).update({(a, b): row.value, (b, a): row.value})
        return found


def split_ratio(protocol: str, train_items: int | None, n_evaluate: int) -> float:
    """Evaluation items per training item.

    Args:
        protocol: a key of ``SPLITS``.
        train_items: the most training items that are used; None for all.
        n_evaluate: how many items evaluate.

    >>> split_ratio("paper", None, 2000), split_ratio("paper", 1000, 2000), round(split_ratio("three_way", None, 2000), 6)
    (0.25, 2.0, 0.285714)
    """
    train = n_evaluate * (1 - EVALUATE_SHARE - SPLITS[protocol]) / EVALUATE_SHARE
    return n_evaluate / (train if train_items is None else min(train, train_items))


def designs(records: Records, cells: Iterable[Cell]) -> dict[tuple[str, str], Design]:
    """A study, taken apart by data set and recipe: claims are judged in each of them."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.data, cell.tagged_recipe), []).append(cell)
    return {key: Design(records, tuple(group)) for key, group in groups.items()}
