"""The numbers of ``docs/results/image_pair.md``, recomputed from the records in ``results/image_pair``.

``python -m tests.pair_numbers`` prints the tables of the page.
"""

import csv
import io
from collections.abc import Iterator

import numpy as np

from tests import image_numbers
from tests.image_numbers import EPOCHS, HARD, OUTCOME
from tests.numbers import Statement, says
from tests.registered_numbers import Registered, primary_lines, read_files

STUDY = Registered("image_pair", image_numbers.STUDY.primary)
REGIMES = {"image_pair_early": "early", "image_pair_long": "memorised"}
FIRST = {"image_pair_early": "image_head_early", "image_pair_long": "image_head_long"}
"""The recipe of the first study that a recipe repeats."""


def table() -> list[str]:
    """The primary cells of each regime."""
    return [line for recipe, word in REGIMES.items() for line in STUDY.table(recipe, word)]


def primary_table() -> list[str]:
    """The primary outcomes of each regime."""
    return [line for recipe in REGIMES for line in primary_lines(STUDY.folder / f"report/cifar10h_{recipe}")]


def rows(recipe: str) -> dict[tuple[str, ...], dict[str, str]]:
    """The primary outcomes of a regime for machines."""
    found = csv.DictReader(io.StringIO((STUDY.folder / f"report/cifar10h_{recipe}/primary.csv").read_text()))
    return {tuple(row[name] for name in OUTCOME): row for row in found}


def both(recipe: str) -> Iterator[tuple[tuple[str, ...], dict[str, str], dict[str, str]]]:
    """Each outcome, in the first study and in this one."""
    here = rows(recipe)
    for row in image_numbers.primary_rows(FIRST[recipe]):
        key = tuple(row[name] for name in OUTCOME)
        yield key, row, here[key]


def repeated() -> dict[str, tuple[int, int]]:
    """By regime, how many outcomes have the status of the first study, and how many there are."""
    found = {recipe: [a["status"] == b["status"] for _, a, b in both(recipe)] for recipe in REGIMES}
    return {recipe: (sum(same), len(same)) for recipe, same in found.items()}


def differing_table() -> list[str]:
    """The outcomes whose status is another one than in the first study."""
    lines = []
    for recipe, word in REGIMES.items():
        for key, *studies in both(recipe):
            if studies[0]["status"] != studies[1]["status"]:
                said = [f"{float(row['difference']):+.4f} {row['status']}".replace("-", "−") for row in studies]
                lines.append("| " + " | ".join([word, *key, *said]) + " |")
    return lines


def training_loss(recipe: str, method: str, k: str) -> float:
    """Of the last epoch, mean over seeds."""
    histories = read_files(STUDY.folder, "history.csv")
    losses = []
    for seed in STUDY.whole(recipe):
        *_, last = csv.DictReader(io.StringIO(histories[recipe, method, k, seed].decode()))
        losses.append(float(last["train/loss"]))
    return float(np.mean(losses))


TABLES = (table, primary_table, differing_table)

if __name__ == "__main__":
    for made in TABLES:
        print("\n".join([*made(), ""]))
    print(repeated())
    print({(recipe, m): round(training_loss(recipe, m, "5"), 3) for recipe in REGIMES for m in ("soft", *HARD)})
    print({r: len(STUDY.whole(r)) for r in REGIMES}, EPOCHS)
