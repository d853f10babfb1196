"""The numbers of ``docs/results/images.md``, recomputed from the records in ``results/images``.

``python -m tests.image_numbers`` prints the tables of the page.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import yaml

from tests.mechanism_numbers import (
    MILESTONES,
    PASS,
    both_p,
    by_pass,
    correlations,
    delays,
    epochs,
    first_pass,
    mean_and_above,
    pass_table,
    second_pass_is_of_no_matter,
)
from tests.numbers import ONES, Statement, says
from tests.registered_numbers import AUROC, ROOT, Registered, primary_lines, read_files

HARD = ("sls", "multipass")
REGIMES = {"image_head_early": "early", "image_head_long": "memorised"}
STUDY = Registered("images", [*product(("soft", "sls", "multipass"), ("5", "all")), ("majority", "all")])
EPOCHS = {"best": "selected", "last": "last"}
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


def primary_rows(recipe: str, look: str = "report") -> list[dict[str, str]]:
    """The primary outcomes for machines: of the committed report, of the first look, or of the seeds that it had not seen."""
    return list(csv.DictReader(io.StringIO((STUDY.folder / look / f"cifar10h_{recipe}/primary.csv").read_text())))


OUTCOME = ("quantity", "claim", "K", "method", "checkpoint")
LOOKS = {"first look": "looks/first", "unseen seeds": "looks/unseen", "all seeds": "report"}


def looks_table() -> list[str]:
    """The outcomes whose status is not the same in the first look, on the unseen seeds and on all of them."""
    lines = []
    for recipe, word in REGIMES.items():
        looks = [{tuple(row[name] for name in OUTCOME): row for row in primary_rows(recipe, look)} for look in LOOKS.values()]
        for key in looks[0]:
            rows = [look[key] for look in looks]
            if len({row["status"] for row in rows}) > 1:
                said = [f"{float(row['difference']):+.4f} {row['status']}".replace("-", "−") for row in rows]
                lines.append("| " + " | ".join([word, *key, *said]) + " |")
    return lines


SWEEP = ("sls", "multipass", "deterministic_control", "stratified_sls", "majority")
BUDGETS = ("1", "2", "5", "10", "25", "50", "all")
OTHERS = ("shuffled_sls", "label_smoothing", "mixup", "sls,hold=5", "sls,hold=10", "sls,hold=50")


def sweep_table() -> list[str]:
    """Soft NLL minus that of soft labels by method and K: a line for each regime, checkpoint and method."""
    lines = []
    for recipe, word in REGIMES.items():
        for at, epoch in EPOCHS.items():
            soft = [f"{STUDY.values(recipe, 'soft', k, at=at).mean():.3f}" for k in BUDGETS]
            lines.append("| " + " | ".join([word, epoch, "`soft`, its soft NLL", *soft]) + " |")
            for method in SWEEP:
                cells = [STUDY.gap(recipe, method, k, at) for k in BUDGETS]
                lines.append("| " + " | ".join([word, epoch, f"`{method}`", *cells]) + " |")
    return lines


def others_table() -> list[str]:
    """The other methods with all votes: soft NLL minus that of soft labels, accuracy, entropy correlation."""
    return [STUDY.line(recipe, method, "all", word, f"`{method}`") for recipe, word in REGIMES.items() for method in OTHERS]


def curvature_table() -> list[str]:
    """Largest eigenvalue and trace, by regime."""
    return [line for recipe, word in REGIMES.items() for line in STUDY.curvature_table(recipe, word, form="{:.1f}")]


def auroc_table() -> list[str]:
    """Outlier detection, by regime."""
    return [line for recipe, word in REGIMES.items() for line in STUDY.auroc_table(recipe, word)]


LINES = {
    "all images": ("full", False),
    "at equal annotator entropy": ("full", True),
    "disputed images": ("high_disagreement", False),
}
"""Of the table on the distance of the votes: which images, and whether annotator entropy is held constant."""


def distance_table() -> list[str]:
    """Spearman correlation of the distance of an image's K votes from all of its votes and the gain, by K."""
    lines = []
    for (words, (view, given)), method in product(LINES.items(), HARD):
        found = [correlations(STUDY, "image_head_long", method, k, view=view, given_entropy=given) for k in BUDGETS[1:-1]]
        lines.append("| " + " | ".join([words, f"`{method}`", *(mean_and_above(values, 2) for values in found)]) + " |")
    return lines


