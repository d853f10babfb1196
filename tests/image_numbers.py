"""The numbers of ``docs/results/images.md``, recomputed from the records in ``results/images``.

``python -m tests.image_numbers`` prints the tables of the page.
"""

import csv
import io
import json
from collections.abc import Iterator
from itertools import product

import yaml

from tests.numbers import Statement, says
from tests.registered_numbers import ROOT, Registered, primary_lines

REGIMES = {"image_head_early": "early", "image_head_long": "memorised"}
STUDY = Registered("images", [*product(("soft", "sls", "multipass"), ("5", "all")), ("majority", "all")])
LEAST = 8
"""Whole seeds; fewer are not analysed, as was written down."""


def analysed() -> list[str]:
    """The regimes with enough whole seeds."""
    return [recipe for recipe in REGIMES if len(STUDY.whole(recipe)) >= LEAST]


def table() -> list[str]:
    """The primary cells of each regime."""
    return [line for recipe in analysed() for line in STUDY.table(recipe, REGIMES[recipe])]


def primary_table() -> list[str]:
    """The primary outcomes of each regime."""
    return [line for recipe in analysed() for line in primary_lines(STUDY.folder / f"report/cifar10h_{recipe}")]


def primary_rows(recipe: str) -> list[dict[str, str]]:
    """The primary outcomes of the committed report, for machines."""
    return list(csv.DictReader(io.StringIO((STUDY.folder / f"report/cifar10h_{recipe}/primary.csv").read_text())))


def judged(recipe: str, claim: str) -> tuple[str, str]:
    """What the primary analysis and the claim say of majority labels after a temperature, at the selected epoch."""
    [outcome] = [
        row["status"]
        for row in primary_rows(recipe)
        if (row["method"], row["claim"], row["checkpoint"]) == ("majority", "same", "selected epoch")
    ]
    verdicts = json.loads((STUDY.folder / "report/verdicts.json").read_text())
    [status] = [one["best"]["status"] for one in verdicts if (one["recipe"], one["claim"]) == (recipe, claim)]
    return outcome, status


def statements() -> Iterator[Statement]:
    """The prose; what it says of single differences stands in the tables."""
    early, paper = "image_head_early", yaml.safe_load((ROOT / "hardlabels/reporting/published.yaml").read_text())
    nll, accuracy = (column[0] for column in paper["table3_hard_family"]["soft"][:2])
    mine = [STUDY.values(early, "soft", "all", metric).mean() for metric in ("hard_acc", "soft_nll")]
    yield says("accuracy {:.3f} and soft NLL {:.3f} (the paper's ResNet-18: {:.3f} and {:.3f})", *mine, accuracy, nll)
    yield says("{} runs are published", len(STUDY.results))
    assert judged("image_head_long", "soft-buys-calibration") == ("contradicted", "inconclusive")
    for recipe in analysed():
        rows = primary_rows(recipe)
        assert all(row["status"] == row["status_narrow"] == row["status_wide"] for row in rows), "a status hangs on its margin"
    for recipe, word in REGIMES.items():
        yield says(f"the {word} regime has {{}} whole seeds", len(STUDY.whole(recipe)))


def readme_statements() -> Iterator[Statement]:
    """What the README says of the memorised regime, K = 5: SLS and multipass against soft labels, last and selected epoch."""
    recipe = "image_head_long"
    for text, sign, at in (
        ("end {:.3f} and {:.3f} nat below soft labels", -1, "last"),
        ("they are {:.3f} and {:.3f} above", 1, "best"),
    ):
        yield says(text, *(sign * STUDY.gaps(recipe, method, "5", at=at).mean() for method in ("sls", "multipass")))
    yield says("above ({} seeds: [frozen", len(STUDY.whole(recipe)))


if __name__ == "__main__":
    print("\n".join([*table(), "", *primary_table()]))
