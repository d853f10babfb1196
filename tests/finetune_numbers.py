"""The numbers of ``docs/results/finetune.md``, recomputed from the records in ``results/finetune``.

``python -m tests.finetune_numbers`` prints the table of the page.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from hardlabels.runs.archive import read_members
from tests.numbers import Statement, says
from tests.registered_numbers import ROOT

FOLDER = ROOT / "results/finetune"
DATA = {"lewidi_hs_brexit_official": "HS-Brexit", "popquorn": "POPQUORN", "lewidi_md_agreement_official": "MD-Agreement"}
METHODS = ("soft", "sls", "multipass", "majority")
EPOCHS = ("best", "last")


@cache
def results() -> dict[tuple[str, str, int], dict[str, Any]]:
    """``result.json`` by data set, method and seed."""
    found = {}
    for archive in sorted(FOLDER.glob("*/text_finetune_cpu.tar.xz")):
        for name, content in read_members(archive):
            method, _, seed, *rest = name.split("/")
            if rest == ["result.json"]:
                found[archive.parent.name, method, int(seed[5:])] = json.loads(content)
    return found


def whole(data: str) -> list[int]:
    """The seeds that have every method."""
    seeds = {seed for name, _, seed in results() if name == data}
    return sorted(seed for seed in seeds if all((data, method, seed) in results() for method in METHODS))


def values(data: str, method: str, metric: str = "soft_nll", at: str = "best") -> np.ndarray:
    """(seeds,) a metric of the evaluation texts."""
    return np.array([results()[data, method, seed][at]["full"][metric] for seed in whole(data)])


def gaps(data: str, method: str, metric: str = "soft_nll", at: str = "best") -> np.ndarray:
    """The same, minus that of soft labels of the same seed."""
    return values(data, method, metric, at) - values(data, "soft", metric, at)


def beside(gap: np.ndarray) -> str:
    """A mean difference, and the number of seeds below 0."""
    return f"{gap.mean():+.4f} ({(gap < 0).sum()})".replace("-", "−")


def table() -> list[str]:
    """By data set and method: soft NLL, its difference to soft labels (also after temperature), accuracy, entropy correlation."""
    lines = []
    for data, name in DATA.items():
        for method in METHODS if whole(data) else ():
            cells = [name, f"`{method}`"]
            for at in EPOCHS:
                differences = (
                    ["", ""] if method == "soft" else [beside(gaps(data, method, m, at)) for m in ("soft_nll", "soft_nll_t")]
                )
                scores = [f"{values(data, method, metric, at).mean():.3f}" for metric in ("hard_acc", "ent_corr")]
                cells += [f"{values(data, method, at=at).mean():.3f}", *differences, *scores]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def statements() -> Iterator[Statement]:
    """The prose."""
    yield says("{} runs", len(results()))


if __name__ == "__main__":
    print("\n".join(table()))