def passes_table() -> list[str]:
    """Multipass minus SLS, by pass."""
    return pass_table(STUDY, "image_head_long")


def row_of(recipe: str, quantity: str, k: str, method: str, checkpoint: str) -> dict[str, str]:
    """One primary outcome."""
    wanted = {"quantity": quantity, "K": k, "method": method, "checkpoint": checkpoint}
    [row] = [row for row in primary_rows(recipe) if all(row[name] == value for name, value in wanted.items())]
    return row


def shown_at_the_selected_epoch() -> tuple[int, int]:
    """In the memorised regime, of SLS and multipass before any temperature: how many differences are shown, and of how many."""
    rows = [row for row in primary_rows("image_head_long") if row["quantity"] == "soft NLL" and row["method"] in HARD]
    rows = [row for row in rows if row["checkpoint"] == "selected epoch"]
    return sum(row["shown"] == "True" for row in rows), len(rows)


def cka(recipe: str, at: str, k: str, method: str) -> float:
    """How alike two seeds of a method are, on average."""
    return float(STUDY.pair_values(recipe, "cka", at, "full/cka", method, method, k).mean())


def crossing_statements() -> Iterator[Statement]:
    """Where the mean curves of the memorised regime cross; epochs count from 1."""
    _, late = REGIMES
    histories = read_files(STUDY.folder, "history.csv")

    def curve(method: str, k: str) -> np.ndarray:
        files = [io.StringIO(histories[late, method, k, seed].decode()) for seed in STUDY.whole(late)]
        return np.mean([[float(row["evaluate/soft_nll"]) for row in csv.DictReader(file)] for file in files], axis=0)

    lowest = {int(curve("soft", k).argmin()) + 1 for k in BUDGETS[1:]}
    yield says("is lowest at epoch {} or {}", *sorted(lowest))
    since = {}
    for method in HARD:
        for k in BUDGETS[1:]:
            behind = np.flatnonzero(curve(method, k) >= curve("soft", k))
            since[method, k] = int(behind[-1]) + 2  # the epoch after the last one behind, from 1
            assert list(behind) == list(range(len(behind)))
        assert sorted(found := [since[method, k] for k in BUDGETS[1:]]) == found
    text = "ahead on average from epoch {} on with K = 2, from epoch {} on with K = 5 and from epoch {} on with all votes"
    yield says(text, *(since["multipass", k] for k in ("2", "5", "all")))
    yield says("SLS from epochs {}, {} and {} on", *(since["sls", k] for k in ("2", "5", "all")))


def always_ahead(recipe: str, detector: str) -> bool:
    """Whether hard delivery detects outliers better than soft labels in every probed seed: one detector, at the last epoch."""
    return all(
        (
            np.subtract(
                *(STUDY.probe_values(recipe, "ood", "last", f"{name}/{detector}/auroc", one, k) for one in (method, "soft"))
            )
            > 0
        ).all()
        for name, method, k in product(("svhn", "cifar100"), HARD, ("5", "all"))
    )


ONE_CLAIM = {("soft NLL", "worse"), ("soft NLL after one temperature", "same"), ("soft NLL after one temperature", "better")}
"""Quantity and claim of families 3 to 6, which are registered as one claim of ours."""


