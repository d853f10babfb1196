"""The numbers of ``docs/results/image_pair.md``, recomputed from the records in ``results/image_pair``.

``python -m tests.pair_numbers`` prints the tables of the page.
"""

import csv
import io
import json
from collections.abc import Iterator
from itertools import product

import numpy as np

from tests import image_numbers
from tests.image_numbers import HARD, OUTCOME
from tests.mechanism_numbers import (
    MILESTONES,
    PASS,
    both_p,
    by_pass,
    delays,
    first_pass,
    pass_table,
    second_pass_is_of_no_matter,
)
from tests.numbers import ONES, Statement, says
from tests.registered_numbers import AUROC, Registered, primary_lines, read_files

STUDY = Registered("image_pair", image_numbers.STUDY.primary)
PROBED = Registered("image_pair", image_numbers.STUDY.primary, below="probed")
"""Five seeds trained again, since the networks were not kept: what the probes saw."""

REGIMES = {"image_pair_early": "early", "image_pair_long": "memorised"}
FIRST = {"image_pair_early": "image_head_early", "image_pair_long": "image_head_long"}
"""The recipe of the first study that a recipe repeats."""


STUDIES = ((STUDY, "image_pair_long"), (image_numbers.STUDY, FIRST["image_pair_long"]))
"""This study and the first one, where the votes are memorised."""


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


def row_of(recipe: str, quantity: str, k: str, method: str, checkpoint: str) -> dict[str, str]:
    """One primary outcome."""
    wanted = {"quantity": quantity, "K": k, "method": method, "checkpoint": checkpoint}
    [row] = [row for row in rows(recipe).values() if all(row[name] == value for name, value in wanted.items())]
    return row


def both(recipe: str) -> Iterator[tuple[tuple[str, ...], dict[str, str], dict[str, str]]]:
    """Each outcome, in the first study and in this one."""
    here = rows(recipe)
    for row in image_numbers.primary_rows(FIRST[recipe]):
        key = tuple(row[name] for name in OUTCOME)
        yield key, row, here[key]


def outcomes(*names: str) -> list[int]:
    """How many outcomes the first study decided and left undecided, and what this one says of those that it decided."""
    pairs = [pair for recipe in REGIMES for pair in both(recipe)]
    decided = [(key, *statuses) for key, *statuses in pairs if statuses[0]["status"] != "inconclusive"]
    undecided = [there["status"] for _, here, there in pairs if here["status"] == "inconclusive"]
    assert set(undecided) == {"inconclusive"}
    lost = [(key, first) for key, first, second in decided if first["status"] != second["status"]]
    assert all(second["status"] == "inconclusive" for _, first, second in decided if first["status"] != second["status"])
    unlearnt = [key for key, first in lost if (first["status"], first["checkpoint"]) == ("contradicted", "selected epoch")]
    counts = {
        "all": len(pairs),
        "decided": len(decided),
        "undecided": len(undecided),
        "lost": len(lost),
        "unlearnt": len(unlearnt),
    }
    counts["same"] = counts["decided"] - counts["lost"]
    return [counts[name] for name in names]


def median_epoch(study: Registered, recipe: str, method: str) -> float:
    """The median epoch that the runs with all votes selected, counted from 1."""
    return float(np.median([study.results[recipe, method, "all", seed]["best"]["epoch"] for seed in study.whole(recipe)])) + 1


def spelt(number: int) -> str:
    return ONES[number - 3]


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


def curvature_table() -> list[str]:
    """Largest eigenvalue and trace."""
    return [line for recipe, word in REGIMES.items() for line in PROBED.curvature_table(recipe, word, form="{:,.1f}")]


def auroc_table() -> list[str]:
    """Outlier detection."""
    return [line for recipe, word in REGIMES.items() for line in PROBED.auroc_table(recipe, word)]


def passes_table() -> list[str]:
    """Multipass minus SLS, by pass."""
    return pass_table(STUDY, "image_pair_long")


