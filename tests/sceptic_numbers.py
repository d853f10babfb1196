"""What a sceptical reader asks of the primary outcomes, answered from the committed records after the results were known.

- :func:`outcomes`: are they computed as was written down? Once more, from ``result.json`` with scipy alone.
- :func:`hanging_on_one_seed`: would any decision be another one without one of the seeds?
- :func:`at_one_epoch`: is a lead only that of the epochs at which the methods were stopped?
- :func:`correlation_by_shared_images` and :func:`interval_over_seeds_and_images`: how much do the differences of two seeds have
  in common because they are scored on some of the same images? The corrected t-test takes it by a rule of thumb.
- :func:`tempered_table`: is what hard labels keep of their lead after a temperature due to their changing?

``python -m tests.sceptic_numbers`` prints the table.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import yaml
from scipy.special import log_softmax
from scipy.stats import t as student
from scipy.stats import wilcoxon

from hardlabels.runs.archive import read_members
from tests import change_numbers, image_numbers, pair_numbers, quarter_numbers
from tests.evidence_numbers import Part, across, left_out
from tests.mechanism_numbers import RATIO, both_p
from tests.numbers import ONES, Statement, says
from tests.registered_numbers import ROOT, Key, Registered, read_files

CHECKPOINTS = {"best": "selected epoch", "last": "last epoch"}
WORDS = {"soft_nll": "soft NLL", "soft_nll_t": "soft NLL after one temperature"}
ALPHA, SHARE = 0.05, 0.1
"""Of a family of tests; of the gap between majority and soft labels that is of no matter."""


# ---- the primary outcomes once more ----


@dataclass(frozen=True)
class Outcome:
    """A primary difference, by the words of ``results/images/README.md``."""

    key: tuple[str, str, str, str, str]  # quantity, claim, K, method, checkpoint: as primary.csv has them
    difference: float
    low: float
    high: float
    margin: float
    p: float
    p_corrected: float
    of_no_matter: bool
    status: str


def outcomes(study: Registered, recipe: str, seeds: Sequence[int]) -> list[Outcome]:
    """The families that ``conf/study/NAME.yaml`` registers, for some seeds."""

    def gaps(metric: str, method: str, k: str, at: str, against: str = "soft") -> np.ndarray:
        return np.subtract(
            *([_score(study.name, recipe, metric, one, k, seed, at) for seed in seeds] for one in (method, against))
        )

    plan = registered(study.name)
    margins = {at: plan.get("share", SHARE) * gaps("soft_nll", "majority", "all", at).mean() for at in CHECKPOINTS}
    found = []
    for family in plan["families"]:
        metric, k = family.get("quantity", plan["quantity"]), str(family["K"] or "all")
        against = family.get("against", plan["against"])
        named = "" if against == plan["against"] else f" − {against}"
        cells = [(method, at) for method in family.get("methods", plan["methods"]) for at in CHECKPOINTS]
        differences = [gaps(metric, method, k, at, against) for method, at in cells]
        exact = holm([float(wilcoxon(d, method="exact").pvalue) for d in differences])
        corrected = holm([corrected_p(d) for d in differences])
        for (method, at), d, p, p_corrected in zip(cells, differences, exact, corrected, strict=True):
            half = student.ppf(0.95, len(d) - 1) * corrected_error(d)
            low, high = float(d.mean() - half), float(d.mean() + half)
            inside = -margins[at] < low and high < margins[at]
            status = judged(family["claim"], below=d.mean() < 0, shown=max(p, p_corrected) <= ALPHA, of_no_matter=inside)
            key = WORDS[metric], family["claim"], k, f"{method}{named}", CHECKPOINTS[at]
            found.append(Outcome(key, float(d.mean()), low, high, margins[at], p, p_corrected, inside, status))
    return found


REGISTERED = (quarter_numbers.STUDY, image_numbers.STUDY, pair_numbers.STUDY, change_numbers.STUDY)
STUDIES = {study.name: study for study in REGISTERED}


@cache
def _score(study: str, recipe: str, metric: str, method: str, k: str, seed: int, at: str) -> float:
    return Part(STUDIES[study], recipe).score(metric, method, k, seed, at)


@cache
def registered(name: str) -> dict:
    """What a study wrote down, with what it inherits."""
    conf = yaml.safe_load((ROOT / f"conf/study/{name}.yaml").read_text())
    return conf["primary"] if "primary" in conf else registered(conf["defaults"][0])


def judged(claim: str, *, below: bool, shown: bool, of_no_matter: bool) -> str:
    """The status of a difference.

    >>> judged("same", below=True, shown=True, of_no_matter=True), judged("better", below=True, shown=True, of_no_matter=True)
    ('supported', 'inconclusive')
    >>> judged("worse", below=True, shown=True, of_no_matter=False)
    'contradicted'
    """
    if claim == "same":
        return "supported" if of_no_matter else "contradicted" if shown else "inconclusive"
    if not shown or of_no_matter:
        return "inconclusive"
    return "supported" if below == (claim == "better") else "contradicted"


def corrected_error(differences: np.ndarray) -> float:
    """The standard error of Nadeau and Bengio."""
    return float(np.sqrt((1 / len(differences) + RATIO) * differences.var(ddof=1)))


def corrected_p(differences: np.ndarray) -> float:
    """Of their t-test, two-sided."""
    return float(2 * student.sf(abs(differences.mean()) / corrected_error(differences), len(differences) - 1))


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate([(len(p) - place) * p[i] for place, i in enumerate(order)])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, steps)
    return adjusted.tolist()


def hanging_on_one_seed(study: Registered, recipe: str) -> dict[tuple[str, ...], str]:
    """The outcomes that would have another status without one of the seeds, and the status that they have with all of them."""
    seeds = study.whole(recipe)
    statuses = {one.key: one.status for one in outcomes(study, recipe, seeds)}
    without = [one for left in seeds for one in outcomes(study, recipe, [seed for seed in seeds if seed != left])]
    return {one.key: statuses[one.key] for one in without if one.status != statuses[one.key]}


# ---- one epoch for both methods ----


@cache
def _curves(folder: Path) -> dict[Key, tuple[np.ndarray, np.ndarray]]:
    """Soft NLL of the selection images and of the evaluation images by epoch, of every run."""
    found = {}
    for key, content in read_files(folder, "history.csv").items():
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        select, evaluate = (np.array([float(row[f"{part}/soft_nll"]) for row in rows]) for part in ("select", "evaluate"))
        found[key] = select, evaluate
    return found


def at_one_epoch(study: Registered, recipe: str, method: str, k: str) -> np.ndarray:
    """(seeds,) soft NLL minus that of soft labels, both at the epoch where the mean of their two selection curves is lowest.

    Selected epochs of two runs differ, so that their difference is one of methods and of epochs. This one is of methods alone.
    """
    found = []
    for seed in study.whole(recipe):
        (select, evaluate), (select_soft, evaluate_soft) = (
            _curves(study.folder)[recipe, one, k, seed] for one in (method, "soft")
        )
        epoch = int((select + select_soft).argmin())
        found.append(evaluate[epoch] - evaluate_soft[epoch])
    return np.array(found)


# ---- images that two seeds share ----


def correlation_by_shared_images(differences: np.ndarray) -> float:
    r"""The correlation of two seeds' mean differences that comes from the images on which both are scored.

    Two means :math:`\bar d_a = \frac1{N_a} \sum_i d_{ai}` share the images that both have. Their covariance is estimated by

    .. math:: \frac1{N_a N_b} \sum_{i \in a \cap b} (d_{ai} - \bar d_a) (d_{bi} - \bar d_b),

    averaged over the pairs of seeds. The sample variance of the means estimates their variance less this covariance.

    What two seeds have in common because they are *trained* on some of the same images is not in it: one data set cannot tell.

    Args:
        differences: (seeds, images) loss of a method minus that of another one; NaN where a seed does not evaluate an image.

    >>> loss = np.array([[1.0, -1.0, 3.0, np.nan], [1.0, -1.0, np.nan, 5.0]])  # they agree on the two images that they share
    >>> round(correlation_by_shared_images(loss), 3)  # means 1 and 5/3; shared terms 0 * -2/3 + -2 * -8/3, over 3 * 3
    0.727
    """
    size = (~np.isnan(differences)).sum(1)
    means = np.nanmean(differences, axis=1)
    centred = np.nan_to_num(differences - means[:, None])
    covariance = np.mean([centred[a] @ centred[b] / (size[a] * size[b]) for a, b in combinations(range(len(size)), 2)])
    return float(covariance / (means.var(ddof=1) + covariance))


def interval_over_seeds_and_images(differences: np.ndarray, draws: int = 1000) -> tuple[float, float]:
    """The 95 % percentile interval of the mean difference when seeds and images are both drawn anew, with replacement.

    Drawing both counts the noise of a single loss more than once, so that this interval is rather too wide (A. Owen, "The
    pigeonhole bootstrap", Annals of Applied Statistics 1, 386-411, 2007).

    Args:
        differences: as in :func:`correlation_by_shared_images`.
        draws: how many.
    """
    rng = np.random.default_rng(0)
    known, filled = (~np.isnan(differences)).astype(float), np.nan_to_num(differences)
    seeds, images = differences.shape
    weights = rng.multinomial(images, np.full(images, 1 / images), size=draws).astype(float)
    each = (weights @ filled.T) / (weights @ known.T)  # (draws, seeds)
    means = np.take_along_axis(each, rng.integers(0, seeds, (draws, seeds)), axis=1).mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


@cache
def _losses() -> dict[tuple[str, str, int, str], np.ndarray]:
    """(10,000,) soft NLL of each image, NaN of those not evaluated: the runs of the quarter study whose logits are published."""
    found = {}
    for name, content in read_members(quarter_numbers.STUDY.folder / "cifar10h/quarter.tar.xz"):
        method, k, seed, *rest = name.split("/")
        if rest == ["predictions.npz"]:
            arrays = np.load(io.BytesIO(content), allow_pickle=False)
            for at, key in quarter_numbers.CHECKPOINTS.items():
                loss = found[method, k[2:], int(seed[5:]), at] = np.full(10_000, np.nan)
                loss[arrays["index"]] = -(arrays["p"] * log_softmax(arrays[key].astype(np.float64), axis=1)).sum(1)
    return found


def by_image(method: str, k: str, at: str, seeds: Sequence[int]) -> np.ndarray:
    """(seeds, images) soft NLL minus that of soft labels of the same seed, in the quarter study."""
    return np.array([_losses()[method, k, seed, at] - _losses()["soft", k, seed, at] for seed in seeds])


# ---- is it the change of labels, or that they are hard? ----

VOTES = ("2", "5", "10", "25", "50", "all")
LATE = Part(image_numbers.STUDY, "image_head_long")


def after_temperature(a: str, b: str, k: str, at: str = "last") -> np.ndarray:
    """(seeds,) soft NLL after one temperature per network, one method minus another one, in the memorised regime of images."""
    return LATE.gaps("soft_nll_t", a, b, k)(at)


def tempered_table() -> list[str]:
    """Labels that change and labels that do not, minus soft labels: soft NLL after one temperature at the last epoch, by K."""
    lines = []
    for method in ("sls", "multipass", "majority"):
        gaps = [after_temperature(method, "soft", k) for k in VOTES]
        cells = [f"{one.mean():+.4f} ({(one < 0).sum()})".replace("-", "−") for one in gaps]
        lines.append("| " + " | ".join([f"`{method}`", *cells]) + " |")
    return lines


# ---- prose ----

HARD = quarter_numbers.HARD


def quarter_statements() -> Iterator[Statement]:
    """What the page of the quarter study says of this."""
    study, recipe = quarter_numbers.STUDY, quarter_numbers.RECIPE
    assert not hanging_on_one_seed(study, recipe)
    moved = {(m, k): at_one_epoch(study, recipe, m, k) for k in ("5", "all") for m in HARD}
    text = "{:.3f} and {:.3f} nat below soft labels with K = 5, and {:.3f} and {:.3f} with all votes: much the same"
    yield says(text, *(-gaps.mean() for gaps in moved.values()))
    own = {cell: study.gaps(recipe, *cell) for cell in moved}
    assert max(abs(moved[cell].mean() - own[cell].mean()) for cell in moved) < 0.007
    assert [cell for cell, gaps in moved.items() if corrected_p(gaps) <= ALPHA] == [("multipass", "all")]
    yield says("only the last of the {} differs from {} at {}", "four", 0, ALPHA)

    seeds = quarter_numbers.DECIDED
    cells = [(method, k, at) for method in HARD for k in ("5", "all") for at in CHECKPOINTS]
    differences = {cell: by_image(*cell, seeds) for cell in cells}
    yield says("and {:.0f} % of those that they train on", 100 * 7000 / 10_000)
    yield says("sets the correlation of their differences to {:.2f}", RATIO / (1 + RATIO))
    shared = [correlation_by_shared_images(one) for one in differences.values()]
    text = "over the {} comparisons of the {} seeds it lies between {:.3f} and {:.3f}"
    yield says(text, spelt(len(cells)), spelt(len(seeds)), min(shared), max(shared))
    ends = {cell: interval_over_seeds_and_images(one) for cell, one in differences.items() if cell[:2] != ("sls", "all")}
    assert {cell for cell, (_, high) in ends.items() if high < 0} == {cell for cell in cells if cell[0] == "multipass"}
    yield says("(bootstrap, {} %, rather too wide) leaves out {} for multipass in all {} comparisons", 95, 0, "four")
    yield says("whether other {:,} images", 10_000)

    quarter = Part(study, recipe)
    mixed = [quarter.gaps("soft_nll_t", "mixup", other, "all")(at).mean() for other in ("soft", "sls") for at in CHECKPOINTS]
    text = "per network it is {:.3f} and {:.3f} below soft labels, and {:.3f} below and {:.3f} above SLS with all votes"
    yield says(text, *(-mean for mean in mixed[:3]), mixed[3])
    probed = [("cka", "full/cka"), ("gradcam", "full/correlation")]
    p = {at: [likeness_p(quarter, *one, m, k, at) for one in probed for k in ("5", "all") for m in HARD] for at in CHECKPOINTS}
    assert min(p["best"]) > ALPHA
    assert [place for place, one in enumerate(p["last"]) if one <= ALPHA] == [6]  # Grad-CAM, all votes, SLS
    yield says("one of {} does, uncorrected: the maps of SLS with all votes, p = {:.3f}", spelt(len(p["last"])), p["last"][6])


def likeness_p(part: Part, probe: str, quantity: str, method: str, k: str, at: str) -> float:
    """Of the corrected t-test that two seeds of a method are as alike as two seeds of soft labels."""
    pairs = part.pairs(probe, quantity, k, at)
    seeds = sorted({i for a, b, i, _ in pairs if a == b == "soft"})
    return corrected_p(left_out(seeds, lambda some: across(pairs, method, some) - across(pairs, "soft", some)))


def images_statements() -> Iterator[Statement]:
    """What the page of the frozen image encoder says of this."""
    study = image_numbers.STUDY
    hanging = [hanging_on_one_seed(study, recipe) for recipe in image_numbers.REGIMES]
    assert {status for found in hanging for status in found.values()} == {"inconclusive"}
    moved = [at_one_epoch(study, "image_head_long", m, k).mean() for k in ("5", "all") for m in HARD]
    text = "behind by {:.3f} and {:.3f} nat with K = 5, and with all votes by {:.3f} and {:.3f}, so"
    yield says(text, *moved)

    fixed = [after_temperature("majority", "soft", k) for k in VOTES]
    ahead = [k for k, gaps in zip(VOTES, fixed, strict=True) if gaps.mean() < 0]
    yield says("ahead of them on average with {} to {} votes", ahead[0], ahead[-1])
    few = [-after_temperature(one, "soft", "5").mean() for one in ("majority", "sls", "multipass")]
    yield says("{:.3f} of the {:.3f} nat of SLS and of the {:.3f} of multipass", *few)
    change = {(m, k): after_temperature(m, "majority", k) for m in HARD for k in VOTES}
    p = [f"{one:.2g}" for m in HARD for one in both_p(change[m, "5"])]
    tests = "by the Wilcoxon and the corrected t-test, without Holm"
    text = f"SLS is {{:.3f}} below majority labels (p = {{}} and {{}}, {tests}), multipass {{:.3f}} (p = {{}} and {{}})"
    yield says(text, -change["sls", "5"].mean(), *p[:2], -change["multipass", "5"].mean(), *p[2:])
    others = {cell: gaps for cell, gaps in change.items() if cell[1] != "5"}
    assert all(gaps.mean() < 0 and max(both_p(gaps)) <= ALPHA for gaps in others.values())
    sizes = [-gaps.mean() for gaps in others.values()]
    yield says("they are ahead of them by {:.3f} to {:.3f} nat", min(sizes), max(sizes))
    yield says("by both tests at {}", ALPHA)
    methods = ("majority", "sls", "multipass", "soft")
    known = [study.values("image_head_long", m, "5", "ent_corr", "last").mean() for m in methods]
    yield says("({:.3f}; SLS {:.3f}, multipass {:.3f}, soft labels {:.3f})", *known)
    yield says("With K = 5, {:.3f} of", few[0])


def pair_statements() -> Iterator[Statement]:
    """What the page of the second study says of this."""
    studies = ((pair_numbers.STUDY, "image_pair_long"), (image_numbers.STUDY, "image_head_long"))
    hanging = [hanging_on_one_seed(pair_numbers.STUDY, recipe) for recipe in pair_numbers.REGIMES]
    assert {status for found in hanging for status in found.values()} == {"inconclusive"}
    here, there = (at_one_epoch(*study, "multipass", "all") for study in studies)
    text = "multipass is {:.3f} nat behind here, in {} of {} seeds, and {:.3f} there"
    yield says(text, here.mean(), (here > 0).sum(), len(here), there.mean())
    assert corrected_p(here) > ALPHA >= corrected_p(there)


def readme_statements() -> Iterator[Statement]:
    """What the README says of this."""
    mixed = Part(quarter_numbers.STUDY, quarter_numbers.RECIPE).gaps("soft_nll_t", "mixup", "soft", "all")("best")
    yield says("({:.3f} after one temperature)", -mixed.mean())
    study, recipe = quarter_numbers.STUDY, quarter_numbers.RECIPE
    cells = [(method, k, at) for method in HARD for k in ("5", "all") for at in CHECKPOINTS]
    left = [
        quarter_numbers.gaps_after_temperature(*cell).mean() / study.gaps(recipe, *cell[:2], at=cell[2]).mean() for cell in cells
    ]
    yield says("SLS and multipass keep {:.0f} to {:.0f} % of their lead", 100 * min(left), 100 * max(left))


def spelt(number: int) -> str:
    return ONES[number - 3]


TABLES = (tempered_table,)

if __name__ == "__main__":
    print("\n".join(tempered_table()))
