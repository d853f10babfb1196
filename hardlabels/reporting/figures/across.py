"""What figures 9 and 12 share: how alike runs of different seeds are, a dot a pair of runs."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from hardlabels.reporting.figures.style import label, places, strip
from hardlabels.reporting.tables.sheet import method_key
from hardlabels.reporting.tables.wording import ALL
from hardlabels.runs.records import Records

COLUMNS = ["kind", "method", "slice", "value"]


def prepare_across(records: Records, probe: str, name: str, slices: tuple[str, ...]) -> pd.DataFrame:
    """One row a pair of runs that see all votes and a slice: kind (``sls``, ``sls – soft``, ...), its first method, the value.

    Args:
        records: with pairs of the probe.
        probe: its name.
        name: of the value.
        slices: which to keep.
    """
    pairs = records.seen_pairs
    rows = pairs[(pairs["probe"] == probe) & (pairs["name"] == name) & pairs["slice"].isin(slices)]
    rows = rows[(rows["K_a"] == ALL) & (rows["K_b"] == ALL)].dropna(subset="value")
    kinds = [
        _kind(a, b, same) for a, b, same in zip(rows["method_a"], rows["method_b"], rows["seed_a"] == rows["seed_b"], strict=True)
    ]
    found = pd.DataFrame(
        {"kind": kinds, "method": rows["method_a"].to_list(), "slice": rows["slice"].to_list(), "value": rows["value"].to_list()},
        columns=COLUMNS,
    )
    order = sorted(found["kind"].unique(), key=lambda kind: ("–" in kind, method_key(kind.partition(" – ")[0]), kind))
    return found.assign(order=found["kind"].map(order.index)).sort_values("order", kind="stable", ignore_index=True)[COLUMNS]


def strips(axis: Axes, rows: pd.DataFrame) -> None:
    """A strip of dots a kind of pair."""
    kinds = list(dict.fromkeys(rows["kind"]))
    for place, kind in enumerate(kinds):
        inside = rows[rows["kind"] == kind]
        strip(axis, inside["value"].to_list(), place, inside["method"].iloc[0])
    places(axis, [label(kind) for kind in kinds], rotation=30)


def means(rows: pd.DataFrame) -> list[str]:
    """A line a kind of pair and slice: mean, range and number of pairs."""
    lines = []
    for (kind, view), group in rows.groupby(["kind", "slice"], sort=False):
        value = group["value"].to_numpy()
        lines.append(f"{kind}, {view}: mean {np.mean(value):.3f}, {value.min():.3f} to {value.max():.3f}, {len(value)} pairs.")
    return lines


def _kind(a: str, b: str, same: bool) -> str:
    return a if a == b else f"{a} – {b}{', same seed' if same else ''}"