def unpredicted_statements() -> Iterator[Statement]:
    """Multipass by pass, and the epoch at which SLS is at its best."""
    _, late = REGIMES
    yield says("first pass of {} epochs", ONES[PASS - 3])
    narrow, wide = (float(row_of(late, "soft NLL", "5", "sls", at)["margin"]) for at in ("selected epoch", "last epoch"))
    assert all(first_pass(STUDY, late, PASS, narrow))
    assert second_pass_is_of_no_matter(STUDY, late, PASS, wide)
    yield says("what pass {} loses is of", 2)
    yield says("SLS with the same {} votes", ONES[PASS - 3])
    lead = -by_pass(STUDY, late, "sls", "5")
    assert lead.mean(0).argmax() == 2
    assert (np.diff(lead.mean(0)[2:]) < 0).all()
    lost = lead[:, 2] - lead[:, -1]
    text = "is largest in pass {} and shrinks from there on, by {:.3f} nat until pass {} (in {} of {} seeds)"
    yield says(text, 3, lost.mean(), lead.shape[1], (lost > 0).sum(), len(lost))
    yield says("each pass; in brackets the seeds above {}:", 0)
    later = [[delays(STUDY, recipe, milestone) for recipe in REGIMES] for milestone in MILESTONES]
    near, best = ([gaps.mean() for gaps in pair] for pair in later)
    text = "within {} % of its best {:.2f} epochs later than soft labels where training stops early and {:.2f} where"
    yield says(text, 5, *near)
    yield says("is at its best {:.2f} and {:.2f} epochs later", *best)
    assert min(both_p(gaps)[1] for pair in later for gaps in pair) > 0.05
    yield says("none of these differs from {}", 0)


def probe_statements() -> Iterator[Statement]:
    """What is said of the probes."""
    early, late = REGIMES
    seeds = PROBED.whole(early)
    assert seeds == PROBED.whole(late)
    yield says("Probed were seeds {} to {}", seeds[0], seeds[-1])
    again = [
        abs(PROBED.values(*cell, at=at, seeds=seeds) - STUDY.values(*cell, at=at, seeds=seeds))
        for cell in [(recipe, *one) for recipe in REGIMES for one in STUDY.primary]
        for at in ("best", "last")
    ]
    yield says("differs from the published one by {:.4f} nat on average and {:.4f} at most", np.mean(again), np.max(again))
    lower = {
        (recipe, method, k, quantity): int(np.sum(hard < soft))
        for recipe, method, k, quantity in product(REGIMES, HARD, ("5", "all"), ("full/lambda_max", "full/trace"))
        for hard, soft in [
            [PROBED.probe_values(recipe, "hessian", "last", quantity, one, k) for one in (method, "soft")],
        ]
    }
    assert sorted(lower.values()) == [4] + [5] * 15
    assert lower[early, "multipass", "5", "full/lambda_max"] == 4
    yield says("but {} of {} for", "four", "five")
    barrier = "full/barrier_interpolated_bn"
    cells = list(product(REGIMES, ("best", "last"), ("5", "all")))
    line = [PROBED.pair_values(recipe, "barrier", at, barrier, "sls", "soft", k, same_seed=True).max() for recipe, at, k in cells]
    between = [
        PROBED.pair_values(recipe, "barrier", at, barrier, one, one, k).mean()
        for recipe, at, k in cells
        for one in ("sls", "soft")
    ]
    yield says("rises by more than {:.4f} nat", np.ceil(1e4 * max(line)) / 1e4)
    yield says("({:.3f} to {:.3f} nat on average)", min(between), max(between))
    for quantity, method, k in product(AUROC, HARD, ("5", "all")):
        hard, soft = (PROBED.probe_values(late, "ood", "last", quantity, one, k) for one in (method, "soft"))
        assert (hard > soft).all()
    elsewhere = [
        (PROBED.probe_values(recipe, "ood", at, *cell) - PROBED.probe_values(recipe, "ood", at, cell[0], "soft", cell[2])).mean()
        for recipe, at in product(REGIMES, ("best", "last"))
        if (recipe, at) != (late, "last")
        for cell in product(AUROC, HARD, ("5", "all"))
    ]
    assert max(map(abs, elsewhere)) < 0.010
    yield says("to soft labels are less than {:.3f}", 0.010)
    [settings] = {
        json.loads(content)["settings"]["max_items"] for content in read_files(PROBED.folder, "diagnostics/ood.json").values()
    }
    yield says("({:,} images of each", settings)
    yield says("With {} seeds no exact", "five")


