"""The tables of ``docs/results/evidence.md``, from the records of the studies that were written down beforehand.

``python -m tests.evidence_numbers`` prints them, each below its heading: all of the page below its prose.
"""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import log_softmax

from hardlabels.metrics.calibration import ece_votes
from hardlabels.reporting.number_formats import number, p_value
from hardlabels.runs.archive import read_members
from hardlabels.statistics.power import Criterion, smallest_effect
from hardlabels.statistics.resampled import resampled_test
from hardlabels.statistics.signed_rank import subtract
from tests import image_numbers, quarter_numbers
from tests.numbers import ONES, Statement, says
from tests.quarter_numbers import DETECTORS, RATIO, both_p
from tests.registered_numbers import Key, Registered, read_files, read_pairs

CRITERION = Criterion(RATIO)
EPOCHS = ("best", "last")
HARD = ("sls", "multipass")
VOTES = ("5", "all")
OTHER_VOTES = ("2", "10", "25", "50")
"""K = 1 is left out: every method then delivers the same label, and the runs are equal."""

OUTLIERS = {"svhn": "SVHN", "cifar100": "CIFAR-100"}
SLICES = {"full": "", "high_disagreement": ", most disputed images"}
METRICS = {
    "soft_nll": "soft NLL",
    "soft_nll_t": "soft NLL after one temperature",
    "hard_acc": "accuracy",
    "ent_corr": "entropy correlation",
    "ece_eqmass": "ECE against the majority label",
    "ece_votes": "ECE against vote shares",
}
HELD = tuple(f"sls,hold={epochs}" for epochs in (5, 10, 50))
PASSES = {"1": (0, 1), "2": (1, 2), "3 to 5": (2, 5), "6 to 10": (5, 10), "11 to 15": (10, 15), "16 to 20": (15, 20)}
"""Of multipass with five votes: what they are called, and the first and the one behind the last."""

Gaps = Callable[[str], np.ndarray]
"""Checkpoint to (seeds,) differences."""


# ---- lines ----


def shown(differences: np.ndarray) -> bool:
    """Whether both tests have p below 0.05."""
    return max(both_p(differences)) < CRITERION.alpha


def interval(differences: np.ndarray) -> str:
    """A mean difference with its interval."""
    test = resampled_test(differences, ratio=RATIO)
    low, high = (number(end, signed=True) for end in test.interval())
    return f"{number(test.mean, signed=True)} [{low}, {high}]"


def cell(differences: np.ndarray) -> str:
    """A mean difference with its interval, both p, and where not both are below 0.05 what could have been seen."""
    p = both_p(differences)
    unseen = "" if max(p) <= CRITERION.alpha else number(smallest_effect(differences, CRITERION))
    return f"{interval(differences)} | {p_value(p[0])} / {p_value(p[1])} | {unseen}"


def pair_cell(differences: np.ndarray) -> str:
    """The same of :func:`left_out`, which no exact test can take. One pair of seeds gives no interval: the mean alone."""
    if len(differences) < 3:
        return f"{number(differences.mean(), signed=True)} |  | "
    return f"{interval(differences)} | {p_value(resampled_test(differences, ratio=RATIO).p)} | "


def line(what: str, comparison: str, k: str, gaps: Gaps, form: Callable[[np.ndarray], str] = cell) -> str:
    """One line of a table."""
    selected, last = (gaps(at) for at in EPOCHS)
    assert len(selected) == len(last) > 1, (what, comparison, k)
    return f"| {what} | {comparison} | {k} | {len(last)} | {form(selected)} | {form(last)} |"


def minus(a: str, b: str) -> str:
    """A comparison."""
    return f"`{a}` − `{b}`"


# ---- what a study measured ----


@cache
def derived(folder: Path) -> dict[Key, dict[str, Any]]:
    """What the records keep of predictions that they do not have."""
    return {key: json.loads(content) for key, content in read_files(folder, "derived.json").items()}


