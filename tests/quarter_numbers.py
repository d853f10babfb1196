"""The numbers of ``docs/results/quarter.md``, recomputed from the records in ``results/quarter``.

``python -m tests.quarter_numbers`` prints the tables of the page.
"""

import csv
import io
import json
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import yaml
from scipy.special import entr, logsumexp
from scipy.stats import t as student

from hardlabels.runs.archive import read_members
from hardlabels.statistics.resampled import resampled_test
from tests.mechanism_numbers import (
    MILESTONES,
    PASS,
    RATIO,
    both_p,
    by_pass,
    correlations,
    delays,
    lead_that_would_be_seen,
    mean_and_above,
)
from tests.numbers import ONES, Statement, says
from tests.registered_numbers import ROOT, Key, Registered, primary_lines, read_files

PAPER = yaml.safe_load((ROOT / "hardlabels/reporting/published.yaml").read_text())
FIGURES = PAPER["figures"]
RECIPE, HARD = "quarter", ("sls", "multipass")
STUDY = Registered(
    "quarter",
    [
        *((method, "5") for method in ("soft", *HARD, "stratified_sls")),
        *((method, "all") for method in ("soft", *HARD, "majority")),
    ],
)
NAMES = {"sls": "SLS", "multipass": "multipass"}
CHECKPOINTS = {"best": "logits", "last": "logits_last"}
"""Where ``predictions.npz`` has them."""


def table() -> list[str]:
    """The primary cells."""
    return STUDY.table(RECIPE)


DECIDED = range(10, 20)
"""The seeds of the primary analysis: two more were trained after it."""

DECISION, ADDITION = STUDY.folder / "looks/first", STUDY.folder / "report"
"""Where the primary outcomes stand: as they were decided, and with all seeds."""


def primary_table() -> list[str]:
    """The primary outcomes, as they were decided."""
    return primary_lines(DECISION)


def addition_table() -> list[str]:
    """The same with all seeds."""
    return primary_lines(ADDITION)


def primary_rows(folder: Path) -> list[dict[str, str]]:
    """The primary outcomes for machines."""
    return list(csv.DictReader(io.StringIO((folder / "primary.csv").read_text())))


PLANNED = 131
"""Runs."""

PAPER_EPOCHS = yaml.safe_load((ROOT / "conf/recipe/paper.yaml").read_text())["epochs"]

OTHERS = range(10, 15)
"""The seeds of the other methods."""

OTHER = ("label_smoothing", "mixup")
HELD = ("sls,hold=5", "sls,hold=10", "sls,hold=50")


def others_table() -> list[str]:
    """The other methods, and beside them those that they are held against, on the same seeds."""
    cells = [("sls", "all"), *((one, "all") for one in HELD), *((one, "all") for one in ("majority", "shuffled_sls"))]
    cells += [("label_smoothing", "all"), ("mixup", "all"), ("multipass", "5"), ("deterministic_control", "5")]
    return [STUDY.line(RECIPE, method, k, f"`{method}`", k, seeds=OTHERS) for method, k in cells]


@cache
def tempered() -> dict[tuple[str, str, int, str], float]:
    """Soft NLL after the temperature that was fitted on the selection items, by method, K, seed and checkpoint."""
    found = {}
    for name, content in read_members(STUDY.folder / "cifar10h/quarter.tar.xz"):
        method, k, seed, *rest = name.split("/")
        if rest == ["predictions.npz"]:
            arrays = np.load(io.BytesIO(content), allow_pickle=False)
            for at, key in CHECKPOINTS.items():
                scaled = arrays[key].astype(np.float64) / float(arrays[f"select_temperature_{key}"])
                loss = -(arrays["p"] * (scaled - logsumexp(scaled, axis=1, keepdims=True))).sum(1).mean()
                found[method, k[2:], int(seed[5:]), at] = float(loss)
    return found


