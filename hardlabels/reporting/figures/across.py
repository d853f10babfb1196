"""What figures 9, 11 and 12 share: kinds of pairs of runs, and how alike such runs are, one dot per pair."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from hardlabels.reporting.figures.style import label, places, strip
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.runs.records import Records
from hardlabels.runs.spelling import ALL, write_votes

COLUMNS = ["kind", "slice", "value"]


@dataclass(frozen=True)
class PairKind:
    """The methods of two runs, and whether these share their seed. Its words are written here and read by people only.

    >>> str(PairKind("sls", "soft", same_seed=True)), str(PairKind("sls", "sls"))
    ('sls – soft, same seed', 'sls – sls')
    """

    first: str
    second: str
    same_seed: bool = False

    def __str__(self) -> str:
        return self.written()

    def written(self, name: Callable[[str], str] = str) -> str:
        """Both methods, each as ``name`` gives it."""
        return f"{name(self.first)} – {name(self.second)}{', same seed' if self.same_seed else ''}"

    def briefly(self, name: Callable[[str], str] = str) -> str:
        """The same, but one method alone where both are the same.

        >>> PairKind("sls", "sls").briefly()
        'sls'
        """
        return name(self.first) if self.first == self.second else self.written(name)


def votes_of_pairs(records: Records, probe: str) -> list[float]:
    """The K, other than all votes, that the probe measured pairs of: pictures have all votes, notes name the others."""
    rows = records.seen_pairs
    rows = rows[(rows["probe"] == probe) & (rows["K_a"] == rows["K_b"]) & (rows["K_a"] != ALL)]
    return sorted(rows["K_a"].unique())


def prepare_across(
    records: Records,
    probe: str,
    name: str,
    slices: tuple[str, ...],
    K: float = ALL,  # noqa: N803
) -> pd.DataFrame:
    """One row for each slice and pair of runs that see K votes: the kind of pair, the slice, the value.

    Args:
        records: with pairs of the probe.
        probe: its name.
        name: of the value.
        slices: which to keep.
        K: votes per item in training, of both runs.
    """
    pairs = records.seen_pairs
    rows = pairs[(pairs["probe"] == probe) & (pairs["name"] == name) & pairs["slice"].isin(slices)]
    rows = rows[(rows["K_a"] == K) & (rows["K_b"] == K)].dropna(subset="value")
    pairs_of = zip(rows["method_a"], rows["method_b"], rows["seed_a"] == rows["seed_b"], strict=True)
    kinds = [PairKind(a, b, same_seed=bool(same) and a != b) for a, b, same in pairs_of]
    found = pd.DataFrame({"kind": kinds, "slice": rows["slice"].to_list(), "value": rows["value"].to_list()}, columns=COLUMNS)
    order = sorted(set(kinds), key=lambda kind: (kind.first != kind.second, method_key(kind.first), kind.briefly()))
    return found.assign(order=found["kind"].map(order.index)).sort_values("order", kind="stable", ignore_index=True)[COLUMNS]


def strips(axis: Axes, rows: pd.DataFrame) -> None:
    """One strip of dots per kind of pair."""
    kinds = list(dict.fromkeys(rows["kind"]))
    for place, kind in enumerate(kinds):
        inside = rows[rows["kind"] == kind]
        strip(axis, inside["value"].to_list(), place, kind.first)
    places(axis, [kind.briefly(label) for kind in kinds], rotation=30)


def means(rows: pd.DataFrame) -> list[str]:
    """One line for each kind of pair and slice: mean, range and number of pairs."""
    lines = []
    for (kind, view), group in rows.groupby(["kind", "slice"], sort=False):
        value = group["value"].to_numpy()
        spread = f"mean {np.mean(value):.3f}, {value.min():.3f} to {value.max():.3f}"
        lines.append(f"{kind.briefly()}, {view}: {spread}, {len(value)} pairs.")
    return lines


def means_of_few_votes(records: Records, probe: str, name: str, slices: tuple[str, ...]) -> list[str]:
    """The same of the K that no picture has."""
    return [
        f"K = {write_votes(k)}, not drawn: {line}"
        for k in votes_of_pairs(records, probe)
        for line in means(prepare_across(records, probe, name, slices, k))
    ]