@cache
def of_logits(archive: Path) -> dict[tuple[str, str, int, str], dict[str, float]]:
    """Method, K, seed and checkpoint to the scores that follow from published logits: the first runs were made before both."""
    found = {}
    for name, content in read_members(archive):
        method, k, seed, *rest = name.split("/")
        if rest == ["predictions.npz"]:
            arrays = np.load(io.BytesIO(content), allow_pickle=False)
            for at, key in quarter_numbers.CHECKPOINTS.items():
                logits, p = arrays[key].astype(np.float64), arrays["p"]
                tempered = log_softmax(logits / float(arrays[f"select_temperature_{key}"]), axis=1)
                found[method, k[2:], int(seed[5:]), at] = {
                    "soft_nll_t": -float((p * tempered).sum(1).mean()),
                    "ece_votes": float(ece_votes(log_softmax(logits, axis=1), p)),
                }
    return found


@dataclass(frozen=True)
class Part:
    """The runs of a study with one recipe."""

    study: Registered
    recipe: str

    @property
    def quarter(self) -> bool:
        return self.study is quarter_numbers.STUDY

    def score(self, metric: str, method: str, k: str, seed: int, at: str) -> float:
        """A score of a run, with all of its evaluation images."""
        key = self.recipe, method, k, seed
        found = self.study.results[key][at]["full"]
        if metric in found:
            return found[metric]
        if metric == "soft_nll_t" and key in derived(self.study.folder):
            return derived(self.study.folder)[key][at]["full"][metric]
        return of_logits(self.study.folder / f"cifar10h/{self.recipe}.tar.xz")[method, k, seed, at][metric]

    def gaps(self, metric: str, a: str, b: str, k: str) -> Gaps:
        """A method minus another one of the same K and seed."""
        seeds = [seed for seed in self.study.seeds(self.recipe, a, k) if (self.recipe, b, k, seed) in self.study.results]
        return lambda at: subtract(*([self.score(metric, one, k, seed, at) for seed in seeds] for one in (a, b)))

    def probe_gaps(self, probe: str, quantity: str, method: str, k: str) -> Gaps:
        """What a probe says of a method, minus what it says of soft labels of the same seed."""

        def gaps(at: str) -> np.ndarray:
            found = self.study.probed(probe, at)
            runs = [(key, (self.recipe, "soft", k, key[3])) for key in sorted(found) if key[:3] == (self.recipe, method, k)]
            return subtract(*([found[run[side]][quantity] for run in runs if run[1] in found] for side in (0, 1)))

        return gaps

    def pairs(self, probe: str, quantity: str, k: str, at: str) -> dict[tuple[str, str, int, int], float]:
        """What a probe of pairs says: (method, method, seed, seed) to the value, each pair in both orders."""
        name = f"studies/{self.study.name}/diagnostics/{probe}{',checkpoint=last' if at == 'last' else ''}.json.xz"
        found = {}
        for one, other, values in read_pairs(self.study.folder / name):
            if one[0] == other[0] == self.recipe and one[2] == other[2] == k:
                found[one[1], other[1], one[3], other[3]] = found[other[1], one[1], other[3], one[3]] = values[quantity]
        return found

    def has(self, probe: str) -> bool:
        """Whether the study has a probe of pairs."""
        return (self.study.folder / f"studies/{self.study.name}/diagnostics/{probe}.json.xz").is_file()


QUARTER = Part(quarter_numbers.STUDY, quarter_numbers.RECIPE)
EARLY, MEMORISED = (Part(image_numbers.STUDY, recipe) for recipe in image_numbers.REGIMES)

Pairs = dict[tuple[str, str, int, int], float]


def across(pairs: Pairs, method: str, seeds: Sequence[int]) -> float:
    """Mean over the pairs of two of these seeds, both of one method."""
    return float(np.mean([v for (a, b, i, j), v in pairs.items() if a == b == method and i != j and {i, j} <= set(seeds)]))


def left_out(seeds: Sequence[int], statistic: Callable[[Sequence[int]], float]) -> np.ndarray:
    """(seeds,) whose mean is the statistic, and whose standard error is that of the jackknife that leaves out one seed at a time.

    A network is in several pairs, so the pairs of two seeds are no independent values.

    >>> left_out([1, 2, 6], lambda seeds: float(np.mean(seeds))).round(9).tolist()  # of a mean: the values themselves
    [1.0, 2.0, 6.0]
    """
    whole = statistic(seeds)
    if len(seeds) < 3:
        return np.full(len(seeds), whole)
    parts = np.array([whole - statistic([one for one in seeds if one != left]) for left in seeds]) * (len(seeds) - 1)
    return whole + parts - parts.mean()