@cache
def annotator_entropies() -> tuple[float, ...]:
    """By whole seed, the mean entropy of the evaluation images' votes."""
    members = read_members(STUDY.folder / "cifar10h/quarter.tar.xz")
    wanted = {f"soft/K=all/seed={seed}/predictions.npz" for seed in STUDY.whole(RECIPE)}
    files = [io.BytesIO(content) for name, content in members if name in wanted]
    return tuple(float(entr(np.load(file, allow_pickle=False)["p"]).sum(1).mean()) for file in files)


def gaps_after_temperature(method: str, k: str, at: str) -> np.ndarray:
    """Method minus soft labels of the same seed."""
    values = tempered()
    return np.array([values[method, k, seed, at] - values["soft", k, seed, at] for seed in STUDY.whole(RECIPE)])


def temperature_table() -> list[str]:
    """Soft NLL minus that of soft labels, as trained and after one temperature, at both checkpoints."""
    lines = []
    for method, k in STUDY.primary:
        if method != "soft":
            cells = [f"`{method}`", k]
            for at in CHECKPOINTS:
                for gaps in (STUDY.gaps(RECIPE, method, k, at=at), gaps_after_temperature(method, k, at)):
                    cells.append(f"{gaps.mean():+.4f} ({(gaps < 0).sum()})".replace("-", "−"))
            lines.append("| " + " | ".join(cells) + " |")
    return lines


@cache
def histories() -> dict[Key, dict[str, np.ndarray]]:
    """Column to its values by epoch, of every run."""
    found = {}
    for key, content in read_files(STUDY.folder, "history.csv").items():
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        found[key] = {name: np.array([float(row[name]) for row in rows]) for name in ("evaluate/soft_nll", "train/loss")}
    return found


def curves(method: str, k: str, column: str = "evaluate/soft_nll") -> np.ndarray:
    """(seeds, epochs), whole seeds in their order."""
    return np.array([histories()[RECIPE, method, k, seed][column] for seed in STUDY.whole(RECIPE)])


def selected(method: str, k: str) -> float:
    """The median epoch that its runs selected, counted from 1."""
    return float(np.median([STUDY.results[RECIPE, method, k, seed]["best"]["epoch"] for seed in STUDY.whole(RECIPE)])) + 1


def window(method: str, k: str, first: int, behind: int) -> np.ndarray:
    """(seeds,) mean difference to soft labels over the epochs first .. behind - 1."""
    return (curves(method, k) - curves("soft", k))[:, first:behind].mean(1)


def vote_calibration(method: str, k: str, at: str) -> np.ndarray:
    """(seeds,) ECE against vote shares minus that of soft labels, of the seeds that have it."""
    runs = {
        seed: [STUDY.results[RECIPE, one, k, seed]["best"]["full"] for one in (method, "soft")] for seed in STUDY.whole(RECIPE)
    }
    seeds = [seed for seed, pair in runs.items() if all("ece_votes" in scores for scores in pair)]
    return STUDY.gaps(RECIPE, method, k, "ece_votes", at, seeds)


# ---- probes: the seeds whose checkpoints were there ----


def probe_values(probe: str, at: str, quantity: str, method: str, k: str) -> np.ndarray:
    """(seeds,) of a method, by seed."""
    return STUDY.probe_values(RECIPE, probe, at, quantity, method, k)


def curvature_table() -> list[str]:
    """Largest eigenvalue and trace."""
    return STUDY.curvature_table(RECIPE)


def auroc_table() -> list[str]:
    """Outlier detection."""
    return STUDY.auroc_table(RECIPE)


DETECTORS = ("energy", "msp", "odin", "entropy", "logit_margin", "knn")


def detector_gaps(outliers: str, detector: str, method: str, k: str, at: str) -> np.ndarray:
    """(seeds,) AUROC minus that of soft labels of the same seed."""
    mine, soft = (probe_values("ood", at, f"{outliers}/{detector}/auroc", one, k) for one in (method, "soft"))
    return mine - soft


