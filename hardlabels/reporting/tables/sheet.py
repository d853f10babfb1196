"""From records to the entries of a table: what was measured, what was tested, and a note for all that is missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.reporting.published import PUBLISHED_DATA, PUBLISHED_RECIPE
from hardlabels.reporting.selection import unselected
from hardlabels.reporting.tables.table import MISSING, Entry
from hardlabels.reporting.tables.target_intervals import NEEDS_DATA, target_intervals
from hardlabels.runs.cell import Cell
from hardlabels.runs.quantity import TIMELESS, Quantity
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, read_method, write_votes
from hardlabels.runs.studies.commands import Commands, which_runs
from hardlabels.statistics.paired import PairedTest, paired_test
from hardlabels.statistics.signed_rank import Alternative
from hardlabels.statistics.summaries import summarise

METHODS = (
    "soft", "sls", "multipass", "deterministic_control", "shuffled_sls", "majority", "label_smoothing", "mixup", "stratified_sls",
)  # fmt: skip
"""The order of methods wherever they are listed."""

HARD_DELIVERY = ("sls", "multipass", "deterministic_control")
"""What the paper's claims about hard delivery are about."""


@dataclass(frozen=True)
class Group:
    """What all runs of a table share.

    Attributes:
        data: the data set.
        recipe: the training settings.
        study: the study that they are of, for commands.
    """

    data: str
    recipe: str
    study: str

    @property
    def published(self) -> bool:
        """Whether the paper's numbers are about this data set."""
        return self.data == PUBLISHED_DATA

    @property
    def own_regime(self) -> bool:
        """Whether this is the paper's own data and recipe. Elsewhere its numbers may stand in tables, not in pictures."""
        return self.published and self.recipe == PUBLISHED_RECIPE


def group_of(records: Records, study: str) -> Group:
    """The data set and recipe of the records; those of the paper where there is nothing at all.

    Args:
        records: of one data set and one recipe.
        study: the study that usually has these runs, where the records do not name one.

    Raises:
        InputError: when several data sets or recipes are there: their seeds are no pairs.
    """
    found = {(cell.data, cell.tagged_recipe) for cell in (*records.folders, *records.missing, *_unfinished(records))}
    found |= set(records.table[["data", "recipe"]].drop_duplicates().itertuples(index=False, name=None))
    if len(found) > 1:
        names = ", ".join("/".join(one) for one in sorted(found))
        raise InputError(f"a table is about one data set and one recipe, got {names}: choose one of each")
    data, recipe = next(iter(found), (PUBLISHED_DATA, "paper"))
    named = [name for name in records.table["study"].unique() if name]
    return Group(data, recipe, named[0] if len(named) == 1 else study)


def method_key(method: str) -> tuple[int, str, float, str]:
    """Sorts methods as ``METHODS``, then their variants by number, then others by name.

    >>> sorted(["mixup", "sls,hold=10", "other", "sls,hold=5", "sls", "soft"], key=method_key)
    ['soft', 'sls', 'sls,hold=5', 'sls,hold=10', 'mixup', 'other']
    """
    name, settings = read_method(method)
    place = METHODS.index(name) if name in METHODS else len(METHODS)
    values = [value for _, value in settings]
    number = values[0] if len(values) == 1 and isinstance(values[0], (int, float)) else 0.0 if values else -1.0
    return place, name, float(number), method


def methods_in(records: Records, K: float | None = None) -> list[str]:  # noqa: N803
    """The methods that have a finished run, of this K, in order."""
    rows = records.table if K is None else records.table[records.table["K"] == K]
    return sorted(rows["method"].unique(), key=method_key)