# ---- tables ----

WIDE = [
    "| quantity | difference | K | n | selected epoch | p | could have seen | last epoch | p | could have seen |",
    "| --- | --- | --- | ---: | --- | --- | --- | --- | --- | --- |",
]
COMPACT = [f"| difference | K | {' | '.join(METRICS.values())} |", f"| --- | --- | {' | '.join(['---'] * len(METRICS))} |"]
NARROW = ["| quantity | difference | K | n | mean | p | could have seen |", "| --- | --- | --- | ---: | --- | --- | --- |"]
"""Of what has no epoch, or belongs to some."""


def scores(part: Part) -> Iterator[str]:
    """What is no primary outcome: scores of each method minus those of soft labels."""
    few = ("stratified_sls",) if part.quarter else ("majority",)
    other = ("label_smoothing", "mixup") if part.quarter else ()
    primary = [(method, k) for method in HARD for k in VOTES]
    for metric, words in METRICS.items():
        cells = [*((method, k) for k, more in zip(VOTES, (few, ("majority", *other)), strict=True) for method in (*HARD, *more))]
        if metric == "soft_nll" or (metric == "soft_nll_t" and not part.quarter):
            cells = [one for one in cells if one not in primary and (part.quarter or one != ("majority", "all"))]
        for method, k in cells:
            yield line(words, minus(method, "soft"), k, part.gaps(metric, method, "soft", k))


def compact(part: Part, at: str) -> Iterator[str]:
    """The other methods and the other K of images, at one epoch; a star where both tests have p below 0.05."""
    cells = [(method, k) for k in VOTES for method in ("deterministic_control", "stratified_sls")]
    cells += [(method, "all") for method in ("label_smoothing", "mixup")]
    methods = (*HARD, "deterministic_control", "stratified_sls", "majority")
    for method, k in (*cells, *((method, k) for k in OTHER_VOTES for method in methods)):
        gaps = [part.gaps(metric, method, "soft", k)(at) for metric in METRICS]
        entries = [interval(one) + (" *" if shown(one) else "") for one in gaps]
        yield f"| {minus(method, 'soft')} | {k} | {' | '.join(entries)} |"


def deliveries(part: Part) -> Iterator[str]:
    """Soft NLL: fresh against held labels, the match of votes and images, the order of votes, exact shares."""
    pairs = [*((held, "sls", "all") for held in HELD), ("shuffled_sls", "sls", "all")]
    pairs += [("deterministic_control", "multipass", "5"), ("stratified_sls", "sls", "5"), ("stratified_sls", "multipass", "5")]
    for a, b, k in (*pairs, ("multipass", "sls", "5"), ("multipass", "sls", "all")):
        yield line("soft NLL", minus(a, b), k, part.gaps("soft_nll", a, b, k))


@cache
def by_pass() -> dict[str, np.ndarray]:
    """Soft NLL of multipass minus SLS in the passes of the five votes: whether an advantage shrinks once votes repeat."""
    gaps = quarter_numbers.curves("multipass", "5") - quarter_numbers.curves("sls", "5")
    each = gaps.reshape(len(gaps), -1, quarter_numbers.PASS).mean(2)  # (seeds, passes)
    found = {name: each[:, first:behind].mean(1) for name, (first, behind) in PASSES.items()}
    return found | {"2 to 20, less pass 1": each[:, 1:].mean(1) - each[:, 0]}


def passes() -> Iterator[str]:
    """The same, line by line."""
    for name, values in by_pass().items():
        yield f"| soft NLL, pass {name} | {minus('multipass', 'sls')} | 5 | {len(values)} | {cell(values)} |"


def dynamics(part: Part) -> Iterator[str]:
    """The epoch with the lowest soft NLL of the selection images, and the first one near it."""
    for (quantity, words), k in product({"best_epoch": "best epoch", "near_best_epoch": "first epoch near it"}.items(), VOTES):
        for method in (*HARD, *(("majority",) if k == "all" else ())):
            values = part.probe_gaps("dynamics", f"full/{quantity}", method, k)("best")
            yield f"| {words} | {minus(method, 'soft')} | {k} | {len(values)} | {cell(values)} |"


