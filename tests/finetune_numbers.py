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
SEEDS = 5


@cache
def results() -> dict[tuple[str, str, int], dict[str, Any]]:
    """``result.json`` by data set, method and seed; by checkpoint and slice also what ``derived.json`` has."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for archive in sorted(FOLDER.glob("*/text_finetune_cpu.tar.xz")):
        for name, content in read_members(archive):
            method, _, seed, *rest = name.split("/")
            run = found.setdefault((archive.parent.name, method, int(seed[5:])), {})
            if rest == ["result.json"]:
                run |= json.loads(content)
            elif rest == ["derived.json"]:
                run["derived"] = json.loads(content)
    return found


def whole(data: str) -> list[int]:
    """The seeds that have every method."""
    seeds = {seed for name, _, seed in results() if name == data}
    return sorted(seed for seed in seeds if all((data, method, seed) in results() for method in METHODS))


def values(data: str, method: str, metric: str = "soft_nll", at: str = "best") -> np.ndarray:
    """(seeds,) a metric of the evaluation texts."""
    runs = [results()[data, method, seed] for seed in whole(data)]
    return np.array([(run["derived"] if metric == "soft_nll_t" else run)[at]["full"][metric] for run in runs])


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
        for method in METHODS if len(whole(data)) == SEEDS else ():
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
    yield says("{} epochs on at most {:,} texts", 5, 1000)
    yield says("{} of {} planned runs", len(results()), 60)
    found = [data for data in DATA if len(whole(data)) == SEEDS]
    assert found == ["lewidi_hs_brexit_official"]
    yield says("all {} seeds of HS-Brexit", SEEDS)
    data = found[0]
    for method, text in (
        ("sls", "SLS is above soft labels by {:.4f} and {:.4f} nat"),
        ("multipass", "multipass by {:.4f} and {:.4f}"),
    ):
        yield says(text, *(gaps(data, method, at=at).mean() for at in EPOCHS))
    assert not any((gaps(data, "sls", at=at) < 0).any() for at in EPOCHS)
    yield says("by {:.3f} and {:.3f} nat in every seed", *(gaps(data, "majority", at=at).mean() for at in EPOCHS))
    yield says("entropy correlation {:.2f}", values(data, "soft", "ent_corr").mean())


if __name__ == "__main__":
    print("\n".join(table()))