def distance_statements() -> Iterator[Statement]:
    """On which images hard delivery gains; what is said of single correlations stands in the table."""
    early, late = REGIMES
    published = yaml.safe_load((ROOT / "hardlabels/reporting/published.yaml").read_text())["table1_sparse_soft_nll"]["facts"]
    low, high = published["js_improvement_spearman"]
    few = [correlations(STUDY, late, method, "5") for method in HARD]
    assert all((values > 3 * high).all() for values in few)
    assert {len(values) for values in few} == {5}
    text = "(Spearman correlation {:.2f} for SLS and {:.2f} for multipass; published: {:.2f} to {:.2f})"
    yield says(text, *(values.mean() for values in few), low, high)
    yield says("farther the {} votes of a training image", "five")
    yield says("over soft labels is {:.2f} to {:.2f} in each of its seeds", low, high)
    yield says("mean correlation over {} seeds ({} to {}), in brackets the seeds above {}", "five", 0, 4, 0)
    assert all((correlations(STUDY, late, m, k, view="high_disagreement").mean() > 0) for m in HARD for k in BUDGETS[1:-1])
    given = [[correlations(STUDY, late, method, k, given_entropy=True).mean() for method in HARD] for k in ("2", "5")]
    assert max(given[0]) < 0.03
    yield says("At equal entropy {:.2f} and {:.2f} are left at K = 5", *given[1])
    most = [correlations(STUDY, late, method, "50").mean() for method in HARD]
    assert max(most) < 0
    yield says("at K = 50 it is below {}", 0)
    plain, held = (
        [correlations(STUDY, late, method, "5", items="evaluate", given_entropy=one).mean() for method in HARD]
        for one in (False, True)
    )
    yield says("there it is {:.2f} and {:.2f} at K = 5 over all images, and {:.2f} and {:.2f} at equal entropy", *plain, *held)
    yield says("it is {:.2f} and {:.2f} on evaluation images", *plain)
    selected = [correlations(STUDY, late, method, k, at="best").mean() for method in HARD for k in BUDGETS[1:-1]]
    yield says("the means lie between {:+.2f} and {:+.2f}", min(selected), max(selected))
    stopped = [correlations(STUDY, early, method, "5") for method in ("multipass", "sls")]
    assert (stopped[0] > 0).all()
    yield says("multipass has it at the last epoch ({:.2f} at K = 5), and SLS has not ({:.2f})", *(s.mean() for s in stopped))
    yield says("With {} seeds all of this is description", "five")
    yield says("with few votes, in each of {} seeds, and much", "five")


def pass_statements() -> Iterator[Statement]:
    """Multipass against SLS, by pass; what is said of single passes stands in the table."""
    early, late = REGIMES
    yield says("first pass of {} epochs", ONES[PASS - 3])
    yield says("{} seeds, in brackets those above {}:", len(STUDY.whole(late)), 0)
    margins = {recipe: float(row_of(recipe, "soft NLL", "5", "sls", "selected epoch")["margin"]) for recipe in REGIMES}
    comparisons = {k: first_pass(STUDY, late, k, margins[late]) for k in (2, 5, 10)}
    assert [k for k, pair in comparisons.items() if not all(pair)] == [2]
    assert comparisons[2] == (False, True)
    results = [one for pair in comparisons.values() for one in pair]
    text = "{} of {} comparisons are shown (passes {} and {} with K = 2, 5 and 10), and not the equality in pass {} with K = 2"
    yield says(text, sum(results), len(results), 1, 2, 1)
    wide = float(row_of(late, "soft NLL", "5", "sls", "last epoch")["margin"])
    assert all(second_pass_is_of_no_matter(STUDY, late, k, wide) for k in comparisons)
    yield says("what pass {} loses is of", 2)
    assert not any(one for k in (2, 5) for one in first_pass(STUDY, early, k, margins[early]))
    assert by_pass(STUDY, early, "sls", "5").shape[1] == 2
    yield says("SLS with the same {} votes", ONES[PASS - 3])
    lead = -by_pass(STUDY, late, "sls", "5")
    assert (lead > 0).all()
    assert lead.mean(0).argmax() == 2
    assert (np.diff(lead.mean(0)[2:]) < 0).all()
    lost = lead[:, 2] - lead[:, -1]
    yield says("grows until pass {}, when", 3)
    text = "by {:.3f} nat until pass {}, in {} of {} seeds. (Pass {} was chosen"
    yield says(text, lost.mean(), lead.shape[1], (lost > 0).sum(), len(lost), 3)
    yield says("first passes, counted from {}; mean and {} % interval over {} seeds, without", 1, 95, len(lost))


def speed_statements() -> Iterator[Statement]:
    """Whether SLS is near its best, and at its best, before soft labels."""
    figures = yaml.safe_load((ROOT / "hardlabels/reporting/published.yaml").read_text())["figures"]["fig8_dynamics"]
    published = [figures[name] for name in ("sls_earlier_to_95pct_of_best", "sls_earlier_best_epoch")]
    yield says("near its best {} epochs before soft labels, and at its best {} epochs before them", *published)
    yield says("here, which has {} and {} epochs", 10, 30)
    assert min(published) > 30
    near = [epochs(STUDY, recipe, "near_best_epoch", "soft").mean() + 1 for recipe in REGIMES]  # the page counts from 1
    yield says("within {} % of their best at epoch {:.1f} in the early regime and at epoch {:.1f} in", 5, *near)
    later = [[delays(STUDY, recipe, milestone) for recipe in REGIMES] for milestone in MILESTONES]
    text = "comes there {:.2f} and {:.2f} epochs later, and is at its best {:.2f} and {:.2f} epochs later"
    yield says(text, *(gaps.mean() for pair in later for gaps in pair))
    assert min(both_p(gaps)[1] for pair in later for gaps in pair) > 0.05
    assert min(gaps.mean() for pair in later for gaps in pair) > 0
    yield says("none of these differs from {}", 0)