def curvature(part: Part) -> Iterator[str]:
    """Trace and largest eigenvalue, of all images and of the most disputed ones."""
    words = {"trace": "trace of the Hessian", "lambda_max": "its largest eigenvalue"}
    for (quantity, name), (view, where) in product(words.items(), SLICES.items()):
        for k, method in product(VOTES, HARD if part.quarter else (*HARD, "majority")):
            yield line(name + where, minus(method, "soft"), k, part.probe_gaps("hessian", f"{view}/{quantity}", method, k))


def geometry(part: Part) -> Iterator[str]:
    """Barriers, how alike networks are, and how gradients follow entropy."""
    yield from barriers(part)
    yield from likeness(part)
    for k, method in product(VOTES, HARD):
        what = "Spearman correlation of gradient variance and entropy"
        yield line(what, minus(method, "soft"), k, part.probe_gaps("gradient_variance", "full/spearman", method, k))


def barriers(part: Part) -> Iterator[str]:
    """Between SLS and soft labels of one seed: against none, and against barriers between two seeds of one method."""
    norms = {"interpolated": ", interpolated batch norm", "reestimated": ", re-estimated batch norm"}
    for (norm, words), k in product((norms if part.quarter else {"interpolated": ""}).items(), VOTES):
        pairs = {at: part.pairs("barrier", f"full/barrier_{norm}_bn", k, at) for at in EPOCHS}
        seeds = sorted({i for a, b, i, j in pairs["best"] if (a, b) == ("sls", "soft") and i == j})
        yield line(f"barrier{words}", "`sls` to `soft`, against none", k, partial(_of_one_seed, pairs, seeds))
        two = partial(_against_two_seeds, pairs, seeds)
        yield line(f"barrier{words}", "`sls` to `soft`, against two seeds of one", k, two, pair_cell)


def likeness(part: Part) -> Iterator[str]:
    """CKA and Grad-CAM of two seeds under one method, minus the same under soft labels; CKA of two methods of one seed."""
    probes = [("cka", "full/cka", "CKA of two seeds")]
    if part.has("gradcam"):
        probes += [("gradcam", f"{view}/correlation", f"Grad-CAM of two seeds{where}") for view, where in SLICES.items()]
    for (probe, quantity, words), k in product(probes, VOTES):
        pairs = {at: part.pairs(probe, quantity, k, at) for at in EPOCHS}
        seeds = sorted({i for a, b, i, _ in pairs["best"] if a == b == "soft"})
        for method in HARD:
            yield line(words, minus(method, "soft"), k, partial(_more_alike, pairs, method, seeds), pair_cell)
        if probe == "cka":
            two = partial(_against_two_seeds, pairs, seeds)
            yield line("CKA of one seed", "`sls` to `soft`, against two seeds of one", k, two, pair_cell)


def _of_one_seed(pairs: dict[str, Pairs], seeds: list[int], at: str) -> np.ndarray:
    return np.array([pairs[at]["sls", "soft", seed, seed] for seed in seeds])


def _more_alike(pairs: dict[str, Pairs], method: str, seeds: list[int], at: str) -> np.ndarray:
    return left_out(seeds, lambda some: across(pairs[at], method, some) - across(pairs[at], "soft", some))


def _against_two_seeds(pairs: dict[str, Pairs], seeds: list[int], at: str) -> np.ndarray:
    def difference(some: Sequence[int]) -> float:
        control = (across(pairs[at], "sls", some) + across(pairs[at], "soft", some)) / 2
        return float(np.mean(_of_one_seed(pairs, list(some), at))) - control

    return left_out(seeds, difference)


def outliers(part: Part, images: str) -> Iterator[str]:
    """AUROC by detector."""
    quantities = next(iter(part.study.probed("ood", "last").values()))
    for detector, k, method in product(DETECTORS, VOTES, HARD):
        name = f"{images}/{detector}/auroc"
        if name in quantities:
            yield line(detector.replace("_", " "), minus(method, "soft"), k, part.probe_gaps("ood", name, method, k))