def distance_table() -> list[str]:
    """Spearman correlation of the distance of an image's five votes from all of its votes and the gain, on training images."""
    lines = []
    for (at, epoch), method in product((("best", "selected"), ("last", "last")), HARD):
        cells = [
            mean_and_above(correlations(STUDY, RECIPE, method, "5", at=at, view=view, given_entropy=given), 3)
            for view, given in product(("full", "high_disagreement"), (False, True))
        ]
        lines.append("| " + " | ".join([epoch, f"`{method}`", *cells]) + " |")
    return lines


def pair_mean(probe: str, at: str, quantity: str, a: str, b: str, k: str, same_seed: bool = False) -> float:
    """Mean over the pairs of two methods at one K."""
    return float(STUDY.pair_values(RECIPE, probe, at, quantity, a, b, k, same_seed).mean())


def statements() -> Iterator[Statement]:
    """The prose, but for what it says of the other methods and of the probes."""
    n = len(STUDY.whole(RECIPE))
    assert len(STUDY.results) == PLANNED
    yield says("All {} runs of the plan", PLANNED)
    yield says("The {} seeds that were whole first ({} to {})", spelt(len(DECIDED)), DECIDED[0], DECIDED[-1])
    yield says("have all {} seeds", spelt(n))
    first = {(m, k, at): STUDY.gaps(RECIPE, m, k, at=at, seeds=DECIDED) for m in HARD for k in ("5", "all") for at in CHECKPOINTS}
    means = sorted(-gaps.mean() for gaps in first.values())
    assert means[0] > 0
    text = "Over the {} seeds, hard delivery is below soft labels in all {} primary outcomes, by {:.3f} to {:.3f} nat on average"
    yield says(text, spelt(len(DECIDED)), spelt(len(means)), means[0], means[-1])
    for method in HARD:
        counts = sorted({int((gaps < 0).sum()) for (m, *_), gaps in first.items() if m == method})
        yield says(f"{NAMES[method]} in {{}} to {{}} of {{}} seeds", counts[0], counts[-1], len(DECIDED))
    rows = primary_rows(DECISION)
    assert {row["status"] for row in rows} == {"inconclusive"}
    assert rejected(rows, "p") == {("multipass", "all", "selected epoch"), ("multipass", "all", "last epoch")}
    assert not rejected(rows, "p_corrected")
    seen = sorted(float(row["detectable"]) for row in rows)
    yield says("differences from {:.2f} to {:.2f} nat on", seen[0], seen[-1])
    published = {method: PAPER["table1_sparse_soft_nll"][method]["nll"][0] for method in ("soft", *HARD)}
    yield says("({:.3f} and {:.3f} at K = 5)", *(published["soft"] - published[method] for method in HARD))
    shorter = student.ppf(0.95, np.inf) / student.ppf(0.95, len(DECIDED) - 1)  # a 90 % interval with endless seeds
    yield says("still be {:.0f} % as wide", 100 * shorter * np.sqrt(RATIO / (RATIO + 1 / len(DECIDED))))
    yield says("Intervals are the {} % intervals", 90)
    yield says("difference | {} % interval", 90)
    yield says("Tests are at {} after Holm, so an interval may leave out {}", 0.05, 0)
    yield says("the same {:,} images", 10_000)
    yield says("allows for the {:,} images", 10_000)
    yield says("after the analysis of {} seeds", spelt(len(DECIDED)))
    yield says("The same with all {} seeds", spelt(n))
    outcomes = {(m, k, at): STUDY.gaps(RECIPE, m, k, at=at) for m in HARD for k in ("5", "all") for at in CHECKPOINTS}
    means = sorted(-gaps.mean() for gaps in outcomes.values())
    counts = sorted({int((gaps < 0).sum()) for (m, *_), gaps in outcomes.items() if m == "multipass"})
    text = "a little clearer: {:.3f} to {:.3f} nat, and multipass is below soft labels in {} to {} of {} seeds"
    yield says(text, means[0], means[-1], counts[0], counts[-1], n)
    added = primary_rows(ADDITION)
    assert {row["status"] for row in added} == {"inconclusive"}
    assert not rejected(added, "p_corrected")
    yield says("would now show {} of the {} differences", spelt(len(rejected(added, "p"))), spelt(len(added)))

    for k, text in (("5", "K = 5"), ("all", "all votes")):
        early, late = ([window(method, k, *span).mean() for method in HARD] for span in ((10, 30), (80, 100)))
        yield says(f"{text}: {{:+.3f}} and {{:+.3f}} early, {{:+.3f}} and {{:+.3f}} late", *early, *late)
    yield says("epochs {} to {} (early) and {} to {} (late)", 10 + 1, 30, 80 + 1, 100)
    yield says("Epochs are counted from {}", 1)
    yield says("The axis counts epochs from {}", 0)
    windows = [window(m, k, *span) for m in HARD for k in ("5", "all") for span in ((10, 30), (80, 100))]
    differing = [gaps for gaps in windows if resampled_test(gaps, ratio=RATIO).p <= 0.05]
    assert len(differing) == 1
    assert differing[0].mean() == window("multipass", "all", 80, 100).mean()
    yield says("of these {} means differs from {} at {}", spelt(len(windows)), 0, 0.05)
    ends = [curves(*cell, "train/loss")[:, -1].mean() for cell in (("soft", "all"), ("soft", "5"), ("sls", "5"))]
    yield says("of soft labels with all votes ends at {:.2f}", ends[0])
    assert 1.5 < ends[0] / np.mean(annotator_entropies()) < 2.5
    yield says("trained for {} epochs (the training loss ends at about {} the entropy", curves("soft", "all").shape[1], "twice")
    yield says("which no network can go below, is {:.2f}", np.mean(annotator_entropies()))
    yield says("With K = 5 it ends at {:.2f}, and at {:.2f} for SLS", *ends[1:])
    few, full = ([STUDY.values(RECIPE, "soft", k, at=at).mean() for at in CHECKPOINTS] for k in ("5", "all"))
    yield says("({:.3f} selected, {:.3f} last); with all votes they do not overfit ({:.3f} and {:.3f})", *few, *full)
    epochs = [selected(method, "5") for method in ("soft", *HARD)]
    yield says("The median selected epoch is {:g} for soft labels, {:g} for SLS and {:g} for multipass with K = 5", *epochs)
    yield says("{:g} for soft labels and {:g} for SLS with all votes", *(selected(method, "all") for method in ("soft", "sls")))

    left = [gaps_after_temperature(m, k, at).mean() / gaps.mean() for (m, k, at), gaps in outcomes.items()]
    yield says("between {:.0f} and {:.0f} % of the differences are left", 100 * min(left), 100 * max(left))
    scale = [
        (STUDY.gaps(RECIPE, "majority", "all", at=at).mean(), gaps_after_temperature("majority", "all", at).mean())
        for at in CHECKPOINTS
    ]
    yield says("their gap of {:.3f} nat shrinks to {:.3f}; at the selected epoch {:.3f} becomes {:.3f}", *scale[1], *scale[0])

    own = curves("multipass", "5") - curves("soft", "5")
    yield says("from {:+.3f} nat in pass {} to {:+.3f} in the last pass", own[:, :PASS].mean(), 1, own[:, -PASS:].mean())
    yield says("first pass of {} epochs", spelt(PASS))
    yield says("SLS with the same {} votes", spelt(PASS))
    parts = by_pass(STUDY, RECIPE, "sls", "all").mean(0)
    yield says("{:+.3f} nat in pass {}, {:+.3f} in pass {} and {:+.3f} in the last one", parts[0], 1, parts[1], 2, parts[-1])
    within = curves("multipass", "5") - curves("sls", "5")
    thirds = [within[:, first:behind].mean() for first, behind in ((0, 25), (25, 50), (50, 75), (75, 100))]
    text = "SLS is {:+.3f}, {:+.3f}, {:+.3f} and {:+.3f} nat over the {} quarters of training"
    yield says(text, *thirds, spelt(4))
    errors = [within[:, at : at + 25].mean(1).std(ddof=1) / np.sqrt(n) for at in range(0, 100, 25)]
    yield says("with standard errors of {:.3f} to {:.3f}", min(errors), max(errors))

    yield from speed_statements()
    ece = [STUDY.values(RECIPE, method, "all", "ece_eqmass").mean() for method in ("soft", *HARD)]
    yield says("ECE is {:.3f} with soft labels, {:.3f} with SLS and {:.3f} with multipass", *ece)
    last = [int((STUDY.gaps(RECIPE, method, "all", "ece_votes", "last") < 0).sum()) for method in HARD]
    yield says("(at the last epoch in {} and {} of {} seeds)", *last, n)
    against_votes = {cell: vote_calibration(*cell) for cell in product(HARD, ("5", "all"), CHECKPOINTS)}
    shown = {cell: both_p(gaps) for cell, gaps in against_votes.items() if max(both_p(gaps)) < 0.05}
    assert list(shown) == [("sls", "all", "last")]
    yield says("are compared with soft labels {} times", spelt(len(against_votes)))
    yield says("One comparison has p below {} in both tests", 0.05)
    yield says("at the last epoch ({:.4f} and {:.4f})", *shown["sls", "all", "last"])
    yield says("one of {} comparisons against the votes", spelt(len(against_votes)))
    majority = [STUDY.values(RECIPE, method, "all", "ece_eqmass", "last").mean() for method in ("majority", "soft")]
    yield says("Majority labels have an ECE of {:.3f} at the last epoch, soft labels of {:.3f}", *majority)
    apart = [abs(STUDY.gaps(RECIPE, m, k, "ent_corr", at).mean()) for m in HARD for k in ("5", "all") for at in CHECKPOINTS]
    yield says("differs by at most {:.3f}", np.ceil(1000 * max(apart)) / 1000)


