"""The numbers of a study whose primary outcomes were written down before its first run, recomputed from its committed records."""

import json
import lzma
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
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
        below: the folder of records below that of the study, where there is another one.
    """

    name: str
    primary: Sequence[tuple[str, str]]
    below: str = ""

    @property
    def folder(self) -> Path:
        return ROOT / "results" / self.name / self.below

    @property
    def results(self) -> dict[Key, dict[str, Any]]:
        return read_results(self.folder)

    def whole(self, recipe: str) -> list[int]:
        """The seeds whose primary cells are all there."""
        seeds = {key[3] for key in self.results if key[0] == recipe}
        return sorted(seed for seed in seeds if all((recipe, *cell, seed) in self.results for cell in self.primary))

    def seeds(self, recipe: str, method: str, k: str) -> list[int]:
        """The whole seeds that have this cell: all of them where it is a primary one."""
        return [seed for seed in self.whole(recipe) if (recipe, method, k, seed) in self.results]

    def values(
        self, recipe: str, method: str, k: str, metric: str = "soft_nll", at: str = "best", seeds: Sequence[int] | None = None
    ) -> np.ndarray:
        """A metric by seed: of the whole seeds that have this cell, or of those that are asked for."""
        chosen = self.seeds(recipe, method, k) if seeds is None else seeds
        return np.array([self.results[recipe, method, k, seed][at]["full"][metric] for seed in chosen])

    def gaps(
        self, recipe: str, method: str, k: str, metric: str = "soft_nll", at: str = "best", seeds: Sequence[int] | None = None
    ) -> np.ndarray:
        """The same, minus that of soft labels of the same seed."""
        chosen = self.seeds(recipe, method, k) if seeds is None else seeds
        return self.values(recipe, method, k, metric, at, chosen) - self.values(recipe, "soft", k, metric, at, chosen)

    def gap(self, recipe: str, method: str, k: str, at: str = "best", seeds: Sequence[int] | None = None) -> str:
        """For a table: the mean difference of soft NLL to soft labels, and the number of seeds below them."""
        gaps = self.gaps(recipe, method, k, at=at, seeds=seeds)
        return f"{gaps.mean():+.4f} ({(gaps < 0).sum()})".replace("-", "−")

    def line(self, recipe: str, method: str, k: str, *first: str, seeds: Sequence[int] | None = None) -> str:
        """Of a table: soft NLL minus that of soft labels, accuracy and entropy correlation, at both checkpoints.

        Args:
            recipe, method, k: the cell.
            first: of the line.
            seeds: None for the whole seeds that have the cell.
        """
        cells = list(first)
        for at in ("best", "last"):
            metrics = [self.values(recipe, method, k, metric, at, seeds).mean() for metric in ("hard_acc", "ent_corr")]
            cells += [self.gap(recipe, method, k, at, seeds), *(f"{value:.3f}" for value in metrics)]
        return "| " + " | ".join(cells) + " |"

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
                cells.append(f"{self.values(recipe, method, k, at=at).mean():.3f}")
                cells.append("" if method == "soft" else self.gap(recipe, method, k, at))
                cells += [f"{self.values(recipe, method, k, metric, at).mean():.3f}" for metric in ("hard_acc", "ent_corr")]
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    # ---- probes ----

    def probed(self, probe: str, at: str) -> dict[Key, dict[str, Any]]:
        """The values of a probe by run, at a checkpoint."""
        file = f"diagnostics/{probe}{',checkpoint=last' if at == 'last' else ''}.json"
        return {key: json.loads(content)["values"] for key, content in read_files(self.folder, file).items()}

    def probe_values(self, recipe: str, probe: str, at: str, quantity: str, method: str, k: str) -> np.ndarray:
        """(seeds,) of a method, by seed."""
        found = self.probed(probe, at)
        return np.array([found[key][quantity] for key in sorted(found) if key[:3] == (recipe, method, k)])

    def curvature_table(self, recipe: str, *first: str, form: str = "{:,.0f}") -> list[str]:
        """Largest eigenvalue and trace, all and most disputed items, both checkpoints; in brackets seeds below soft labels."""
        return self._probe_table(recipe, "hessian", CURVATURE, form, below=True, first=first)

    def auroc_table(self, recipe: str, *first: str) -> list[str]:
        """AUROC of two detectors, at both checkpoints; in brackets the seeds above soft labels."""
        return self._probe_table(recipe, "ood", AUROC, "{:.3f}", below=False, first=first)

    def _probe_table(
        self, recipe: str, probe: str, quantities: Sequence[str], form: str, below: bool, first: Sequence[str]
    ) -> list[str]:
        lines = []
        for k, method in product(("5", "all"), ("soft", "sls", "multipass")):
            cells = [*first, f"`{method}`", k]
            for at, quantity in product(("best", "last"), quantities):
                mine, soft = (self.probe_values(recipe, probe, at, quantity, one, k) for one in (method, "soft"))
                agreeing = (mine < soft if below else mine > soft).sum()
                cells.append(form.format(mine.mean()) + ("" if method == "soft" else f" ({agreeing})"))
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    def pair_values(
        self, recipe: str, probe: str, at: str, quantity: str, a: str, b: str, k: str, same_seed: bool = False
    ) -> np.ndarray:
        """What a probe of pairs says of those of two methods at one K."""
        file = self.folder / f"studies/{self.name}/diagnostics/{probe}{',checkpoint=last' if at == 'last' else ''}.json.xz"
        return np.array(
            [
                values[quantity]
                for one, other, values in read_pairs(file)
                if {one[1], other[1]} == {a, b}
                and one[0] == other[0] == recipe
                and one[2] == other[2] == k
                and (one[3] == other[3]) == same_seed
            ]
        )


CURVATURE = ("full/lambda_max", "full/trace", "high_disagreement/lambda_max", "high_disagreement/trace")
AUROC = tuple(f"{outliers}/{detector}/auroc" for outliers, detector in product(("svhn", "cifar100"), ("energy", "msp")))


@cache
def read_pairs(file: Path) -> list[tuple[Key, Key, dict[str, Any]]]:
    """Pairs of runs and what a probe says of them."""
    found = []
    for entry in json.loads(lzma.decompress(file.read_bytes()))["pairs"]:
        sides = (entry[side].split("/")[-4:] for side in "ab")
        one, other = ((recipe, method, k[2:], int(seed[5:])) for recipe, method, k, seed in sides)
        found.append((one, other, entry["values"]))
    return found


def primary_lines(report: Path) -> list[str]:
    """The primary outcomes, as a committed report has them."""
    lines = (report / "primary.md").read_text().splitlines()
    return [line for line in lines if line.startswith("| ") and " --- " not in line and "p Wilcoxon" not in line]
