"""What a claim is, and what a verdict is."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from hardlabels.errors import InputError
from hardlabels.reporting.claims.design import Design
from hardlabels.statistics.holm import ALPHA

Status: TypeAlias = Literal["supported", "contradicted", "inconclusive", "not run"]
STATUSES: tuple[Status, ...] = ("supported", "contradicted", "inconclusive", "not run")
SIGNS: dict[Status, str] = {"supported": "✓", "contradicted": "✗", "inconclusive": "?", "not run": "–"}


@dataclass(frozen=True)
class Rules:
    """What must be settled before the numbers are seen; ``conf/report.yaml`` holds it.

    Attributes:
        alpha: level of a claim, over all of its comparisons.
        margins: last part of a quantity's name to the difference that does not matter, for claims of equality.
        thresholds: name to number, for claims such as "well above zero".
    """

    alpha: float = ALPHA
    margins: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)

    def margin(self, quantity: str) -> float:
        """The margin of a quantity; a probe's is found without the probe's name.

        >>> Rules(margins={"trace": 470.0}).margin("hessian/trace")
        470.0
        """
        return _number(self.margins, quantity.rsplit("/", 1)[-1], "margins", above_zero=True)

    def threshold(self, name: str) -> float:
        """A threshold by its name."""
        return _number(self.thresholds, name, "thresholds")


def _number(numbers: dict[str, float], name: str, where: str, *, above_zero: bool = False) -> float:
    value = numbers.get(name)
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
    if value is None or not fits or (above_zero and value <= 0):
        raise InputError(f"{where}.{name} must be a number{' above 0' if above_zero else ''}, got {value!r}")
    return float(value)


@dataclass(frozen=True)
class Comparison:
    """One row of a claim: two numbers a unit (a seed), and what is claimed about their difference.

    Attributes:
        label: for people.
        quantity: its name in the records.
        left: value by unit.
        right: value by unit of what it is compared with; a constant where that is a number.
        greater: whether left is claimed to be the greater one.
        shift: by how much at least; for equality the margin.
        expected: the units that the study set out to have.
        ordered: whether the means are in the claimed order too; always true but for strict trends.
        note: what the numbers alone do not say.
    """

    label: str
    quantity: str
    left: dict[int, float]
    right: dict[int, float]
    greater: bool
    shift: float
    expected: tuple[int, ...]
    ordered: bool = True
    note: str = ""

    @property
    def units(self) -> list[int]:
        """Those that have both numbers."""
        return [unit for unit in self.expected if unit in self.left and unit in self.right]

    @property
    def sides(self) -> tuple[dict[int, float], dict[int, float]]:
        """Both sides, on the units they share."""
        return {unit: self.left[unit] for unit in self.units}, {unit: self.right[unit] for unit in self.units}


class Test(Protocol):
    """A kind of test: which comparisons a claim rests on, and how they are read."""

    equal: bool
    """Whether equality is claimed, and not a difference."""

    @property
    def unit(self) -> str:
        """What one observation is: seeds, or pairs of them."""
        ...

    @property
    def subjects(self) -> tuple[str, ...]:
        """The methods that the claim is about."""
        ...

    def comparisons(self, design: Design, rules: Rules) -> list[Comparison]:
        """Those that the study can make, finished or not."""
        ...

    def absent(self, design: Design) -> list[str]:
        """Methods that the claim is about and that the study does not have."""
        ...

    def describe(self, rules: Rules) -> dict[str, str]:
        """``test``, ``direction`` and ``margin`` in words."""
        ...


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes:
        name: short, unique; also the page's anchor.
        topic: the heading it stands under.
        says: the claim, in our own words.
        where: in which section, table or figure.
        published: the numbers it rests on there.
        study: the study in ``conf/study`` that was made to answer it.
        test: how it is tested here.
        remark: what a reader should know before believing either side.
    """

    name: str
    topic: str
    says: str
    where: str
    published: str
    study: str
    test: Test
    remark: str = ""


@dataclass(frozen=True)
class Row:
    """What became of one comparison.

    Attributes:
        label: which one.
        left: mean of the first side.
        right: mean of the second.
        estimate: Hodges-Lehmann estimate of the difference.
        low: lower end of its exact interval.
        high: upper end.
        level: what the interval attains.
        agreeing: units with the claimed sign (for equality: within the margin).
        n: units that have both.
        of: units that the study set out to have.
        p: exact, one-sided (for equality: of the two one-sided tests).
        adjusted: after Holm over the claim's comparisons; for equality p itself, since all of them must hold.
        note: what the numbers alone do not say.
    """

    label: str
    left: float
    right: float
    estimate: float
    low: float
    high: float
    level: float
    agreeing: int
    n: int
    of: int
    p: float
    adjusted: float
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """What finished runs say about a claim.

    Attributes:
        claim: the claim.
        status: supported, contradicted, inconclusive or not run.
        sentence: why, with numbers.
        n: units (paired seeds) of the comparison that has fewest.
        p: the largest p of its comparisons, after Holm; the claim needs all of them. None without data.
        least_p: the least that p can be with n units.
        needed: units from which on the test can support the claim at all.
        rows: its comparisons.
        missing: what was asked for and is not there.
        commands: what to run for it.
        elsewhere: whether this study was not made for it.
        unit: what n and ``needed`` count.
        how: test, direction and margin in words.
    """

    claim: Claim
    status: Status
    sentence: str
    n: int = 0
    p: float | None = None
    least_p: float | None = None
    needed: int | None = None
    rows: tuple[Row, ...] = ()
    missing: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    elsewhere: bool = False
    unit: str = "seeds"
    how: dict[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """For JSON: one flat dictionary."""
        return {
            "claim": self.claim.name,
            "says": self.claim.says,
            "where": self.claim.where,
            "status": self.status,
            "sentence": self.sentence,
            **{key: getattr(self, key) for key in ("n", "p", "least_p", "needed", "unit")},
            **self.how,
            "comparisons": [vars(row) for row in self.rows],
            "missing": list(self.missing),
            "commands": list(self.commands),
        }