def speed_statements() -> Iterator[Statement]:
    """Whether SLS is near its best, and at its best, before soft labels."""
    published = [FIGURES["fig8_dynamics"][name] for name in ("sls_earlier_to_95pct_of_best", "sls_earlier_best_epoch")]
    later = [delays(STUDY, RECIPE, name) for name in MILESTONES]
    seen = [lead_that_would_be_seen(gaps) for gaps in later]
    assert min(p for gaps in later for p in both_p(gaps)) > 0.05
    near, best = (gaps.mean() for gaps in later)
    yield says("It comes within {} % of its best {:.1f} epochs later than soft labels on average", 5, near)
    whole, here = PAPER_EPOCHS, curves("sls", "all").shape[1]
    yield says("In the paper it is {} of {} epochs earlier", published[0], whole)
    yield says("near its best {} epochs before soft labels, and is at its best {} epochs before them, of {}", *published, whole)
    yield says("within {} % of its best soft NLL (on the selection images) {:.1f} epochs after soft labels", 5, near)
    yield says("and is at its best {:.1f} epochs after them, of {}", best, here)
    yield says("is shown to differ from {}", 0)
    ends = [resampled_test(gaps, ratio=RATIO).interval() for gaps in later]
    text = "The {} % intervals of the corrected t-test, {:.1f} to {:+.1f} and {:.1f} to {:+.1f} epochs"
    yield says(text, 95, *ends[0], *ends[1])
    share = [lead * here / whole for lead in published]
    assert all(low > -lead for (low, _), lead in zip(ends, share, strict=True))
    yield says("which would be {:.1f} and {:.1f} epochs", *(np.floor(10 * lead + 0.5) / 10 for lead in share))
    yield says("With {} % probability, leads of {:.1f} and {:.1f} epochs", 80, *seen)
    yield says("not shown: {:.1f} epochs later near its best", near)


