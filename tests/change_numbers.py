"""The numbers of ``docs/results/image_change.md``, recomputed from the records in ``results/image_change``.

``python -m tests.change_numbers`` prints the tables of the page.
"""

import csv
from collections.abc import Iterator
from itertools import product

import numpy as np

from tests import image_numbers
from tests.evidence_numbers import Part
from tests.mechanism_numbers import both_p
from tests.numbers import Statement, says
from tests.registered_numbers import Registered, primary_lines

METHODS = ("soft", "majority", "sls", "multipass")
HARD = image_numbers.HARD
VOTES = ("2", "5", "10", "all")
RECIPE = "image_pair_long"
STUDY = Registered("image_change", list(product(METHODS, VOTES)))
HERE, FIRST = Part(STUDY, RECIPE), Part(image_numbers.STUDY, "image_head_long")
"""This study, and the one that gave the question."""


def gaps(a: str, b: str, k: str, at: str = "last", part: Part = HERE) -> np.ndarray:
    """(seeds,) soft NLL after one temperature per network: one method minus another one."""
    return part.gaps("soft_nll_t", a, b, k)(at)


def tempered_table() -> list[str]:
    """Each method minus soft labels and minus majority labels, by K, after a temperature at the last epoch."""
    lines = []
    for a, b in (("majority", "soft"), *product(HARD, ("soft", "majority"))):
        cells = [f"{one.mean():+.4f} ({(one < 0).sum()})".replace("-", "−") for one in (gaps(a, b, k) for k in VOTES)]
        lines.append("| " + " | ".join([f"`{a}` − `{b}`", *cells]) + " |")
    return lines


def score_table() -> list[str]:
    """What the networks are at the last epoch, by K and method."""
    lines = []
    for k, method in product(VOTES, METHODS):
        values = [STUDY.values(RECIPE, method, k, metric, "last").mean() for metric in ("soft_nll", "hard_acc", "ent_corr")]
        tempered = np.mean([HERE.score("soft_nll_t", method, k, seed, "last") for seed in STUDY.whole(RECIPE)])
        lines.append("| " + " | ".join([k, f"`{method}`", *(f"{one:.3f}" for one in (values[0], tempered, *values[1:]))]) + " |")
    return lines


def primary_table() -> list[str]:
    """The primary outcomes."""
    return primary_lines(STUDY.folder / "report")


def rows() -> dict[tuple[str, str, str], dict[str, str]]:
    """K, method and checkpoint to a primary outcome."""
    found = csv.DictReader((STUDY.folder / "report/primary.csv").read_text().splitlines())
    return {(row["K"], row["method"], row["checkpoint"]): row for row in found}


def share(part: Part, method: str, k: str = "5") -> float:
    """How much of a method's lead over soft labels majority labels have, too."""
    return gaps("majority", "soft", k, part=part).mean() / gaps(method, "soft", k, part=part).mean()


