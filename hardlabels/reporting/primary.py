"""The primary analysis of a study that was written down before its first run, computed by those words and no others.

``primary`` in ``conf/study/NAME.yaml`` names the outcomes; ``results/quarter/README.md`` has the words for the study quarter:

- Differences *method minus soft of the same seed*, at several K, at the selected epoch and at the last one.
- Two tests, paired by seed, both two-sided: the exact Wilcoxon test and the corrected resampled t-test. The differences of one K
  are one family for Holm. A difference counts as *shown* when both tests reject it after Holm.
- The margin is a share of the mean gap between majority and soft labels (all votes) at the same checkpoint: that of
  ``conf/report.yaml``, unless the study has one. A difference is *of
  no matter* when the 1 - 2 alpha interval of the corrected t-test lies inside it, whatever its tests say.
- Claim *better*: supported when shown, on the better side and not of no matter; contradicted when shown, on the other side and
  not of no matter. Claim *worse*: the same with the sides exchanged. Claim *same*: supported when of no matter; contradicted when
  shown and not of no matter; not testable without a margin. Everything else is inconclusive, with the smallest difference that
  the study could have seen.
- Margins are treated as known, although they are measured on the same seeds. What each status would be with the margin at either
  end of its own interval is shown beside it, and changes nothing.
- A family may have methods, a quantity and a method to compare with of its own. A nat is a nat: soft NLL after a temperature has
  the margin of soft NLL.
- Seeds count when all of their primary cells are finished. Fewer than ``least_seeds`` of them are not analysed at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hardlabels.reporting.claims.claim import Finding, Verdict
from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.quantities import higher_is_better, label_of
from hardlabels.reporting.claims.rules import SAME_SCALE, Margin, Rules
from hardlabels.reporting.claims.status import EPOCHS, WORDS, Status
from hardlabels.reporting.primary_plan import SCALE, Family, Primary, Question
from hardlabels.runs.quantity import CHECKPOINTS, Quantity
from hardlabels.runs.spelling import write_votes
from hardlabels.statistics.holm import holm
from hardlabels.statistics.power import Criterion, smallest_effect
from hardlabels.statistics.resampled import resampled_test
from hardlabels.statistics.signed_rank import exact_p, subtract


@dataclass(frozen=True)
class Outcome:
    """One primary difference.

    Attributes:
        quantity: the outcome, for people.
        claim: what was claimed.
        K: number of votes, in words.
        method: which one, minus the method it is compared with, which is named where it is not that of the study.
        checkpoint: in words.
        n: paired seeds.
        difference: mean.
        sd: of the differences.
        low: lower end of the corrected 1 - 2 alpha interval.
        high: its upper end.
        p: exact Wilcoxon, two-sided, after Holm.
        p_corrected: corrected resampled t-test, two-sided, after Holm.
        margin: the difference that does not matter; None without one.
        shown: whether both tests reject.
        of_no_matter: whether the interval lies inside the margin.
        status: by the words above.
        detectable: the smallest difference that the study could have shown; None where the status is not inconclusive.
        status_narrow: the status with the margin at the lower end of its own interval; None without a margin.
        status_wide: likewise at the upper end.
    """

    quantity: str
    claim: Question
    K: str
    method: str
    checkpoint: str
    n: int
    difference: float
    sd: float
    low: float
    high: float
    p: float
    p_corrected: float
    margin: float | None
    shown: bool
    of_no_matter: bool
    status: Status
    detectable: float | None = None
    status_narrow: Status | None = None
    status_wide: Status | None = None

    @property
    def other_margins(self) -> str:
        """What the status would be with another margin, in words; empty where it would be the same."""
        ends = (("smaller", self.status_narrow), ("larger", self.status_wide))
        other = [f"{WORDS[status]} with the {which} margin" for which, status in ends if status not in (None, self.status)]
        where = f"{self.quantity}, {self.claim}, K = {self.K}, {self.method}, {self.checkpoint}"
        return f"{where}: {' and '.join(other)}" if other else ""


@dataclass(frozen=True)
class PrimaryResult:
    """What came of it.

    Attributes:
        quantity: for people.
        seeds: the whole ones.
        least_seeds: how many are needed.
        outcomes: one per difference; none where there are too few seeds.
        claims: what is said of each family as a whole, in words.
        margins: checkpoint in words to the margin.
        level: of the intervals, 1 - 2 alpha.
    """

    quantity: str
    seeds: tuple[int, ...]
    least_seeds: int
    level: float
    outcomes: tuple[Outcome, ...] = ()
    claims: tuple[str, ...] = ()
    margins: tuple[tuple[str, Margin], ...] = ()

    @property
    def refused(self) -> bool:
        """Whether there are too few whole seeds to say anything."""
        return len(self.seeds) < self.least_seeds

    @property
    def sentence(self) -> str:
        """How many seeds there are, and whether that is enough."""
        if self.refused:
            return (
                f"{len(self.seeds)} whole seeds; fewer than {self.least_seeds} are not analysed, as was written down beforehand."
            )
        return f"{len(self.seeds)} whole seeds: {', '.join(map(str, self.seeds))}."

    @property
    def sensitivity(self) -> str:
        """Which statuses hang on a margin that is itself measured."""
        changed = [outcome.other_margins for outcome in self.outcomes if outcome.other_margins]
        said = "no status changes"
        if changed:
            said = f"{len(changed)} of {len(self.outcomes)} statuses would be others: {'; '.join(changed)}"
        return f"Margins are treated as known. With each at the ends of its own corrected interval, {said}."


def whole_seeds(primary: Primary, design: Design) -> tuple[int, ...]:
    """The seeds that have the outcome in all of their primary cells, at both checkpoints."""
    found: list[set[int]] = []
    for checkpoint in CHECKPOINTS:
        view = design.at(checkpoint)
        quantities = dict.fromkeys([primary.quantity, *(family.quantity for family in primary.families)])
        found += [set(view.values(quantity, method, k)) for quantity in quantities for method, k in primary.cells]
    return tuple(sorted(set.intersection(*found)))


def whole_seeds_only(design: Design, primary: Primary) -> Design:
    """The design without the seeds that are not whole: time decides how many there are, not the results."""
    whole = set(whole_seeds(primary, design))
    kept = tuple(cell for cell in design.cells if cell.seed in whole)
    return replace(design, cells=kept) if kept else design


def analyse(primary: Primary, design: Design, rules: Rules) -> PrimaryResult:
    """The primary outcomes, or how many seeds there are where they are too few."""
    seeds = whole_seeds(primary, design)
    result = PrimaryResult(label_of(primary.quantity), seeds, primary.least_seeds, 1 - 2 * rules.alpha)
    if result.refused:
        return result
    outcomes: list[Outcome] = []
    claims = []
    margins: dict[str, Margin] = {}
    for family in primary.families:
        own = {checkpoint: _margin(primary, family, design.at(checkpoint), seeds, rules) for checkpoint in CHECKPOINTS}
        found = _outcomes(primary, family, design, seeds, own, rules)
        counts = {status: sum(outcome.status == status for outcome in found) for status in WORDS}
        words = ", ".join(f"{count} {WORDS[status]}" for status, count in counts.items() if count)
        claims.append(f"{_claim_words(primary, family)}: {_as_a_whole(found)} as a whole ({words}).")
        outcomes += found
        margins |= {f"{_scale(family).name}, {EPOCHS[checkpoint]}": margin for checkpoint, margin in own.items()}
    return replace(result, outcomes=tuple(outcomes), claims=tuple(claims), margins=tuple(margins.items()))


def _outcomes(
    primary: Primary, family: Family, design: Design, seeds: Sequence[int], margins: dict[str, Margin], rules: Rules
) -> list[Outcome]:
    """The differences of one family, corrected together."""
    differences: dict[tuple[str, str], np.ndarray] = {}
    for method in family.methods:
        for checkpoint in CHECKPOINTS:
            view = design.at(checkpoint)
            left, right = (view.values(family.quantity, one, family.K) for one in (method, family.against))
            differences[method, checkpoint] = subtract([left[seed] for seed in seeds], [right[seed] for seed in seeds])
    tests = {key: resampled_test(d, ratio=design.ratio) for key, d in differences.items()}
    names = {key: " ".join(key) for key in differences}
    exact = holm({names[key]: exact_p(d) for key, d in differences.items()})
    corrected = holm({names[key]: test.p for key, test in tests.items()})
    criterion = Criterion(design.ratio, family=len(differences), alpha=rules.alpha)
    found = []
    for (method, checkpoint), d in differences.items():
        key, margin, test = names[method, checkpoint], margins[checkpoint].value, tests[method, checkpoint]
        low, high = test.interval(1 - 2 * rules.alpha)
        shown = exact[key] <= rules.alpha and corrected[key] <= rules.alpha
        better = (test.mean > 0) == higher_is_better(family.quantity) and test.mean != 0
        status, narrow, wide = (
            _status(family.claim, shown=shown, better=better, of_no_matter=_inside(low, high, one), has_margin=one is not None)
            for one in (margin, *_ends(margins[checkpoint]))
        )
        outcome = Outcome(
            label_of(family.quantity),
            family.claim,
            write_votes(family.K),
            method if family.against == primary.against else f"{method} − {family.against}",
            EPOCHS[checkpoint],
            test.n,
            difference=test.mean,
            sd=test.sd,
            low=low,
            high=high,
            p=exact[key],
            p_corrected=corrected[key],
            margin=margin,
            shown=shown,
            of_no_matter=_inside(low, high, margin),
            status=status,
            status_narrow=None if margin is None else narrow,
            status_wide=None if margin is None else wide,
        )
        if status == "inconclusive":
            outcome = replace(outcome, detectable=smallest_effect(d, criterion, target=rules.power))
        found.append(outcome)
    return found


def _inside(low: float, high: float, margin: float | None) -> bool:
    return margin is not None and -margin < low and high < margin


def _ends(margin: Margin) -> tuple[float | None, float | None]:
    """The margin at both ends of its interval; an end at which soft labels are not better than majority labels is no margin."""
    low, high = margin.ends or (margin.value, margin.value)
    return (low if low and low > 0 else None), high


def _status(question: Question, *, shown: bool, better: bool, of_no_matter: bool, has_margin: bool) -> Status:
    if question == "same":
        if not has_margin:
            return "not testable"
        return "supported" if of_no_matter else "contradicted" if shown else "inconclusive"
    if not shown or of_no_matter:
        return "inconclusive"
    return "supported" if better == (question == "better") else "contradicted"


def _as_a_whole(family: Sequence[Outcome]) -> str:
    """A claim about all of them: supported when all are, contradicted when one is."""
    statuses = {outcome.status for outcome in family}
    if len(statuses) == 1:
        return WORDS[statuses.pop()]
    return WORDS["contradicted" if "contradicted" in statuses else "inconclusive"]


def _claim_words(primary: Primary, family: Family) -> str:
    claimed = "the same as" if family.claim == "same" else f"{family.claim} than"
    other = "" if family.quantity == primary.quantity else f" in {label_of(family.quantity)}"
    return f"{', '.join(family.methods)} {claimed} {family.against}{other}, K = {write_votes(family.K)}"


def _scale(family: Family) -> Quantity:
    """The quantity whose gap sets the margin."""
    return replace(family.quantity, name=SAME_SCALE.get(family.quantity.name, family.quantity.name))


def _margin(primary: Primary, family: Family, design: Design, seeds: Sequence[int], rules: Rules) -> Margin:
    quantity = _scale(family)
    soft, scale = (design.values(quantity, method, np.inf) for method in (primary.against, SCALE))
    sign = 1 if higher_is_better(quantity) else -1
    gaps = sign * subtract([soft[seed] for seed in seeds], [scale[seed] for seed in seeds])
    test, share = resampled_test(gaps, ratio=design.ratio), rules.shares.gap if primary.share is None else primary.share
    gap = float(np.mean(gaps))
    if gap <= 0:
        return Margin(None, f"no margin: {primary.against} is not better than {SCALE}, gap {gap:.4g}")
    low, high = (share * end for end in test.interval(1 - 2 * rules.alpha))
    return Margin(share * gap, f"{100 * share:g} % of {SCALE} − {primary.against}, {gap:.4g}", (low, high))


def too_few(verdict: Verdict, outcome: PrimaryResult) -> Verdict:
    """The verdict of a study whose primary analysis is refused: none is given before there are enough seeds."""
    if verdict.elsewhere:
        return verdict
    at = {
        checkpoint: Finding("not run", outcome.sentence, how=finding.how, unit=finding.unit, commands=finding.commands)
        for checkpoint, finding in verdict.at.items()
    }
    return replace(verdict, at=at)