def distance_statements() -> Iterator[Statement]:
    """Whether gains grow with the distance of an image's five votes from all of its votes."""
    low, high = PAPER["table1_sparse_soft_nll"]["facts"]["js_improvement_spearman"]
    yield says("(Jensen-Shannon) and gain is {:.2f} to {:.2f} in each of its seeds", low, high)
    disputed = [
        [correlations(STUDY, RECIPE, method, "5", view="high_disagreement", given_entropy=given) for given in (False, True)]
        for method in HARD
    ]
    assert all((values > 0).all() for pair in disputed for values in pair)
    yield says("the number of seeds above {}, of {}", 0, spelt(len(disputed[0][0])))
    yield says("in each of {} seeds", spelt(len(disputed[0][0])))
    tests = [both_p(values) for values, _ in disputed]
    assert tests[0][0] == tests[1][0]
    text = "(uncorrected p = {:.3f} by the exact Wilcoxon test, {:.4f} and {:.4f} by the corrected t-test for SLS and multipass)"
    yield says(text, tests[0][0], *(p[1] for p in tests))
    weaker = both_p(correlations(STUDY, RECIPE, "multipass", "5"))
    assert f"{weaker[0]:.3f}" == f"{weaker[1]:.3f}"
    yield says("(multipass: {:.3f} by both tests)", weaker[0])
    for method, view, given in product(HARD, ("full", "high_disagreement"), (False, True)):
        selected_epoch = correlations(STUDY, RECIPE, method, "5", at="best", view=view, given_entropy=given)
        assert min(both_p(selected_epoch)) > 0.05
    untrained = [correlations(STUDY, RECIPE, method, "5", items="evaluate", view="high_disagreement") for method in HARD]
    assert min(p for values in untrained for p in both_p(values)) > 0.05
    text = "({} seeds: {:+.3f} for SLS, {:+.3f} for multipass)"
    yield says(text, spelt(len(untrained[0])), *(values.mean() for values in untrained))