def holds_nowhere(rows: Sequence[dict[str, str]]) -> bool:
    """Whether that claim fails at both epochs of a regime, and with all votes by what one temperature leaves of the lead."""
    claim = [row for row in rows if (row["quantity"], row["claim"]) in ONE_CLAIM]
    left = [row for row in claim if row["claim"] == "better" and row["K"] == "all"]
    counted = Counter(row["checkpoint"] for row in claim)
    assert set(counted.values()) == {6}
    return (
        {row["checkpoint"] for row in left} == set(counted)
        and not any(row["status"] == "supported" for row in left)
        and all(float(row["difference"]) > 0 or row["of_no_matter"] == "True" for row in left)
    )


def statements() -> Iterator[Statement]:
    """The prose; what it says of single differences stands in the tables."""
    early, late = REGIMES
    paper = yaml.safe_load((ROOT / "hardlabels/reporting/published.yaml").read_text())
    nll, accuracy = (column[0] for column in paper["table3_hard_family"]["soft"][:2])
    mine = [STUDY.values(early, "soft", "all", metric).mean() for metric in ("hard_acc", "soft_nll")]
    yield says("accuracy {:.3f} and soft NLL {:.3f} (the paper's ResNet-18: {:.3f} and {:.3f})", *mine, accuracy, nll)
    seeds = {len(STUDY.whole(recipe)) for recipe in REGIMES}
    yield says("All {:,} runs of the plan are published: {} seeds", len(STUDY.results), *seeds)
    first = {recipe: int(primary_rows(recipe, LOOKS["first look"])[0]["n"]) for recipe in REGIMES}
    yield says("{} runs had been published before", sum(len(STUDY.primary) * n for n in first.values()))
    yield says("{} and {} seeds of the", *first.values())
    yield says("unseen seeds alone, {} to {},", 10, 19)
    assert {row["n"] for recipe in REGIMES for row in primary_rows(recipe, LOOKS["unseen seeds"])} == {"10"}

    gaps = {(m, k, at): STUDY.gaps(late, m, k, at=at) for m in HARD for k in BUDGETS[1:] for at in EPOCHS}
    assert all((gap < 0).all() for (_, _, at), gap in gaps.items() if at == "last")
    assert all(gap.mean() > 0 for (_, _, at), gap in gaps.items() if at == "best")
    assert {len(gap) for gap in gaps.values()} == {20}
    yield says("in {} of {} seeds at every K from {} on", 20, 20, 2)
    yield says("above soft labels on average at every K from {} on", 2)
    few, full = ([-gaps[method, k, "last"].mean() for method in HARD] for k in ("5", "all"))
    published = {method: paper["table1_sparse_soft_nll"][method]["nll"][0] for method in ("soft", *HARD)}
    gains = [published["soft"] - published[method] for method in HARD]
    assert all(mine > 5 * theirs for mine, theirs in zip(few, gains, strict=True))
    text = (
        "{:.3f} nat for SLS and {:.3f} for multipass with K = 5, several times what is published, which is {:.3f} and {:.3f} at"
    )
    yield says(text, *few, *gains)
    yield says("The paper trains for {} epochs", yaml.safe_load((ROOT / "conf/recipe/paper.yaml").read_text())["epochs"])
    yield says("{:.3f} and {:.3f} with all votes", *full)
    yield says("which ends {:.3f} nat ahead", -STUDY.gaps(early, "multipass", "5", at="last").mean())
    held = [f"sls,hold={epochs}" for epochs in (5, 10, 50)]
    assert not any((STUDY.gaps(recipe, one, "all", at=at) < 0).any() for recipe in REGIMES for one in held for at in EPOCHS)
    assert sorted(held, key=lambda one: STUDY.gaps(late, one, "all", at="last").mean()) == held
    yield says("held for {}, {} or {} epochs", 5, 10, 50)
    yield says("Holding labels for {} epochs", 50)
    yield says("of {} epochs, two lines", 10)

    yield says("The tests show this in {} of the {}", *shown_at_the_selected_epoch())
    assert all(holds_nowhere(primary_rows(recipe)) for recipe in REGIMES)
    yield says("Families {} to {} of the primary outcomes", 3, 6)
    rows = [row_of(late, "soft NLL after one temperature", "5", method, "last epoch") for method in HARD]
    low, high = (float(rows[0][end]) for end in ("low", "high"))
    assert low < -float(rows[0]["margin"]) < high
    assert float(rows[1]["high"]) < -float(rows[1]["margin"])
    yield says("{:.3f} nat are left for SLS, whose interval", -float(rows[0]["difference"]))
    yield says("the margin of {:.3f}, and {:.3f} for multipass", float(rows[0]["margin"]), -float(rows[1]["difference"]))
    fading = [[-gaps[method, k, "last"].mean() for k in BUDGETS[2:]] for method in HARD]
    assert all(gain == sorted(gain, reverse=True) for gain in fading)
    known = {key.split("/")[1] for values in STUDY.probed("ood", "last").values() for key in values if key.endswith("/auroc")}
    assert {one for one in known if not always_ahead(late, one)} == {"knn"}
    yield says("by {} of {} detectors", ONES[len(known) - 1 - 3], ONES[len(known) - 3])
    yield says("difference | {} % interval", 90)
    yield says(
        "are the {} % intervals of the corrected t-test, which decide whether a difference is of no matter; tests are at {}",
        90,
        0.05,
    )
    yield says("at every K up to {} and", 50)
    assert float(row_of(late, "soft NLL", "5", "sls", "last epoch")["margin"]) > -STUDY.gaps(late, "sls", "50", at="last").mean()
    medians = {
        np.median([STUDY.results[late, *cell, seed]["best"]["epoch"] for seed in STUDY.whole(late)]) for cell in STUDY.primary
    }
    assert medians <= {1.0, 1.5, 2.0}  # epoch 0 is the first
    yield says("counts epochs from {}, this page counts them from {}", 0, 1)
    yield from crossing_statements()
    yield from distance_statements()
    yield from pass_statements()
    yield from speed_statements()
    yield says("the median is the second or {} of {} epochs", "third", 30)
    majority = [STUDY.values(early, method, "all", "ece_eqmass", "last").mean() for method in ("majority", "soft")]
    yield says("stops early ({:.3f} against {:.3f} at the last epoch)", *majority)
    worse = [STUDY.values(late, method, "all", "ece_eqmass", at).mean() for at in EPOCHS for method in ("majority", "soft")]
    assert worse[0] > worse[1]
    assert worse[2] > worse[3]
    for recipe, at in product(REGIMES, EPOCHS):
        fresh, *others = (STUDY.values(recipe, one, "all", at=at) for one in ("sls", *held, "shuffled_sls"))
        assert all((other > fresh).all() for other in others)
    yield says("held labels are worse in all {} seeds", 20)
    yield says("yes, in all {} seeds", 20)
    yield says("mixed; at the last epoch in every probed seed ({})", "five")
    yield says("no barrier in {} seeds", "five")
    selected = [
        (STUDY.probe_values(*cell, method, k) - STUDY.probe_values(*cell, "soft", k)).mean()
        for recipe, quantity in product(REGIMES, AUROC)
        for cell in [(recipe, "ood", "best", quantity)]
        for method, k in product(HARD, ("5", "all"))
    ]
    assert max(map(abs, selected)) < 0.010
    yield says("are below {:.3f} on average, {} of {} of them against", 0.010, sum(gap < 0 for gap in selected), len(selected))

    hanging = {
        recipe: [row for row in primary_rows(recipe) if len({row["status"], row["status_narrow"], row["status_wide"]}) > 1]
        for recipe in REGIMES
    }
    assert hanging[late] == []
    assert {(row["claim"], row["K"], row["checkpoint"], row["status_wide"]) for row in hanging[early]} == {
        ("same", "all", "last epoch", "supported")
    }
    yield says("of the early regime {} do", len(hanging[early]))
    for line in looks_table():
        assert not line.endswith("supported |")

    yield says("Probed were seeds {} to {} of the primary cells. With {} seeds", 0, 4, "five")
    assert {key[3] for key in STUDY.probed("hessian", "last")} == set(range(5))
    for recipe, method, k, quantity in product(REGIMES, HARD, ("5", "all"), ("full/lambda_max", "full/trace")):
        hard, soft = (STUDY.probe_values(recipe, "hessian", "last", quantity, one, k) for one in (method, "soft"))
        assert (hard < soft).all()
    barrier = "full/barrier_interpolated_bn"
    line, between = [], []
    for recipe, at, k in product(REGIMES, EPOCHS, ("5", "all")):
        line.append(STUDY.pair_values(recipe, "barrier", at, barrier, "sls", "soft", k, same_seed=True).max())
        between += [STUDY.pair_values(recipe, "barrier", at, barrier, one, one, k).mean() for one in ("sls", "soft")]
    yield says("rises by more than {:.4f} nat", np.ceil(1e4 * max(line)) / 1e4)
    yield says("({:.3f} to {:.3f} nat on average)", min(between), max(between))
    [settings] = {
        json.loads(content)["settings"]["max_items"] for content in read_files(STUDY.folder, "diagnostics/ood.json").values()
    }
    yield says("({:,} images of each", settings)
    cells = list(product(REGIMES, EPOCHS, ("5", "all")))
    alike = {cell: {one: cka(*cell, one) for one in (*HARD, "soft")} for cell in cells}
    yield says(
        "is {:.3f} under SLS, {:.3f} under multipass and {:.3f} under soft labels", *alike.pop((late, "last", "5")).values()
    )
    turned = (late, "best", "all")
    text = "other way round for multipass: {:.3f}, and {:.3f} under soft labels"
    yield says(text, alike[turned].pop("multipass"), alike[turned]["soft"])
    rest = [abs(value - values["soft"]) for values in alike.values() for value in values.values()]
    yield says("All other differences to soft labels are at most {:.3f}", np.ceil(1000 * max(rest)) / 1000)
    follows = [STUDY.probe_values(late, "gradient_variance", at, "full/spearman", "sls", "all").mean() for at in EPOCHS]
    theirs = paper["figures"]["fig7_gradient_variance"]["entropy_vs_last_layer_grad_variance_spearman"]["mean"]
    yield says("a Spearman correlation of {:.2f} (published: {:.2f})", np.mean(follows), theirs)
    yield says("by all {} measures", "four")
    yield says("probes of more than {} seeds", "five")
    yield says("seeds {} and {} of the primary cells are published", 0, 1)
    assert {key[3] for key in read_files(STUDY.folder, "predictions.remainders.npz")} == {0, 1}