Table = tuple[list[str], Callable[[], Iterator[str]]]
"""Its head, and what makes its lines."""


GLANCE = "The claims at a glance"
CENTRAL = [
    ("fresh against stale labels", "Fresh labels, their match, their order", ["| soft NLL | `sls,hold="]),
    ("the match of votes and images", "Fresh labels, their match, their order", ["| soft NLL | `shuffled_sls`"]),
    ("flatter", "Curvature", [f"| trace of the Hessian | `{method}` − `soft` |" for method in HARD]),
    ("other basins", "Barriers, representations, gradients", ["| barrier"]),
    ("calibration", "Scores", [f"| ECE against the majority label | `{method}` − `soft` |" for method in (*HARD, "majority")]),
    ("outliers", "Outliers, SVHN: AUROC", [f"| energy | `{method}` − `soft` |" for method in HARD]),
    ("outliers", "Outliers, CIFAR-100: AUROC", [f"| energy | `{method}` − `soft` |" for method in HARD]),
]
"""Each central claim that is no primary outcome, and the lines of a study's tables, all votes, that speak of it."""


def at_a_glance(made: dict[str, Table]) -> Iterator[str]:
    """The lines of the central claims, each with its claim before it."""
    for claim, topic, beginnings in CENTRAL:
        for found in made[topic][1]():
            if found.startswith(tuple(beginnings)) and " | all | " in found:
                where = f" ({topic.split(':')[0].removeprefix('Outliers, ')})" if claim == "outliers" else ""
                yield f"| {claim}{where} {found}"


def topics(part: Part) -> dict[str, Table]:
    """The tables of a study, by their headings."""
    made = _by_topic(part)
    head = ["| claim " + WIDE[0], "| --- " + WIDE[1]]
    return {GLANCE: (head, partial(at_a_glance, made)), **made}


def _by_topic(part: Part) -> dict[str, Table]:
    made: dict[str, Table] = {"Scores": (WIDE, partial(scores, part))}
    if not part.quarter:
        made["Other methods and other K, selected epoch"] = COMPACT, partial(compact, part, "best")
        made["Other methods and other K, last epoch"] = COMPACT, partial(compact, part, "last")
    made["Fresh labels, their match, their order"] = WIDE, partial(deliveries, part)
    if part.quarter:
        made["Multipass against SLS, pass by pass"] = NARROW, passes
    made["Epochs"] = NARROW, partial(dynamics, part)
    made["Curvature"] = WIDE, partial(curvature, part)
    made["Barriers, representations, gradients"] = WIDE, partial(geometry, part)
    return made | {f"Outliers, {words}: AUROC": (WIDE, partial(outliers, part, images)) for images, words in OUTLIERS.items()}


STUDIES = {
    "The quarter study": QUARTER,
    "A frozen image encoder, where training stops early": EARLY,
    "A frozen image encoder, where the votes are memorised": MEMORISED,
}


def below_the_prose() -> Iterator[str]:
    """The page from its first table on."""
    for heading, part in STUDIES.items():
        yield from (f"## {heading}", "")
        for topic, (head, lines) in topics(part).items():
            yield from (f"### {topic}", "", *head, *lines(), "")


def tables() -> list[str]:
    """Everything below the prose but empty lines."""
    return [line for line in below_the_prose() if line]


TABLES = (tables,)


# ---- prose ----


def statements() -> Iterator[Statement]:
    """The prose."""
    yield says("with the {} % interval", 95)
    yield says("with {} % power", 80)
    yield says("a single line below {}", 0.05)
    yield says("first epoch within {} % of that", 5)
    yield says("is never below {}, so", 0)
    yield says("not both are below {}", 0.05)
    yield says("where both are below {}", 0.05)
    recorded = QUARTER.study.results
    known = {
        key: (found["ece_votes"], score["ece_votes"])
        for key, score in of_logits(QUARTER.study.folder / f"cifar10h/{QUARTER.recipe}.tar.xz").items()
        if "ece_votes" in (found := recorded[(QUARTER.recipe, *key[:3])][key[3]]["full"])
    }
    assert {key[2] for key in recorded if "ece_votes" not in recorded[key]["best"]["full"]} == {"5"}
    yield says("seeds {} and {} with K = 5", *sorted({k[3] for k in recorded if "ece_votes" not in recorded[k]["best"]["full"]}))
    yield says("moves the score of the others by at most {:.4f}", max(abs(one - other) for one, other in known.values()))
    yield says("the {} images of each seed that are evaluated", "2,000")
    yield from delivery_statements()
    yield from score_statements()
    yield from probe_statements()