def others_statements() -> Iterator[Statement]:
    """The prose about the other methods."""
    yield says("These methods have {} seeds ({} to {})", spelt(len(OTHERS)), OTHERS[0], OTHERS[-1])
    means = {m: [STUDY.gaps(RECIPE, m, "all", at=at, seeds=OTHERS).mean() for at in CHECKPOINTS] for m in ("sls", *HELD, *OTHER)}
    last = [abs(means[method][1]) for method in ("sls", *HELD)]
    yield says("SLS is {:.3f} nat below soft labels with fresh labels, {:.3f} below with labels held for {} epochs", *last[:2], 5)
    yield says("{:.3f} above for {} and {:.3f} above for {}", last[2], 10, last[3], 50)
    by_hold = {at: np.array([STUDY.values(RECIPE, m, "all", at=at, seeds=OTHERS) for m in ("sls", *HELD)]) for at in CHECKPOINTS}
    assert (np.diff(by_hold["last"], axis=0) > 0).all()
    assert (np.diff(by_hold["best"].mean(1)) > 0).all()
    yield says("every one of the {} seeds", spelt(len(OTHERS)))
    yield says("in every one of {} seeds", spelt(len(OTHERS)))
    yield says("than soft labels ({} seeds)", spelt(len(OTHERS)))
    yield says("in soft NLL and accuracy** ({} seeds)", spelt(len(OTHERS)))
    delivered = [(method, k) for method in ("soft", *HARD) for k in ("5", "all")]
    delivered += [("stratified_sls", "5"), ("deterministic_control", "5")]
    for at, (metric, sign) in product(CHECKPOINTS, (("soft_nll", 1), ("hard_acc", -1))):
        mixed, *others = (
            sign * STUDY.values(RECIPE, *cell, metric, at, OTHERS).mean() for cell in (("mixup", "all"), *delivered)
        )
        assert mixed < min(others)
    follows = [
        STUDY.values(RECIPE, method, "all", "ent_corr", at, OTHERS).mean() for method in ("mixup", "sls") for at in CHECKPOINTS
    ]
    yield says("on the same seeds ({:.3f} and {:.3f} against {:.3f} and {:.3f})", *follows)
    yield says("held for {} of the training", "half")
    yield says("teach nothing: accuracy {:.3f}", STUDY.values(RECIPE, "shuffled_sls", "all", "hard_acc", seeds=OTHERS).mean())
    order = [
        np.subtract(*(STUDY.values(RECIPE, m, "5", at=at, seeds=OTHERS) for m in ("multipass", "deterministic_control"))).mean()
        for at in CHECKPOINTS
    ]
    yield says("is as good as multipass: they are {:+.3f} and {:+.3f} nat apart", *order)
    yield says("as published, by {:.3f} and {:.3f} nat", *means["label_smoothing"])
    assert all((STUDY.gaps(RECIPE, "mixup", "all", at=at, seeds=OTHERS) < 0).all() for at in CHECKPOINTS)
    published = PAPER["table2_main"]
    worse = published["mixup"][0][0] - published["soft"][0][0]
    yield says("by {:.3f} and {:.3f}; published it is {:.3f} worse", *(-mean for mean in means["mixup"]), worse)
    assert published["label_smoothing"][0][0] > published["soft"][0][0]
    losses = [np.mean([histories()[RECIPE, m, "all", seed]["train/loss"][-1] for seed in OTHERS]) for m in ("mixup", "soft")]
    yield says("stays at {:.2f} (soft labels: {:.2f})", losses[0], losses[1])


