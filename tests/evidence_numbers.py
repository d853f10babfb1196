"""The tables of ``docs/results/evidence.md``, from the records of the studies that were written down beforehand.

``python -m tests.evidence_numbers`` prints them.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from hardlabels.reporting.number_formats import number, p_value
from hardlabels.statistics.power import Criterion, smallest_effect
from hardlabels.statistics.resampled import resampled_test
from tests import image_numbers, quarter_numbers
from tests.numbers import ONES, Statement, says
from tests.quarter_numbers import DETECTORS, RATIO, both_p
from tests.registered_numbers import Registered

CRITERION = Criterion(RATIO)
EPOCHS = ("best", "last")
HARD = ("sls", "multipass")
NOT_RUN: dict[str, dict[str, dict[str, float]]] = {"best": {"full": {}}}
METRICS = {
    "hard_acc": "accuracy",
    "ent_corr": "entropy correlation",
    "ece_eqmass": "ECE against the majority label",
    "ece_votes": "ECE against vote shares",
}


def cell(differences: np.ndarray) -> str:
    """A mean difference with its interval, both p, and where not both are below 0.05 what could have been seen."""
    test, p = resampled_test(differences, ratio=RATIO), both_p(differences)
    low, high = (number(end, signed=True) for end in test.interval())
    shown = f"{number(test.mean, signed=True)} [{low}, {high}] | {p_value(p[0])} / {p_value(p[1])} | "
    return shown + ("" if max(p) <= CRITERION.alpha else number(smallest_effect(differences, CRITERION)))


def line(what: str, comparison: str, k: str, selected: np.ndarray, last: np.ndarray) -> str:
    """One line of a table."""
    assert len(selected) == len(last), (what, comparison)
    return f"| {what} | {comparison} | {k} | {len(last)} | {cell(selected)} | {cell(last)} |"


def metric_lines(study: Registered, recipe: str) -> Iterator[str]:
    """Fresh against stale labels, the match of votes and images, the order of votes, calibration, accuracy, entropy."""

    def differences(a: str, b: str, k: str, metric: str) -> Iterator[np.ndarray]:
        seeds = [
            seed
            for seed in study.seeds(recipe, a, k)
            if all(metric in study.results.get((recipe, one, k, seed), NOT_RUN)["best"]["full"] for one in (a, b))
        ]
        return (np.subtract(*(study.values(recipe, method, k, metric, at, seeds) for method in (a, b))) for at in EPOCHS)

    pairs = [(f"sls,hold={epochs}", "sls", "all") for epochs in (5, 10, 50)]
    pairs += [("shuffled_sls", "sls", "all"), ("deterministic_control", "multipass", "5")]
    for a, b, k in pairs:
        yield line("soft NLL", f"`{a}` − `{b}`", k, *differences(a, b, k, "soft_nll"))
    for metric, words in METRICS.items():
        for a, k in (*product(HARD, ("5", "all")), ("majority", "all")):
            yield line(words, f"`{a}` − `soft`", k, *differences(a, "soft", k, metric))


def probe_differences(study: Registered, recipe: str, probe: str, quantity: str, method: str, k: str, at: str) -> np.ndarray:
    """(seeds,) of a method, minus soft labels of the same seed."""
    found = study.probed(probe, at)
    seeds = sorted(key[3] for key in found if key[:3] == (recipe, method, k))
    return np.array([found[recipe, method, k, seed][quantity] - found[recipe, "soft", k, seed][quantity] for seed in seeds])


def probe_lines(study: Registered, recipe: str) -> Iterator[str]:
    """Curvature, barriers and outlier detection, on the seeds that were probed."""

    def differences(probe: str, quantity: str, method: str, k: str) -> Iterator[np.ndarray]:
        return (probe_differences(study, recipe, probe, quantity, method, k, at) for at in EPOCHS)

    for quantity, words in (("trace", "trace of the Hessian"), ("lambda_max", "its largest eigenvalue")):
        for method, k in product(HARD, ("5", "all")):
            yield line(words, f"`{method}` − `soft`", k, *differences("hessian", f"full/{quantity}", method, k))
    for bn in ("interpolated", "reestimated") if study.name == "quarter" else ("interpolated",):
        heights = [study.pair_values(recipe, "barrier", at, f"full/barrier_{bn}_bn", "sls", "soft", "all", True) for at in EPOCHS]
        words = f"barrier, {bn.replace('reest', 're-est')} batch norm" if study.name == "quarter" else "barrier"
        yield line(words, "`sls` to `soft`, against none", "all", *heights)
    quantities = next(iter(study.probed("ood", "last").values()))
    for outliers, detector, method in product(("svhn", "cifar100"), DETECTORS, HARD):
        name = f"{outliers}/{detector}/auroc"
        if name in quantities:
            words = f"AUROC, {'SVHN' if outliers == 'svhn' else 'CIFAR-100'}, {detector.replace('_', ' ')}"
            yield line(words, f"`{method}` − `soft`", "all", *differences("ood", name, method, "all"))


def quarter_table() -> list[str]:
    """The quarter study; with what is left of its primary differences after one temperature, which images have among theirs."""
    study, recipe = quarter_numbers.STUDY, quarter_numbers.RECIPE
    tempered = [
        line(
            "soft NLL after one temperature",
            f"`{method}` − `soft`",
            k,
            *(quarter_numbers.gaps_after_temperature(method, k, at) for at in EPOCHS),
        )
        for method, k in (*product(HARD, ("5", "all")), ("majority", "all"))
    ]
    return [*tempered, *metric_lines(study, recipe), *probe_lines(study, recipe)]


def early_table() -> list[str]:
    """The images study where training stops early."""
    return _images("image_head_early")


def memorised_table() -> list[str]:
    """The images study where the votes are memorised."""
    return _images("image_head_long")


def _images(recipe: str) -> list[str]:
    return [*metric_lines(image_numbers.STUDY, recipe), *probe_lines(image_numbers.STUDY, recipe)]


def statements() -> Iterator[Statement]:
    """The prose."""
    yield says("with the {} % interval", 95)
    yield says("with {} % power", 80)
    yield says("a single line below {}", 0.05)
    yield says("not both are below {}", 0.05)
    yield says("both p are below {} for every holding time", 0.05)
    for recipe, a, at in product(image_numbers.REGIMES, ("sls,hold=5", "sls,hold=10", "sls,hold=50"), EPOCHS):
        gaps = np.subtract(*(image_numbers.STUDY.values(recipe, one, "all", at=at) for one in (a, "sls")))
        assert max(both_p(gaps)) < CRITERION.alpha
    study, recipe, seeds = quarter_numbers.STUDY, quarter_numbers.RECIPE, quarter_numbers.OTHERS
    yield says("In the quarter study {} seeds", "five")
    behind = []
    for epochs in (5, 10, 50):
        held = (study.values(recipe, one, "all", at="last", seeds=seeds) for one in (f"sls,hold={epochs}", "sls"))
        gaps = np.subtract(*held)
        behind += [epochs] if gaps.mean() > 0 and resampled_test(gaps, ratio=RATIO).p < CRITERION.alpha else []
    yield says("labels held for {} and {} epochs behind", *behind)

    images = image_numbers.STUDY
    for method, metric in product(HARD, ("ece_eqmass", "ece_votes")):
        gaps = images.gaps("image_head_long", method, "5", metric, "last")
        assert gaps.mean() < 0
        assert max(both_p(gaps)) < CRITERION.alpha
    for registered, name in ((study, recipe), *((images, name) for name in image_numbers.REGIMES)):
        for method, k in product(HARD, ("5", "all")):
            assert (probe_differences(registered, name, "hessian", "full/trace", method, k, "last") < 0).all()
            assert max(both_p(probe_differences(registered, name, "hessian", "full/trace", method, k, "best"))) > CRITERION.alpha
    ahead = [
        detector
        for detector in DETECTORS
        if all(
            (probe_differences(images, "image_head_long", "ood", f"{outliers}/{detector}/auroc", method, "all", "last") > 0).all()
            for outliers, method in product(("svhn", "cifar100"), HARD)
            if detector != "odin"
        )
        and detector != "odin"
    ]
    assert "knn" not in ahead
    yield says("{} of {} detectors favour", ONES[len(ahead) - 3], ONES[len(DETECTORS) - 1 - 3])


TABLES = (quarter_table, early_table, memorised_table)

if __name__ == "__main__":
    for made in TABLES:
        print("\n".join([*made(), ""]))
