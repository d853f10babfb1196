"""The numbers of ``docs/results/finetune.md``, recomputed from the records in ``results/finetune``.

``python -m tests.finetune_numbers`` prints the table of the page.
"""

import json
from collections import Counter
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
    """``result.json`` by data set, method and seed, with what ``derived.json`` has and the commit that trained it."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for archive in sorted(FOLDER.glob("*/text_finetune_cpu.tar.xz")):
        for name, content in read_members(archive):
            method, _, seed, *rest = name.split("/")
            run = found.setdefault((archive.parent.name, method, int(seed[5:])), {})
            if rest == ["result.json"]:
                run |= json.loads(content)
            elif rest == ["derived.json"]:
                run["derived"] = json.loads(content)
            elif rest == ["environment.json"]:
                run["code"] = json.loads(content)[-1]["code"]
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
    brexit, popquorn, agreement = DATA
    assert all(whole(data) == list(range(SEEDS)) for data in DATA)
    yield says("{} epochs on at most {:,} texts", 5, 1000)
    yield says("All {} planned runs", len(results()))
    yield says("are published, {} seeds of each method", SEEDS)
    leads = {(data, method): [-gaps(data, method, at=at) for at in EPOCHS] for data in DATA for method in METHODS}

    def mean(data: str, method: str) -> list[float]:
        return [lead.mean() for lead in leads[data, method]]

    def ahead(data: str, method: str) -> list[int]:
        return [(lead > 0).sum() for lead in leads[data, method]]

    text = "below soft labels by {:.4f} and {:.4f} nat on POPQUORN (selected and last epoch; in {} and {} of {} seeds)"
    yield says(text, *mean(popquorn, "multipass"), *ahead(popquorn, "multipass"), SEEDS)
    yield says("and by {:.4f} and {:.4f} on MD-Agreement (in every seed)", *mean(agreement, "multipass"))
    assert ahead(agreement, "multipass") == [SEEDS, SEEDS]
    text = "On HS-Brexit it is above by {:.4f} and {:.4f} (below in {} and {} of {} seeds)"
    yield says(text, *(-lead for lead in mean(brexit, "multipass")), *ahead(brexit, "multipass"), SEEDS)
    yield says(
        "it is {:.4f} and {:.4f} nat below soft labels on POPQUORN and MD-Agreement",
        *(mean(data, "sls")[1] for data in (popquorn, agreement)),
    )
    assert all(ahead(data, "sls")[1] == SEEDS for data in (popquorn, agreement))
    yield says(
        "it is {:.4f} above on POPQUORN and {:.4f} below on MD-Agreement (below in {} and {} of {} seeds)",
        -mean(popquorn, "sls")[0],
        mean(agreement, "sls")[0],
        *(ahead(data, "sls")[0] for data in (popquorn, agreement)),
        SEEDS,
    )
    assert max(*mean(brexit, "sls"), *mean(brexit, "multipass")) < 0
    yield says("it is above, by {:.4f} and {:.4f}, in every seed", *(-lead for lead in mean(brexit, "sls")))
    assert ahead(brexit, "sls") == [0, 0]
    left = {(data, method): [gaps(data, method, "soft_nll_t", at).mean() for at in EPOCHS] for data, method in leads}
    assert all(value < 0 for data in (popquorn, agreement) for value in left[data, "multipass"])
    assert left[agreement, "sls"][1] > 0
    assert {epoch(popquorn, "soft", seed) for seed in range(SEEDS)} == {1}  # counted from 0: the second
    assert {epoch(agreement, "soft", seed) for seed in range(SEEDS)} == {1, 3}
    last = [sum(epoch(data, "multipass", seed) == 4 for seed in range(SEEDS)) for data in (popquorn, agreement)]
    yield says("multipass selects the last one in {} and {} of {} seeds", *last, SEEDS)
    lost = np.array([[-value for value in mean(data, "majority")] for data in DATA])
    assert all(ahead(data, "majority") == [0, 0] for data in DATA)
    text = "by {:.3f} to {:.3f} nat at the selected epoch and {:.3f} to {:.3f} at the last one"
    yield says(text, *(bound for column in lost.T for bound in (column.min(), column.max())))
    runs = [results()[popquorn, "majority", seed] for seed in range(SEEDS)]
    useless = sum(not beats_class_shares(run) for run in runs)
    yield says("no better than the class shares in {} of {} seeds", useless, SEEDS)
    yield says(
        "correlation with soft labels is {:.2f}, {:.2f} and {:.2f}", *(values(data, "soft", "ent_corr").mean() for data in DATA)
    )
    yield says("With {} seeds no exact test", SEEDS)
    sessions = Counter(results()[popquorn, method, seed]["code"] for method in METHODS for seed in range(SEEDS))
    yield says("{} of the {} runs of POPQUORN", max(sessions.values()), sessions.total())
    yield says("than the\nother {}: computing", min(sessions.values()))
    assert len(sessions) == 2
    yield says("stay within {:.4f} nat of soft labels", 0.0024)  # that page's own number, recomputed there


def epoch(data: str, method: str, seed: int) -> int:
    """The selected epoch, counted from 0."""
    return results()[data, method, seed]["best"]["epoch"]


def beats_class_shares(run: dict[str, Any]) -> bool:
    """Whether its soft NLL at the selected epoch is below that of the class shares of the training votes."""
    return run["best"]["full"]["soft_nll"] < run["prior"]["full"]["soft_nll"]


def readme_statements() -> Iterator[Statement]:
    """What the README says of it."""
    yield says("({} seeds, no test), multipass", SEEDS)
    first, *two = DATA
    leads = [-gaps(data, "multipass").mean() for data in two]
    yield says("multipass is {:.3f} and {:.3f} nat below soft labels on two data sets and level", *leads)
    assert all((gaps(first, "sls", at=at) > 0).all() for at in EPOCHS)
    yield says("up to {:.3f} nat on texts", max(gaps(data, "majority").mean() for data in DATA))


if __name__ == "__main__":
    print("\n".join(table()))