def statements() -> Iterator[Statement]:
    """The prose."""
    yield from probe_statements()
    yield from unpredicted_statements()
    early, late = REGIMES
    for study, recipe, text in (
        (STUDY, early, "have accuracy {:.3f} and soft NLL {:.3f} with soft labels"),
        (image_numbers.STUDY, FIRST[early], "(there: {:.3f} and {:.3f}). Nothing"),
    ):
        yield says(text, *(study.values(recipe, "soft", "all", metric).mean() for metric in ("hard_acc", "soft_nll")))
    seeds = STUDY.whole(early)
    assert seeds == STUDY.whole(late) == list(range(20, 40))
    yield says("on {} new seeds ({} to {}; {} runs)", len(seeds), seeds[0], seeds[-1], len(STUDY.results))
    text = "Of the {} outcomes that the first study decided, {} have the same status here and {} are undecided"
    yield says(text, *outcomes("decided", "same", "lost"))
    assert {recipe for recipe in REGIMES for _, first, here in both(recipe) if first["status"] != here["status"]} == {late}
    yield says("All {} are of the memorised regime, and {} of them were contradicted", *map(spelt, outcomes("lost", "unlearnt")))
    yield says("The {} outcomes that the first study left", *outcomes("undecided"))
    counted = outcomes("same", "undecided", "all")
    yield says("has these too, {} of {} are repeated", counted[0] + counted[1], counted[2])
    few, full = ([-STUDY.gaps(late, method, k, at="last") for method in HARD] for k in ("5", "all"))
    assert all((gaps > 0).all() for gaps in (*few, *full))
    yield says("SLS and multipass end {:.3f} and {:.3f} nat below soft labels, in every seed", *(gaps.mean() for gaps in few))
    first = [-image_numbers.STUDY.gaps(FIRST[late], method, "5", at="last").mean() for method in HARD]
    yield says("in every seed (there: {:.3f} and {:.3f})", *first)
    yield says("With all votes it is {:.3f} and {:.3f}, in every seed", *(gaps.mean() for gaps in full))
    left = [row_of(late, "soft NLL after one temperature", "5", method, "last epoch") for method in HARD]
    yield says("per network {:.3f} nat are left for SLS", -float(left[0]["difference"]))
    yield says(
        "are left for SLS and {:.3f} for multipass. Both means are within the margin of {:.3f}; only",
        -float(left[1]["difference"]),
        float(left[0]["margin"]),
    )
    assert all(float(row["difference"]) > -float(row["margin"]) for row in left)
    assert [row["of_no_matter"] for row in left] == ["True", "False"]
    there = [image_numbers.row_of(FIRST[late], "soft NLL after one temperature", "5", m, "last epoch") for m in HARD]
    yield says("than in the first study ({:.3f} and {:.3f})", *(-float(row["difference"]) for row in there))
    assert all(image_numbers.holds_nowhere(list(rows(recipe).values())) for recipe in REGIMES)
    yield says("Families {} to {} of the primary outcomes", 3, 6)
    yield from margin_statements()
    text = "its median is {:g} of {} epochs for multipass and {:g} for SLS, and {:g} for soft labels"
    here, there = ([median_epoch(*study, method) for method in ("multipass", "sls", "soft")] for study in STUDIES)
    yield says(text, here[0], 30, *here[1:])
    yield says("In the first study it was {:g}, {:g} and {:g} (counted from {})", *there, 1)
    there = image_numbers.STUDY.gaps(FIRST[late], "multipass", "all")
    assert (there > 0).all()
    here = STUDY.gaps(late, "multipass", "all")
    text = "It was {:.3f} nat behind there, in every seed; here it is {:.3f} nat behind, in {} of {} seeds"
    yield says(text, there.mean(), here.mean(), (here > 0).sum(), len(seeds))
    behind = [STUDY.gaps(late, "sls", k) for k in ("all", "5")]
    assert (behind[1] > 0).all()
    yield says("again in {} of {} seeds with all votes", (behind[0] > 0).sum(), len(seeds))
    yield says("by {:.3f} and {:.3f} nat, which the corrected", *(gaps.mean() for gaps in behind))
    selected = [row_of(late, "soft NLL", k, method, "selected epoch") for k in ("all", "5") for method in HARD]
    assert not any(row["shown"] == "True" for row in selected)  # the page of the first study says so, too
    lost = [float(row_of(late, quantity, "all", "majority", "last epoch")["difference"]) for quantity in SCALES]
    yield says("one temperature makes {:.3f} of {:.3f} nat up", lost[0] - lost[1], lost[0])
    losses = [training_loss(late, method, "5") for method in ("soft", *HARD)]
    yield says("ends at {:.3f} with soft labels, {:.3f} with SLS and {:.3f} with multipass (K = 5)", *losses)
    better = row_of(early, "soft NLL", "5", "multipass", "last epoch")
    assert (
        better["status"]
        == image_numbers.row_of(FIRST[early], "soft NLL", "5", "multipass", "last epoch")["status"]
        == "supported"
    )
    yield says("is, by {:.4f} nat with a margin of {:.4f}", -float(better["difference"]), float(better["margin"]))
    yield says(
        "are the {} % intervals of the corrected t-test, which decide whether a difference is of no matter; tests are at {}",
        90,
        0.05,
    )
    yield says("difference | {} % interval", 90)
    yield says("are the {:,} of the first study", 10_000)