def probe_statements() -> Iterator[Statement]:
    """The prose about the probes."""
    detected = {cell: detector_gaps(*cell) for cell in product(("svhn", "cifar100"), DETECTORS, HARD, ("5", "all"), CHECKPOINTS)}
    assert not any(max(both_p(gaps)) <= 0.05 for gaps in detected.values())
    yield says("afterwards, from [{}]", spelt(len(DETECTORS)))
    yield says("none by any of the {} is shown", spelt(len(DETECTORS)))
    farthest = max(detected, key=lambda cell: abs(detected[cell].mean()))
    assert farthest[:2] == ("svhn", "knn")
    yield says("to soft labels are at most {:.3f} (KNN on SVHN)", np.ceil(1000 * abs(detected[farthest].mean())) / 1000)
    seeds, curved = (sorted({key[3] for key in STUDY.probed(probe, "last")}) for probe in ("ood", "hessian"))
    yield says("run on {} seeds ({} to {})", spelt(len(seeds)), seeds[0], seeds[-1])
    yield says("the Hessian on {} of them ({} to {})", spelt(len(curved)), curved[0], curved[-1])
    interpolated, reestimated = "full/barrier_interpolated_bn", "full/barrier_reestimated_bn"
    bn = (interpolated, reestimated)
    line = {at: [pair_mean("barrier", at, name, "sls", "soft", "all", True) for name in bn] for at in CHECKPOINTS}
    controls = {
        at: [[pair_mean("barrier", at, name, one, one, "all") for one in ("sls", "soft")] for name in bn] for at in CHECKPOINTS
    }
    yield says("the loss rises by {:.2f} nat", line["best"][0])
    yield says("the paper has {}", FIGURES["fig11_loss_barrier"]["mean_barrier_sls_soft"])
    yield says("re-estimated on the way, {:.2f} are left", line["best"][1])
    text = "it is {:.2f} (SLS) and {:.2f} (soft labels) with interpolated statistics, {:.2f} and {:.2f} with re-estimated ones"
    yield says(text, *controls["best"][0], *controls["best"][1])
    yield says("it is the same: {:.2f} and {:.2f} between the methods", *line["last"])
    yield says("{:.2f} to {:.2f} and {:.2f} between seeds", *sorted(controls["last"][0]), controls["last"][1][0])
    assert np.ptp(np.round(controls["last"][1], 2)) == 0
    for at in CHECKPOINTS:
        assert line[at][0] > max(controls[at][0])
        assert line[at][1] < min(controls[at][1])
    few = [STUDY.pair_values(RECIPE, "barrier", "best", name, "sls", "soft", "5", True) for name in bn]
    assert {len(values) for values in few} == {2}
    yield says("on the two seeds {} and {}, the line", 20, 21)
    yield says(
        "between SLS and soft labels rises by {:.2f} (interpolated) and {:.2f} (re-estimated)", *(values.mean() for values in few)
    )
    alike = [pair_mean("cka", "best", "full/cka", method, method, "all") for method in (*HARD, "soft")]
    yield says("is {:.3f} under SLS, {:.3f} under multipass and {:.3f} under soft labels", *alike)
    likeness = [FIGURES["fig12_cka"]["within_method"], FIGURES["fig9_gradcam"]["cross_seed_stability"]]
    yield says("(published: {:.3f} for SLS, {:.3f} for soft labels)", *(likeness[0][one] for one in ("sls", "soft")))
    maps = {k: [pair_mean("gradcam", "best", "full/correlation", m, m, k) for m in (*HARD, "soft")] for k in ("all", "5")}
    text = "with a correlation of {:.3f}, {:.3f} and {:.3f} (published: {:.3f} and {:.3f})"
    yield says(text, *maps["all"], *(likeness[1][one] for one in ("sls", "soft")))
    yield says("K = 5 with one of {:.3f}, {:.3f} and {:.3f}", *maps["5"])
    settings = json.loads(next(iter(read_files(STUDY.folder, "diagnostics/ood.json").values())))["settings"]
    yield says("({:,} images of each", settings["max_items"])
    follows = np.mean([probe_values("gradient_variance", at, "full/spearman", "sls", "all").mean() for at in CHECKPOINTS])
    published = FIGURES["fig7_gradient_variance"]["entropy_vs_last_layer_grad_variance_spearman"]["mean"]
    yield says("a Spearman correlation of {:.2f} (published: {:.2f})", follows, published)
    yield from distance_statements()


