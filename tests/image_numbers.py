"""The numbers of ``docs/results/images.md``, recomputed from the records in ``results/images``.

``python -m tests.image_numbers`` prints the tables of the page.
"""

import csv
import io
import json
import tarfile
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests.numbers import Statement, says

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results/images"
REGIMES = {"image_head_early": "early", "image_head_long": "memorised"}
CORE = [*product(("soft", "sls", "multipass"), ("5", "all")), ("majority", "all")]
"""What a whole seed has: method and K of the primary cells."""

LEAST = 8
"""Whole seeds; fewer are not analysed, as was written down."""

Key = tuple[str, str, str, int]  # recipe, method, K, seed


@cache
def results() -> dict[Key, dict[str, Any]]:
    """``result.json`` of every published run."""
    found: dict[Key, dict[str, Any]] = {}
    for archive in sorted(RESULTS.glob("cifar10h/*.tar.xz")):
        with tarfile.open(archive, "r|xz") as members:
            for member in members:
                method, k, seed, *name = member.name.split("/")
                if name == ["result.json"]:
                    content = members.extractfile(member)
                    assert content is not None
                    found[archive.name.removesuffix(".tar.xz"), method, k[2:], int(seed[5:])] = json.loads(content.read())
    return found


def whole(recipe: str) -> list[int]:
    """The seeds whose primary cells are all there."""
    seeds = {key[3] for key in results() if key[0] == recipe}
    return sorted(seed for seed in seeds if all((recipe, *cell, seed) in results() for cell in CORE))


def analysed() -> list[str]:
    """The regimes with enough whole seeds."""
    return [recipe for recipe in REGIMES if len(whole(recipe)) >= LEAST]


def values(recipe: str, method: str, k: str, metric: str = "soft_nll", at: str = "best") -> np.ndarray:
    """A metric of the whole seeds, in their order."""
    return np.array([results()[recipe, method, k, seed][at]["full"][metric] for seed in whole(recipe)])


def table() -> list[str]:
    """Method and K by regime: soft NLL and its difference to soft labels at both checkpoints, accuracy, entropy correlation."""
    lines = []
    for recipe in analysed():
        for method, k in sorted(CORE, key=lambda cell: (cell[1], -["majority", "multipass", "sls", "soft"].index(cell[0]))):
            cells = [REGIMES[recipe], f"`{method}`", k]
            for at in ("best", "last"):
                nll = values(recipe, method, k, at=at)
                apart = nll - values(recipe, "soft", k, at=at)
                cells.append(f"{nll.mean():.3f}")
                cells.append("" if method == "soft" else f"{apart.mean():+.4f} ({(apart < 0).sum()})".replace("-", "−"))
                cells += [f"{values(recipe, method, k, metric, at).mean():.3f}" for metric in ("hard_acc", "ent_corr")]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def primary_table() -> list[str]:
    """The primary outcomes, as the committed report has them."""
    lines = []
    for recipe in analysed():
        text = (RESULTS / f"report/cifar10h_{recipe}/primary.md").read_text()
        lines += [
            line for line in text.splitlines() if line.startswith("| ") and " --- " not in line and "p Wilcoxon" not in line
        ]
    return lines


def primary_rows(recipe: str) -> list[dict[str, str]]:
    """The primary outcomes of the committed report, for machines."""
    return list(csv.DictReader(io.StringIO((RESULTS / f"report/cifar10h_{recipe}/primary.csv").read_text())))


def judged(recipe: str, claim: str) -> tuple[str, str]:
    """What the primary analysis and the claim say of majority labels after a temperature, at the selected epoch."""
    [outcome] = [
        row["status"]
        for row in primary_rows(recipe)
        if (row["method"], row["claim"], row["checkpoint"]) == ("majority", "same", "selected epoch")
    ]
    verdicts = json.loads((RESULTS / "report/verdicts.json").read_text())
    [status] = [one["best"]["status"] for one in verdicts if (one["recipe"], one["claim"]) == (recipe, claim)]
    return outcome, status


def statements() -> Iterator[Statement]:
    """The prose; what it says of single differences stands in the tables."""
    early, paper = "image_head_early", yaml.safe_load((ROOT / "hardlabels/reporting/published.yaml").read_text())
    nll, accuracy = (column[0] for column in paper["table3_hard_family"]["soft"][:2])
    mine = [values(early, "soft", "all", metric).mean() for metric in ("hard_acc", "soft_nll")]
    yield says("accuracy {:.3f} and soft NLL {:.3f} (the paper's ResNet-18: {:.3f} and {:.3f})", *mine, accuracy, nll)
    yield says("{} runs are published", len(results()))
    assert judged("image_head_long", "soft-buys-calibration") == ("contradicted", "inconclusive")
    for recipe in analysed():
        rows = primary_rows(recipe)
        assert all(row["status"] == row["status_narrow"] == row["status_wide"] for row in rows), "a status hangs on its margin"
    for recipe, word in REGIMES.items():
        yield says(f"the {word} regime has {{}} whole seeds", len(whole(recipe)))


def readme_statements() -> Iterator[Statement]:
    """What the README says of the memorised regime, K = 5: SLS and multipass against soft labels, last and selected epoch."""
    recipe = "image_head_long"
    for text, sign, at in (
        ("end {:.3f} and {:.3f} nat below soft labels", -1, "last"),
        ("they are {:.3f} and {:.3f} above", 1, "best"),
    ):
        soft = values(recipe, "soft", "5", at=at)
        yield says(text, *(sign * (values(recipe, method, "5", at=at) - soft).mean() for method in ("sls", "multipass")))
    yield says("above ({} seeds", len(whole(recipe)))


if __name__ == "__main__":
    print("\n".join([*table(), "", *primary_table()]))
