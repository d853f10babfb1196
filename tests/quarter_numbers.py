"""The numbers of ``docs/results/quarter.md``, recomputed from the records in ``results/quarter``.

``python -m tests.quarter_numbers`` prints the tables of the page.
"""

import csv
import io
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.special import logsumexp

from hardlabels.runs.archive import read_members
from tests.numbers import ONES, Statement, says
from tests.registered_numbers import ROOT, Key, Registered, primary_lines, read_files

RECIPE, HARD = "quarter", ("sls", "multipass")
STUDY = Registered(
    "quarter",
    [
        *((method, "5") for method in ("soft", *HARD, "stratified_sls")),
        *((method, "all") for method in ("soft", *HARD, "majority")),
    ],
)
CHECKPOINTS = {"best": "logits", "last": "logits_last"}
"""Where ``predictions.npz`` has them."""

PASS = 5
"""Epochs in which multipass shows each of five votes once."""


def table() -> list[str]:
    """The primary cells."""
    return STUDY.table(RECIPE)


def primary_table() -> list[str]:
    """The primary outcomes."""
    return primary_lines(STUDY.folder / "report")


@cache
def tempered() -> dict[tuple[str, str, int, str], float]:
    """Soft NLL after the temperature that was fitted on the selection items, by method, K, seed and checkpoint."""
    found = {}
    for name, content in read_members(STUDY.folder / "cifar10h/quarter.tar.xz"):
        method, k, seed, *rest = name.split("/")
        if rest == ["predictions.npz"]:
            arrays = np.load(io.BytesIO(content), allow_pickle=False)
            for at, key in CHECKPOINTS.items():
                scaled = arrays[key].astype(np.float64) / float(arrays[f"select_temperature_{key}"])
                loss = -(arrays["p"] * (scaled - logsumexp(scaled, axis=1, keepdims=True))).sum(1).mean()
                found[method, k[2:], int(seed[5:]), at] = float(loss)
    return found


def gaps_after_temperature(method: str, k: str, at: str) -> np.ndarray:
    """Method minus soft labels of the same seed."""
    values = tempered()
    return np.array([values[method, k, seed, at] - values["soft", k, seed, at] for seed in STUDY.whole(RECIPE)])


def temperature_table() -> list[str]:
    """Soft NLL minus that of soft labels, as trained and after one temperature, at both checkpoints."""
    lines = []
    for method, k in STUDY.primary:
        if method != "soft":
            cells = [f"`{method}`", k]
            for at in CHECKPOINTS:
                for gaps in (STUDY.gaps(RECIPE, method, k, at=at), gaps_after_temperature(method, k, at)):
                    cells.append(f"{gaps.mean():+.4f} ({(gaps < 0).sum()})".replace("-", "−"))
            lines.append("| " + " | ".join(cells) + " |")
    return lines


@cache
def histories() -> dict[Key, dict[str, np.ndarray]]:
    """Column to its values by epoch, of every run."""
    found = {}
    for key, content in read_files(STUDY.folder, "history.csv").items():
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        found[key] = {name: np.array([float(row[name]) for row in rows]) for name in ("evaluate/soft_nll", "train/loss")}
    return found


def curves(method: str, k: str, column: str = "evaluate/soft_nll") -> np.ndarray:
    """(seeds, epochs), whole seeds in their order."""
    return np.array([histories()[RECIPE, method, k, seed][column] for seed in STUDY.whole(RECIPE)])


def selected(method: str, k: str) -> float:
    """The median epoch that its runs selected."""
    return float(np.median([STUDY.results[RECIPE, method, k, seed]["best"]["epoch"] for seed in STUDY.whole(RECIPE)]))


def window(method: str, k: str, first: int, behind: int) -> np.ndarray:
    """(seeds,) mean difference to soft labels over the epochs first .. behind - 1."""
    return (curves(method, k) - curves("soft", k))[:, first:behind].mean(1)