def margin_statements() -> Iterator[Statement]:
    """What depends on the error of a margin."""
    early, late = REGIMES
    ends = ("status", "status_narrow", "status_wide")
    hanging = {key: row for recipe in REGIMES for key, row in rows(recipe).items() if len({row[end] for end in ends}) > 1}
    yield says("{} statuses change", len(hanging))
    one = row_of(early, "soft NLL", "all", "multipass", "last epoch")
    assert one["status_wide"] == "supported"
    two = [row_of(late, "soft NLL after one temperature", "5", method, "last epoch") for method in HARD]
    assert [[row[end] for row in two] for end in ends[1:]] == [["supported"] * 2, ["inconclusive"] * 2]
    assert all(row in hanging.values() for row in (one, *two))


SCALES = ("soft NLL", "soft NLL after one temperature")
"""Before and after."""


def first_study_statements() -> Iterator[Statement]:
    """What the page of the first study says of this one."""
    yield says("mirrored copies and {} other seeds", len(STUDY.whole("image_pair_long")))
    text = "Of the {} primary outcomes that were decided here, {} have the same status there and {} are undecided"
    yield says(text, *outcomes("decided", "same", "lost"))
    yield says("Of those {}, {} are differences that were contradicted", *map(spelt, outcomes("lost", "unlearnt")))
    yield says("The {} that were undecided here", *outcomes("undecided"))


def readme_statements() -> Iterator[Statement]:
    """What the README says of it."""
    gains = [-STUDY.gaps("image_pair_long", method, "5", at="last").mean() for method in HARD]
    yield says("and {} other seeds, {:.3f} and {:.3f}.", len(STUDY.whole("image_pair_long")), *gains)
    assert not any(image_numbers.differing_at_the_selected_epoch(rows(recipe).values()) for recipe in REGIMES)


TABLES = (table, primary_table, differing_table, curvature_table, auroc_table, passes_table)

if __name__ == "__main__":
    for made in TABLES:
        print("\n".join([*made(), ""]))