class Sheet:
    """Makes entries from records and remembers what was not there.

    Args:
        records: of one data set and one recipe.
        study: which study usually has these runs.
        seeds: how many the paper has of them: asked for when nothing else says which seeds are wanted.
    """

    def __init__(self, records: Records, study: str, seeds: int) -> None:
        self.records, self.group = records, group_of(records, study)
        self.empty = records.table.empty
        self._default = range(seeds)
        self._cells: dict[tuple[str, float], None] = {}
        self._lacks: dict[str, list[str]] = {}
        self._lost: dict[str, None] = {}
        self._no_votes = False
        self._again: dict[str, None] = {}

    # ---- what there is ----

    def methods(self, expected: Sequence[str], K: float | None = None) -> list[str]:  # noqa: N803
        """The rows: those the paper has, where this is its data or there is nothing yet, and all that have runs."""
        wanted = [*expected] if self.group.published or self.empty else []
        asked = {cell.variant for cell in self.records.missing if K is None or cell.votes == K}
        return sorted({*wanted, *asked, *methods_in(self.records, K)}, key=method_key)

    def values(self, name: str, method: str, K: float = ALL, slice: str = "full") -> dict[int, float]:  # noqa: N803
        """Finite values by seed."""
        rows = self.records.by_cell.get((name, slice, method, K), [])
        if len({seed for seed, _ in rows}) < len(rows):
            raise InputError(f"{name} of {method}, K = {write_votes(K)}: one value a seed is needed, got several")
        return {seed: value for seed, value in sorted(rows) if np.isfinite(value)}

    @cached_property
    def _seeds(self) -> dict[tuple[str, float], int]:
        """(method, K) to the number of finished seeds."""
        return self.records.table.groupby(["method", "K"])["seed"].nunique().to_dict()

    def entry(
        self,
        name: str,
        method: str,
        K: float = ALL,  # noqa: N803
        slice: str = "full",
        published: tuple[float | None, float | None] = (None, None),
        seeds: Iterable[int] | None = None,
    ) -> Entry:
        """Mean, SD and n of one number over seeds, beside the published one; ``missing`` where there is none.

        Args:
            name: in the records: a metric, or ``<probe>/<quantity>``.
            method: of the runs.
            K: votes per item in training.
            slice: of the evaluation items.
            published: mean and SD of the paper.
            seeds: only these; None for all.
        """
        paper, paper_sd = published if self.group.published else (None, None)
        self.uses(Quantity.from_column(name).probe)
        found = self.values(name, method, K, slice)
        if seeds is not None:
            found = {seed: value for seed, value in found.items() if seed in set(seeds)}
        self._note_gaps(name, method, K, len(found), None if seeds is None else len(set(seeds)))
        if not found:
            return Entry(text=MISSING, published=paper, published_sd=paper_sd)
        entry = replace(entry_of(found, name), published=paper, published_sd=paper_sd)
        without_luck = unselected(self.records, method, K, name, slice) if seeds is None else {}
        if without_luck.keys() == found.keys():
            entry = replace(entry, unselected=float(np.mean(list(without_luck.values()))))
        return entry

    def with_interval(self, entry: Entry, name: str, method: str, K: float = ALL) -> Entry:  # noqa: N803
        """The entry with its interval over votes, where the data are at hand."""
        if entry.mean is None:
            return entry
        interval = target_intervals(self.records, method, K, [name]).get(name)
        self._no_votes |= interval is None and name in ("soft_nll", "soft_brier")
        return replace(entry, target_interval=interval)

    def test(
        self,
        name: str,
        a: str,
        b: str,
        alternative: Alternative,
        K: float = ALL,  # noqa: N803
        slice: str = "full",
    ) -> PairedTest | None:
        """The paired test of method a against b on the seeds that both have, which the result counts; None without any."""
        one, other = self.values(name, a, K, slice), self.values(name, b, K, slice)
        common = sorted(one.keys() & other.keys())
        if not common:
            return None
        if len(common) < max(len(one), len(other)):
            self._say(
                f"{a} against {b}, K = {write_votes(K)}: paired on the {len(common)} seeds that both have "
                f"({a} has {len(one)}, {b} has {len(other)})."
            )
        return paired_test(
            {seed: one[seed] for seed in common}, {seed: other[seed] for seed in common}, alternative=alternative, names=(a, b)
        )

    # ---- what there is not ----

    def _say(self, note: str) -> None:
        self._lost[note] = None

    def _note_gaps(self, name: str, method: str, k: float, n: int, wanted: int | None) -> None:
        runs = self._seeds.get((method, k), 0)
        waiting = any((cell.variant, cell.votes) == (method, k) for cell in (*self.records.missing, *_unfinished(self.records)))
        probe = Quantity.from_column(name).probe or None
        if not runs or waiting:
            self._cells[method, k] = None
            if probe is not None:
                self.lack(probe)
        short = runs - n if wanted is None else min(runs, wanted) - n
        if not runs or short <= 0:
            return
        if probe is not None:
            have = f" ({n} of {n + short} runs have it)" if n else ""
            self._lacks.setdefault(probe, []).append(f"{method} K={write_votes(k)}{have}")
        else:
            self._say(f"{short} of {runs} runs of {method}, K = {write_votes(k)}, have no finite {name} and are left out.")

    def uses(self, probe: str) -> None:
        """Remember that a probe's values are shown, for the notes: some are of networks that were trained again."""
        if (self.group.data, self.group.recipe, probe) in self.records.again:
            self._again[probe] = None

    def lack(self, probe: str) -> None:
        """Remember that a probe's results are missing, for the notes below the table."""
        self._lacks.setdefault(probe, [])

    def absent(self) -> list[Cell]:
        """The cells to train: what the study asks for, else the seeds that the other cells have."""
        known = sorted(self.records.table["seed"].unique().tolist()) or list(self._default)
        asked = [*self.records.missing, *_unfinished(self.records)]
        cells: list[Cell] = []
        for method, k in sorted(self._cells, key=lambda cell: (method_key(cell[0]), cell[1])):
            mine = [cell for cell in asked if (cell.variant, cell.votes) == (method, k)]
            cells += mine or [Cell.read(self.group.data, self.group.recipe, method, k, int(seed)) for seed in known]
        return cells

    def notes(self) -> list[str]:
        """One line for each thing that is missing, with the command that fills it."""
        commands = Commands(self.group.study, self.records.words, self.records.places)
        lines = []
        if cells := self.absent():
            lines.append(f"Missing: {len(cells)} runs ({which_runs(cells)}). To train them: {'; '.join(commands.train(cells))}")
        for probe, where in self._lacks.items():
            of = f" of {', '.join(dict.fromkeys(where))}" if where else ""
            command = commands.probe([probe], self.group.data, self.group.recipe)
            command += "" if self.records.checkpoint == "best" or probe in TIMELESS else f" checkpoint={self.records.checkpoint}"
            lines.append(f"Missing: {probe}{of}. To measure it: {command}")
        lines += [
            f"{probe} measured networks that were trained again with the same settings and seeds, since the first ones were not "
            "kept: their last bits may differ, and no score is theirs."
            for probe in self._again
        ]
        return [*lines, *self._lost, *([NEEDS_DATA] if self._no_votes else [])]


def entry_of(values: Mapping[int, float], name: str) -> Entry:
    """Mean, SD and n of one finite number per seed.

    >>> entry_of({0: 1.0, 1: 3.0}, "soft_nll").mean, entry_of({0: 1.0}, "soft_nll").sd
    (2.0, None)
    """
    summary = summarise(dict(values), name)
    return Entry(summary.mean, summary.sd if summary.n > 1 else None, summary.n)


def with_test(entry: Entry, test: PairedTest | None, published_p: float | None = None, p_adjusted: float | None = None) -> Entry:
    """The entry with its test."""
    if test is None:
        return replace(entry, published_p=published_p)
    numbers: dict[str, Any] = {"p": test.p, "agreeing": test.agreeing, "paired": test.n}
    return replace(entry, **numbers, published_p=published_p, p_adjusted=p_adjusted)


def _unfinished(records: Records) -> list[Cell]:
    return [Cell.from_folder(path) for path, _ in records.unfinished]
