"""What a claim is, what it is tested on, and what a verdict is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.rules import NO_MARGIN, Margin, Rules
from hardlabels.reporting.claims.status import Status, status_word
from hardlabels.reporting.claims.subjects import Subject
from hardlabels.runs.quantity import Quantity

NAN = float("nan")
Kind: TypeAlias = Literal["greater", "less", "equal"]


@dataclass(frozen=True)
class Comparison:
    """One row of a claim: two numbers for each unit (a seed), and what is claimed about their difference.

    Attributes:
        label: for people.
        quantity: what is compared.
        kind: the first side is claimed to be greater, less, or equal within the margin.
        left: value by unit.
        right: value by unit of what it is compared with; a constant where that is a number.
        expected: the units that the study set out to have.
        ks: the numbers of votes that it is about.
        shift: the first side is claimed to be greater (less) than the second plus this.
        margin: the difference that does not matter.
        ordered: whether the means are in the claimed order too; always true but for strict trends.
        note: what the numbers alone do not say.
        unselected: the mean difference at the epochs that the other seeds' curves choose, where the epoch was selected on the
            scored items; None elsewhere.
        measure: what the numbers are called where they are not the quantity's own but made of it; their unit is another one then.
    """

    label: str
    quantity: Quantity
    kind: Kind
    left: dict[int, float]
    right: dict[int, float]
    expected: tuple[int, ...]
    ks: tuple[float, ...]
    shift: float = 0.0
    margin: Margin = NO_MARGIN
    ordered: bool = True
    note: str = ""
    unselected: float | None = None
    measure: str = ""

    @property
    def units(self) -> list[int]:
        """Those that have both numbers."""
        return [unit for unit in self.expected if unit in self.left and unit in self.right]

    @property
    def sides(self) -> tuple[list[float], list[float]]:
        """Both sides, on the units they share."""
        return [self.left[unit] for unit in self.units], [self.right[unit] for unit in self.units]

    @property
    def missing(self) -> int:
        """How many units have no number on either side."""
        return len(self.expected) - len(self.units)


class Test(Protocol):
    """A kind of test: which comparisons a claim rests on. The claim needs every one of them."""

    @property
    def unit(self) -> str:
        """What one observation is: seeds, or pairs of them."""
        ...

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Whom the claim is about."""
        ...

    @property
    def probes(self) -> tuple[str, ...]:
        """What measures it, beside the metrics of each run."""
        ...

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """Those that the study can make, finished or not."""
        ...

    def absent(self, design: Design) -> list[str]:
        """Methods that the claim is about and that the study does not have."""
        ...

    def describe(self, rules: Rules) -> dict[str, str]:
        """``test`` and ``direction`` in words."""
        ...

    def tempered(self) -> "Test | None":
        """The same test on soft NLL after one temperature; None where it is not about soft NLL."""
        ...


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or of ours.

    Attributes:
        name: short, unique; also the page's anchor.
        topic: the heading it stands under.
        says: the claim, in our own words.
        where: in which section, table or figure.
        published: the numbers it rests on there.
        study: the study in ``conf/study`` that was made to answer it.
        test: how it is tested here.
        remark: what a reader should know before believing either side.
        ours: whether no paper claims it.
        effect: quantity to the size of the difference that the paper's tables have, the least of several.
    """

    name: str
    topic: str
    says: str
    where: str
    published: str
    study: str
    test: Test
    remark: str = ""
    ours: bool = False
    effect: Mapping[Quantity, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """What became of one comparison.

    Attributes:
        label: which one.
        quantity: its name in the records.
        kind: greater, less or equal.
        of: units that the study set out to have.
        left: mean of the first side.
        right: mean of the second.
        estimate: Hodges-Lehmann estimate of the difference.
        low: lower end of its exact interval.
        high: upper end.
        level: what that interval attains.
        corrected_low: lower end of the 1 - 2 alpha interval of the corrected resampled t-test, about the mean difference.
        corrected_high: its upper end.
        sd: of the differences, over units.
        agreeing: units with the claimed sign (for equality: within the margin).
        claimed_side: whether the mean difference has the claimed sign (for equality: lies within the margin).
        n: units that have both.
        p: exact Wilcoxon, one-sided (for equality: of the two one-sided tests).
        p_corrected: the same question to the corrected resampled t-test.
        decides: the p that counts: the larger one, or Wilcoxon's alone in the paper's own regime.
        against: the p of the opposite, by the same tests, after Holm over the claim's comparisons.
        margin: the difference that does not matter; None without one.
        margin_why: where it comes from.
        inside: whether the corrected interval lies inside the margin.
        untestable: why this comparison cannot be tested here; empty where it can.
        detectable: the smallest difference that could have been seen; of an equality, the smallest margin that could have been
            shown to hold it. None where it is not asked for.
        seeds_for_effect: units that the published difference would take; None without one, and where 200 are too few.
        out_of_reach: whether no number of seeds on the same items would show the published difference.
        note: what the numbers alone do not say.
        slice: of the items that the quantity was measured on.
        unselected: the mean difference at the epochs that the other seeds' curves choose, where the epoch was selected on the
            scored items; None elsewhere.
        measure: what the numbers are called where they are made of the quantity.
        differences: first side minus second, by unit in order; for the page's small pictures, and not in the JSON.
    """

    label: str
    quantity: str
    kind: Kind
    of: int
    left: float = NAN
    right: float = NAN
    estimate: float = NAN
    low: float = NAN
    high: float = NAN
    level: float = NAN
    corrected_low: float = NAN
    corrected_high: float = NAN
    sd: float = NAN
    agreeing: int = 0
    claimed_side: bool = False
    n: int = 0
    p: float = 1.0
    p_corrected: float = 1.0
    decides: float = 1.0
    against: float = 1.0
    margin: float | None = None
    margin_why: str = "none"
    inside: bool = False
    untestable: str = ""
    detectable: float | None = None
    seeds_for_effect: int | None = None
    out_of_reach: bool = False
    note: str = ""
    slice: str = "full"
    unselected: float | None = None
    measure: str = ""
    differences: tuple[float, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What finished runs say about a claim, at one checkpoint.

    Attributes:
        status: see :mod:`~hardlabels.reporting.claims.status`.
        sentence: why, with numbers.
        n: units (paired seeds) of the comparison that has fewest.
        p: the largest deciding p of its comparisons; the claim needs all of them. None without data.
        least_p: the least that the exact p can be with n units.
        needed: units from which on the exact test can support the claim at all.
        rows: its comparisons.
        missing: what was asked for and is not there.
        commands: what to run for it.
        unit: what n and ``needed`` count.
        how: test, direction and margin in words.
        tempered: the same claim on soft NLL after one temperature; None where it is not about soft NLL.
    """

    status: Status
    sentence: str
    n: int = 0
    p: float | None = None
    least_p: float | None = None
    needed: int | None = None
    rows: tuple[Row, ...] = ()
    missing: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    unit: str = "seeds"
    how: dict[str, str] = field(default_factory=dict)
    tempered: "Finding | None" = None

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        found = asdict(self)
        found["tempered"] = None if self.tempered is None else self.tempered.plain()
        how, rows = found.pop("how"), found.pop("rows")
        comparisons = [{name: value for name, value in row.items() if name != "differences"} for row in rows]
        return {**found, **how, "comparisons": comparisons}