def delivery_statements() -> Iterator[Statement]:
    """Fresh labels, the match of votes, multipass against SLS."""
    yield says("both p are below {} for every holding time", 0.05)
    for part, held, at in product((EARLY, MEMORISED), HELD, EPOCHS):
        gaps = part.gaps("soft_nll", held, "sls", "all")(at)
        assert shown(gaps)
        assert gaps.mean() > 0
    yield says("In the quarter study {} seeds", "five")
    behind = []
    for epochs, held in zip((5, 10, 50), HELD, strict=True):
        gaps = QUARTER.gaps("soft_nll", held, "sls", "all")("last")
        behind += [epochs] if gaps.mean() > 0 and resampled_test(gaps, ratio=RATIO).p < CRITERION.alpha else []
    yield says("labels held for {} and {} epochs behind", *behind)
    for part, at in product(STUDIES.values(), EPOCHS):
        assert not shown(part.gaps("soft_nll", "deterministic_control", "multipass", "5")(at))
        assert not shown(part.gaps("soft_nll", "stratified_sls", "multipass", "5")(at))
        assert shown(part.gaps("soft_nll", "multipass", "sls", "5")(at)) == (not part.quarter and at == "last")
    yield says("multipass is {:.4f} and {:.4f} nat below SLS", *(-_of(part, "multipass", "sls") for part in (EARLY, MEMORISED)))
    assert min(min(both_p(values)) for values in by_pass().values()) > CRITERION.alpha


def _of(part: Part, a: str, b: str) -> float:
    return float(part.gaps("soft_nll", a, b, "5")("last").mean())


def score_statements() -> Iterator[Statement]:
    """Other methods, other K, calibration."""
    for part, other, metric, at in product((EARLY, MEMORISED), ("label_smoothing", "mixup"), ("soft_nll", "soft_nll_t"), EPOCHS):
        gaps = part.gaps(metric, other, "soft", "all")(at)
        assert shown(gaps)
        assert gaps.mean() > 0
    mixup = [QUARTER.gaps("soft_nll", "mixup", "soft", "all")(at) for at in EPOCHS]
    assert all((gaps < 0).all() and resampled_test(gaps, ratio=RATIO).p < CRITERION.alpha for gaps in mixup)
    yield says("mixup is {:.3f} and {:.3f} nat below soft labels there", *(-gaps.mean() for gaps in mixup))

    left = [QUARTER.gaps("soft_nll_t", "mixup", "soft", "all")(at) for at in EPOCHS]
    assert min(p for gaps in left for p in both_p(gaps)) > CRITERION.alpha
    yield says("per network it is {:.3f} and {:.3f}, which neither", *(-gaps.mean() for gaps in left))

    hard = (*HARD, "deterministic_control", "stratified_sls")
    votes = (*OTHER_VOTES, *VOTES)
    last = [MEMORISED.gaps("soft_nll", method, "soft", k)("last") for method, k in product(hard, votes)]
    tempered = [MEMORISED.gaps("soft_nll_t", method, "soft", k)("last") for method, k in product(hard, votes)]
    assert all(shown(gaps) and gaps.mean() < 0 for gaps in (*last, *tempered))
    sizes = sorted(-gaps.mean() for gaps in last)
    yield says("all {} hard deliveries are", "four")
    yield says("ahead at every K, by {:.3f} to {:.3f} nat", sizes[0], sizes[-1])
    selected = [MEMORISED.gaps("soft_nll", method, "soft", k)("best") for method, k in product(hard, votes)]
    assert min(gaps.mean() for gaps in selected) > 0
    yield says("behind at every K, by up to {:.3f} nat", max(gaps.mean() for gaps in selected))
    early = [abs(EARLY.gaps("soft_nll", method, "soft", k)(at).mean()) for method, k, at in product(hard, votes, EPOCHS)]
    yield says("within {:.4f} nat", np.ceil(1e4 * max(early)) / 1e4)

    for method, metric in product(HARD, ("ece_eqmass", "ece_votes")):
        gaps = MEMORISED.gaps(metric, method, "soft", "5")("last")
        assert gaps.mean() < 0
        assert shown(gaps)
    for k, metric in product(VOTES, ("ece_eqmass", "ece_votes")):
        assert MEMORISED.gaps(metric, "majority", "soft", k)("last").mean() > 0
        assert shown(MEMORISED.gaps(metric, "majority", "soft", k)("last"))
    for k, at in product(VOTES, EPOCHS):
        assert EARLY.gaps("ece_eqmass", "majority", "soft", k)(at).mean() < 0
        assert shown(EARLY.gaps("ece_eqmass", "majority", "soft", k)(at))


