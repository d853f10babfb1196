"""What the gains of hard delivery hang on: distance of the votes, passes, epochs. Of studies that were written down first."""

import csv
import io
import json
from functools import cache
from pathlib import Path

import numpy as np

from hardlabels.statistics.power import Criterion, smallest_effect
from hardlabels.statistics.resampled import resampled_test
from hardlabels.statistics.signed_rank import exact_p
from tests.registered_numbers import Key, Registered, read_files

RATIO = 2000 / 7000
"""Evaluation images per training image: what the corrected t-test allows for."""

PASS = 5
"""Epochs in which multipass shows each of five votes once."""

ITEMS = {"train": "sparse_target_train", "evaluate": "sparse_target"}
"""On whose votes the networks were trained, and on whose they were not: the probes."""


def both_p(differences: np.ndarray) -> tuple[float, float]:
    """Of the exact Wilcoxon test and of the corrected t-test, two-sided."""
    return exact_p(differences), resampled_test(differences, ratio=RATIO).p


# ---- the distance of an image's K votes from all of its votes, and the gain ----


def correlations(
    study: Registered, recipe: str, method: str, k: str, *, at: str = "last", items: str = "train", view: str = "full",
    given_entropy: bool = False,
) -> np.ndarray:  # fmt: skip
    """(seeds,) Spearman correlation of Jensen-Shannon distance and gain over soft labels of the same seed."""
    quantity = f"{view}/js_spearman{'_given_entropy' * given_entropy}"
    found = study.pair_values(recipe, ITEMS[items], at, quantity, method, "soft", k, same_seed=True)
    return found.astype(np.float64)


def mean_and_above(values: np.ndarray, digits: int) -> str:
    """For a table: the mean, and the number of seeds above 0."""
    return f"{values.mean():+.{digits}f} ({(values > 0).sum()})".replace("-", "−")


# ---- passes: epochs in which multipass shows each of its K votes once ----


@cache
def histories(folder: Path) -> dict[Key, np.ndarray]:
    """Soft NLL of the evaluation images by epoch, of every run."""
    files = {key: csv.DictReader(io.StringIO(content.decode())) for key, content in read_files(folder, "history.csv").items()}
    return {key: np.array([float(row["evaluate/soft_nll"]) for row in rows]) for key, rows in files.items()}


def curves(study: Registered, recipe: str, method: str, k: str) -> np.ndarray:
    """(seeds, epochs), whole seeds in their order."""
    return np.array([histories(study.folder)[recipe, method, k, seed] for seed in study.whole(recipe)])


def by_pass(study: Registered, recipe: str, method: str, k: str, few: int = PASS) -> np.ndarray:
    """(seeds, passes) multipass with a few votes minus a method, mean over the epochs of each pass."""
    differences = curves(study, recipe, "multipass", str(few)) - curves(study, recipe, method, k)
    whole = differences.shape[1] // few
    return differences[:, : whole * few].reshape(len(differences), whole, few).mean(2)


def pass_table(study: Registered, recipe: str) -> list[str]:
    """Multipass with five votes minus SLS on all votes, and minus SLS with the same five, by pass."""
    passes = {words: by_pass(study, recipe, "sls", k).T for words, k in (("all votes", "all"), ("K = 5", "5"))}
    head = ["multipass, K = 5, minus", *(f"pass {place}" for place in range(1, len(passes["K = 5"]) + 1))]
    rows = [[f"`sls`, {words}", *(mean_and_above(values, 4) for values in found)] for words, found in passes.items()]
    return ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]


def first_pass(study: Registered, recipe: str, few: int, margin: float) -> tuple[bool, bool]:
    """Whether pass 1 is shown to equal SLS on all votes within the margin, and pass 2 to lie above it: by both tests."""
    first, second = by_pass(study, recipe, "sls", "all", few).T[:2]
    low, high = resampled_test(first, ratio=RATIO).interval(0.9)
    equal = max(exact_p(first + margin, "greater"), exact_p(first - margin, "less")) <= 0.05 and -margin < low < high < margin
    above = max(exact_p(second, "greater"), resampled_test(second, ratio=RATIO, alternative="greater").p) <= 0.05
    return equal, above


def second_pass_is_of_no_matter(study: Registered, recipe: str, few: int, margin: float) -> bool:
    """Whether the 90 % interval of what pass 2 loses against SLS on all votes lies inside the margin."""
    low, high = resampled_test(by_pass(study, recipe, "sls", "all", few)[:, 1], ratio=RATIO).interval(0.9)
    return -margin < low < high < margin


# ---- when a run is at its best, and nearly there ----


@cache
def milestones(folder: Path) -> dict[Key, dict[str, float]]:
    """Best epoch and first epoch within 5 % of the best, counted from 0, by run."""
    return {key: json.loads(content)["values"] for key, content in read_files(folder, "diagnostics/dynamics.json").items()}


MILESTONES = ("near_best_epoch", "best_epoch")


def epochs(study: Registered, recipe: str, milestone: str, method: str, k: str = "all") -> np.ndarray:
    """(seeds,) of a method."""
    return np.array([milestones(study.folder)[recipe, method, k, seed][f"full/{milestone}"] for seed in study.whole(recipe)])


def delays(study: Registered, recipe: str, milestone: str) -> np.ndarray:
    """(seeds,) epochs by which SLS with all votes is later than soft labels of the same seed."""
    return epochs(study, recipe, milestone, "sls") - epochs(study, recipe, milestone, "soft")


def lead_that_would_be_seen(differences: np.ndarray) -> float:
    """By both tests, one-sided as the report's claim is, with 80 % power."""
    return smallest_effect(differences, Criterion(RATIO, two_sided=False))