def statements() -> Iterator[Statement]:
    """The prose."""
    seeds = STUDY.whole(RECIPE)
    yield says("on {} seeds that no study here had used ({} to {}; {} runs)", len(seeds), seeds[0], seeds[-1], len(STUDY.results))
    found = rows()
    late = {key: row for key, row in found.items() if key[2] == "last epoch"}
    assert all(row["status"] == "supported" for row in late.values())
    yield says("All {} comparisons of the last epoch", "nine")
    assert len(late) == 9
    fixed = {k: gaps("majority", "soft", k) for k in VOTES}
    yield says("are {:.3f} nat below soft labels with K = 5 and {:.3f} with K = 10", -fixed["5"].mean(), -fixed["10"].mean())
    yield says("With K = 2 they are {:.3f} nat above", fixed["2"].mean())
    yield says("in {} and {} of {} seeds", (fixed["5"] < 0).sum(), (fixed["10"] < 0).sum(), len(seeds))
    assert (fixed["2"] > 0).all()
    added = {(m, k): -gaps(m, "majority", k).mean() for m in HARD for k in VOTES}
    text = "below majority labels with K = 5, {:.3f} and {:.3f} with K = 10, and {:.3f} and {:.3f} with K = 2"
    yield says(f"SLS and multipass are {{:.3f}} and {{:.3f}} nat {text}", *(added[m, k] for k in ("5", "10", "2") for m in HARD))
    parts = [100 * share(HERE, m) for m in HARD]
    yield says(
        "majority labels have {:.0f} % of the lead that SLS has over soft labels, and {:.0f} % of that of multipass", *parts
    )
    ten = [100 * share(HERE, m, "10") for m in HARD]
    yield says("with K = 10 it is {:.0f} and {:.0f} %", *ten)
    there = [100 * share(FIRST, m) for m in HARD]
    yield says("(in the images study {:.0f} and {:.0f} %)", *there)
    yield says("{:.2f} (there {:.2f}), where", share(HERE, "sls"), share(FIRST, "sls"))
    full = fixed["all"]
    assert max(both_p(full)) < 0.001
    yield says("{:.3f} nat behind soft labels with all votes", full.mean())
    plain = {m: STUDY.gaps(RECIPE, m, "5", at="last").mean() for m in METHODS}
    text = "As trained, with K = 5, majority labels end {:.3f} nat behind soft labels, SLS and multipass {:.3f} and {:.3f} ahead"
    yield says(text, plain["majority"], -plain["sls"], -plain["multipass"])
    doubt = [STUDY.values(RECIPE, m, "5", "ent_corr", "last").mean() for m in METHODS]
    text = "is {:.3f} with majority labels, {:.3f} with soft labels, {:.3f} with SLS and {:.3f} with multipass"
    yield says(text, doubt[1], doubt[0], *doubt[2:])
    early = {key: row for key, row in found.items() if key[2] == "selected epoch"}
    behind = [float(early[k, "majority", "selected epoch"]["difference"]) for k in ("2", "5", "10")]
    assert all(row["shown"] == "True" for key, row in early.items() if key[1] == "majority")
    yield says("majority labels are {:.3f} to {:.3f} nat behind soft labels at every K", min(behind), max(behind))
    shown = [key for key, row in early.items() if key[1] == "multipass − majority" and row["status"] == "supported"]
    assert len(shown) == 3
    assert all(early[k, "sls − majority", "selected epoch"]["status"] == "inconclusive" for k in ("2", "5", "10"))
    epochs = [STUDY.results[RECIPE, "soft", k, seed]["best"]["epoch"] + 1 for k in VOTES for seed in seeds]
    yield says("median {:g} of {} epochs", np.median(epochs), 30)
    lines = [("5", "majority labels below soft labels | yes"), ("10", "majority labels below soft labels | yes")]
    for k, line in (*lines, ("2", "majority labels above soft labels | yes")):
        values = [gaps("majority", "soft", k, part=part).mean() for part in (HERE, FIRST)]
        yield says(f"K = {k}: {line} ({{:+.3f}}; there {{:+.3f}})", *values)
    for k, (method, name) in product(("5", "10", "2"), zip(HARD, ("SLS", "multipass"), strict=True)):
        line = ", or undecided | below" if k == "5" else " | yes"
        values = [gaps(method, "majority", k, part=part).mean() for part in (HERE, FIRST)]
        yield says(f"K = {k}: {name} below majority labels{line} ({{:+.3f}}; there {{:+.3f}})", *values)
    yield says("in brackets the seeds below {}.", 0)
    yield says("difference | {} % interval", 90)
    yield says("are {} % intervals of the corrected t-test; tests are at {}", 90, 0.05)
    yield says("{:g} % of the gap", 2.5)
    yield says("the {:,} of the other studies", 10_000)
    assert len({row["status"] for row in found.values()} - {"supported", "contradicted", "inconclusive"}) == 0
    assert all(row["status"] == row["status_narrow"] == row["status_wide"] for row in found.values())


def readme_statements() -> Iterator[Statement]:
    """What the README says of it."""
    assert all(rows()["5", one, "last epoch"]["status"] == "supported" for one in ("majority", "sls − majority"))
    text = "too are then below soft labels, by {:.3f} nat, and SLS by {:.3f}, all of it significant ([{} more seeds]"
    yield says(text, *(-gaps(method, "soft", "5").mean() for method in ("majority", "sls")), len(STUDY.whole(RECIPE)))


TABLES = (tempered_table, score_table, primary_table)

if __name__ == "__main__":
    for made in TABLES:
        print("\n".join([*made(), ""]))