def differing_at_the_selected_epoch(rows: Iterable[dict[str, str]]) -> set[tuple[str, str]]:
    """Method and K of the hard deliveries whose soft NLL is shown to differ from that of soft labels there."""
    there = [row for row in rows if row["quantity"] == "soft NLL" and row["checkpoint"] == "selected epoch"]
    return {(row["method"], row["K"]) for row in there if row["method"] in HARD and row["shown"] == "True"}


def readme_statements() -> Iterator[Statement]:
    """What the README says of the memorised regime, K = 5: SLS and multipass against soft labels, last and selected epoch."""
    recipe, seeds = "image_head_long", len(STUDY.whole("image_head_long"))
    gains = [-STUDY.gaps(recipe, method, "5", at="last").mean() for method in HARD]
    yield says("end {:.3f} and {:.3f} nat below soft labels", *gains)
    yield says("is significant ({} seeds: [frozen", seeds)
    behind = [STUDY.gaps(recipe, method, k).mean() for method in HARD for k in ("5", "all")]
    yield says("they are above, by {:.3f} to {:.3f} nat", min(behind), max(behind))
    assert len(differing_at_the_selected_epoch(primary_rows(recipe))) == 2
    yield says("all votes, significant in two of {} comparisons", ONES[len(behind) - 3])
    yield says("{:.3f} on a frozen image encoder that stops early", STUDY.gaps("image_head_early", "majority", "all").mean())
    yield says("at the last epoch up to {:.3f}", STUDY.gaps(recipe, "majority", "all", at="last").mean())
    yield says("of the study of a frozen image encoder ({})", seeds)


TABLES = (
    table,
    sweep_table,
    others_table,
    primary_table,
    looks_table,
    curvature_table,
    auroc_table,
    distance_table,
    passes_table,
)

if __name__ == "__main__":
    for made in TABLES:
        print("\n".join([*made(), ""]))