def probe_statements() -> Iterator[Statement]:
    """Curvature, barriers, representations, outliers."""
    for part, method, k in product(STUDIES.values(), HARD, VOTES):
        trace = part.probe_gaps("hessian", "full/trace", method, k)
        assert (trace("last") < 0).all()
        assert not shown(trace("best"))
    for part, k, at in product((EARLY, MEMORISED), VOTES, EPOCHS):
        majority = part.probe_gaps("hessian", "full/trace", "majority", k)(at)
        assert (majority < 0).all()
        hard = [part.probe_gaps("hessian", "full/trace", method, k)(at).mean() for method in HARD]
        assert majority.mean() < min(hard)
    for method, k in product(HARD, VOTES):
        assert (QUARTER.probe_gaps("hessian", "high_disagreement/trace", method, k)("last") < 0).all()

    seeds = list(range(16, 22))
    below = []
    for at in EPOCHS:
        control, mixed = (_against_two_seeds({at: QUARTER.pairs("barrier", f"full/barrier_{bn}_bn", "all", at)}, seeds, at)
                          for bn in ("reestimated", "interpolated"))  # fmt: skip
        assert resampled_test(control, ratio=RATIO).p < CRITERION.alpha < resampled_test(mixed, ratio=RATIO).p
        below.append(-control.mean())
        for bn in ("reestimated", "interpolated"):
            alone = QUARTER.pairs("barrier", f"full/barrier_{bn}_bn", "all", at)
            assert shown(_of_one_seed({at: alone}, seeds, at))
    yield says("by {:.2f} and {:.2f} nat with re-estimated", *below)
    pairs = {"last": MEMORISED.pairs("cka", "full/cka", "5", "last")}
    yield says(
        "by {:.3f} under SLS and {:.3f} under multipass", *(_more_alike(pairs, m, list(range(5)), "last").mean() for m in HARD)
    )
    follows = [
        abs(part.probe_gaps("gradient_variance", "full/spearman", method, k)(at).mean())
        for part, method, k, at in product(STUDIES.values(), HARD, VOTES, EPOCHS)
    ]
    yield says("differ by at most {:.3f}", np.ceil(1e3 * max(follows)) / 1e3)

    measured = next(iter(MEMORISED.study.probed("ood", "last").values()))
    detectors = [detector for detector in DETECTORS if f"svhn/{detector}/auroc" in measured]
    ahead = [
        detector
        for detector in detectors
        if all(
            (MEMORISED.probe_gaps("ood", f"{images}/{detector}/auroc", method, k)("last") > 0).all()
            for images, method, k in product(OUTLIERS, HARD, VOTES)
        )
    ]
    assert "knn" not in ahead
    yield says("{} of {} detectors favour", ONES[len(ahead) - 3], ONES[len(detectors) - 3])
    rest = product(STUDIES.values(), OUTLIERS, DETECTORS, HARD, VOTES, EPOCHS)
    for part, images, detector, method, k, at in rest:
        name = f"{images}/{detector}/auroc"
        if name in next(iter(part.study.probed("ood", "last").values())):
            assert not shown(part.probe_gaps("ood", name, method, k)(at))


if __name__ == "__main__":
    print("\n".join(below_the_prose()).strip())