def readme_statements() -> Iterator[Statement]:
    """What the README says of it."""
    means = [-STUDY.gaps(RECIPE, m, k, at=at).mean() for m in HARD for k in ("5", "all") for at in CHECKPOINTS]
    yield says("in all {} comparisons, by {:.3f} to {:.3f} nat", spelt(len(means)), min(means), max(means))
    analysed, added = primary_rows(DECISION), primary_rows(ADDITION)
    assert not rejected(analysed, "p_corrected") | rejected(added, "p_corrected")
    text = "with the {} seeds of the analysis that was written down beforehand or with all {} ([the"
    yield says(text, spelt(len(DECIDED)), spelt(len(STUDY.whole(RECIPE))))
    scale = [STUDY.values(RECIPE, method, "all").mean() for method in ("soft", "majority")]
    yield says("soft labels have {:.3f} and majority labels {:.3f}", *scale)
    bn = "full/barrier_interpolated_bn"
    rise = pair_mean("barrier", "best", bn, "sls", "soft", "all", True)
    text = "rises by {:.2f} nat at the selected epoch (published: {:.2f})"
    yield says(text, rise, FIGURES["fig11_loss_barrier"]["mean_barrier_sls_soft"])
    controls = [pair_mean("barrier", "best", bn, method, method, "all") for method in ("soft", "sls")]
    yield says("two seeds of one method by {:.2f} to {:.2f}", *sorted(controls))
    yield says("{:.3f} in the quarter study", STUDY.gaps(RECIPE, "majority", "all").mean())
    mixed = {at: STUDY.gaps(RECIPE, "mixup", "all", at=at, seeds=OTHERS) for at in CHECKPOINTS}
    assert all((gaps < 0).all() for gaps in mixed.values())
    text = "in the ResNet, {:.3f} nat below soft labels in {} of {} seeds"
    yield says(text, -mixed["best"].mean(), *[spelt(len(OTHERS))] * 2)
    yield says("in every seed of the quarter study ({})", len(OTHERS))


TABLES = (table, temperature_table, primary_table, addition_table, others_table, curvature_table, auroc_table, distance_table)


def rejected(rows: list[dict[str, str]], test: str) -> set[tuple[str, str, str]]:
    """The outcomes that a test rejects at 0.05."""
    return {(row["method"], row["K"], row["checkpoint"]) for row in rows if float(row[test]) <= 0.05}


def spelt(number: int) -> str:
    return ONES[number - 3]


if __name__ == "__main__":
    for made in TABLES:
        print("\n".join([*made(), ""]))