@dataclass(frozen=True)
class Verdict:
    """What finished runs say about a claim: at the selected epoch and at the last one.

    Attributes:
        claim: the claim.
        at: checkpoint to finding.
        elsewhere: whether this study was not made for it.
        own_regime: whether the study is the paper's own data and recipe.
    """

    claim: Claim
    at: dict[str, Finding]
    elsewhere: bool = False
    own_regime: bool = True

    def word(self, checkpoint: str) -> str:
        """The status in the words that people read."""
        return status_word(self.at[checkpoint].status, carried=not (self.own_regime or self.claim.ours))

    def status(self, checkpoint: str) -> Status:
        """The status at a checkpoint."""
        return self.at[checkpoint].status

    @property
    def commands(self) -> tuple[str, ...]:
        """What to run for it, at either checkpoint."""
        return tuple(dict.fromkeys(command for finding in self.at.values() for command in finding.commands))

    @property
    def tested(self) -> bool:
        """Whether there are numbers at either checkpoint."""
        return any(finding.status != "not run" for finding in self.at.values())

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        claim = {"claim": self.claim.name, "says": self.claim.says, "where": self.claim.where}
        found = {checkpoint: {"verdict": self.word(checkpoint), **finding.plain()} for checkpoint, finding in self.at.items()}
        return {**claim, "elsewhere": self.elsewhere, **found}
