"""The numbers of a study whose primary outcomes were written down before its first run, recomputed from its committed records."""

import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
ORDER = ("soft", "sls", "multipass", "stratified_sls", "majority")

Key = tuple[str, str, str, int]  # recipe, method, K, seed


@cache
def read_results(folder: Path) -> dict[Key, dict[str, Any]]:
    """``result.json`` of every published run of a study."""
    return {key: json.loads(content) for key, content in read_files(folder, "result.json").items()}


@cache
def read_files(folder: Path, wanted: str) -> dict[Key, bytes]:
    """One file of every published run that has it."""
    found: dict[Key, bytes] = {}
    for archive in sorted(folder.glob("cifar10h/*.tar.xz")):
        with tarfile.open(archive, "r|xz") as members:
            for member in members:
                method, k, seed, *name = member.name.split("/")
                if "/".join(name) == wanted:
                    content = members.extractfile(member)
                    assert content is not None
                    found[archive.name.removesuffix(".tar.xz"), method, k[2:], int(seed[5:])] = content.read()
    return found


@dataclass(frozen=True)
class Registered:
    """The records of such a study.

    Args:
        name: of the study, and of its folder in ``results``.
        primary: method and K of the primary cells: what a whole seed has.
    """

    name: str
    primary: Sequence[tuple[str, str]]

    @property
    def folder(self) -> Path:
        return ROOT / "results" / self.name

    @property
    def results(self) -> dict[Key, dict[str, Any]]:
        return read_results(self.folder)

    def whole(self, recipe: str) -> list[int]:
        """The seeds whose primary cells are all there."""
        seeds = {key[3] for key in self.results if key[0] == recipe}
        return sorted(seed for seed in seeds if all((recipe, *cell, seed) in self.results for cell in self.primary))

    def values(self, recipe: str, method: str, k: str, metric: str = "soft_nll", at: str = "best") -> np.ndarray:
        """A metric of the whole seeds, in their order."""
        return np.array([self.results[recipe, method, k, seed][at]["full"][metric] for seed in self.whole(recipe)])

    def gaps(self, recipe: str, method: str, k: str, metric: str = "soft_nll", at: str = "best") -> np.ndarray:
        """The same, minus that of soft labels of the same seed."""
        return self.values(recipe, method, k, metric, at) - self.values(recipe, "soft", k, metric, at)

    def table(self, recipe: str, *first: str) -> list[str]:
        """By K and method: soft NLL, its difference to soft labels, accuracy, entropy correlation, at both checkpoints.

        Args:
            recipe: whose runs.
            first: further cells at the beginning of each line.
        """
        lines = []
        for method, k in sorted(self.primary, key=lambda cell: (cell[1], ORDER.index(cell[0]))):
            cells = [*first, f"`{method}`", k]
            for at in ("best", "last"):
                gaps = self.gaps(recipe, method, k, at=at)
                cells.append(f"{self.values(recipe, method, k, at=at).mean():.3f}")
                cells.append("" if method == "soft" else f"{gaps.mean():+.4f} ({(gaps < 0).sum()})".replace("-", "−"))
                cells += [f"{self.values(recipe, method, k, metric, at).mean():.3f}" for metric in ("hard_acc", "ent_corr")]
            lines.append("| " + " | ".join(cells) + " |")
        return lines


def primary_lines(report: Path) -> list[str]:
    """The primary outcomes, as a committed report has them."""
    lines = (report / "primary.md").read_text().splitlines()
    return [line for line in lines if line.startswith("| ") and " --- " not in line and "p Wilcoxon" not in line]
