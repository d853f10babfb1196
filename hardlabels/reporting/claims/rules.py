"""What must be settled before the numbers are seen: level, margins, thresholds. ``conf/report.yaml`` holds them."""

from dataclasses import dataclass, field

import numpy as np

from hardlabels.errors import InputError
from hardlabels.reporting.claims.design import Design
from hardlabels.reporting.claims.quantities import NLL, higher_is_better, label_of
from hardlabels.reporting.claims.subjects import Subject
from hardlabels.runs.quantity import Quantity
from hardlabels.statistics.holm import ALPHA

BY_GAP = (
    "soft_nll",
    "soft_nll_t",
    "kl_to_annotator",
    "soft_brier",
    "ece_eqmass",
    "ece_votes",
    "smooth_ece",
    "ent_corr",
    "brier_reliability",
    "brier_resolution",
)
"""Quantities whose scale is the gap between majority and soft labels; that of all others is what a change of seed does."""

SAME_SCALE = {"soft_nll_t": "soft_nll"}
"""A nat is a nat: what does not matter in soft NLL does not matter after a temperature either, whose own gap may be nothing."""

ABSOLUTE = ("sampled_ratio",)
"""Quantities that mean the same everywhere, so that their margin is a number everywhere."""


@dataclass(frozen=True)
class Margin:
    """The difference that does not matter.

    Attributes:
        value: above 0; None where there is none.
        why: where it comes from, or why there is none.
        ends: the margins that would follow if the gap it is made of lay at the ends of its own interval; None where nobody asked.
    """

    value: float | None
    why: str
    ends: tuple[float, float] | None = None


NO_MARGIN = Margin(None, "none")


@dataclass(frozen=True)
class Shares:
    """The scale-free rules.

    Attributes:
        gap: a margin, as a share of the gap between majority and soft labels.
        seed_sd: a margin, as a share of the across-seed SD of soft labels.
        remaining: the share of soft labels' gain over the class shares that may remain where a match is destroyed.
    """

    gap: float = 0.1
    seed_sd: float = 0.5
    remaining: float = 0.1


@dataclass(frozen=True)
class Rules:
    """Level, margins and thresholds.

    Attributes:
        alpha: level of a claim.
        margins: name of a quantity to the difference that does not matter on the paper's own scale.
        thresholds: name to number, for claims such as "well above zero".
        shares: how margins are made from a study's own numbers elsewhere.
        power: of the smallest difference that a study could have seen.
    """

    alpha: float = ALPHA
    margins: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    shares: Shares = Shares()
    power: float = 0.8

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, float) or not 0 < self.alpha < 0.5:
            raise InputError(f"alpha must lie between 0 and 0.5, got {self.alpha!r}")
        if not isinstance(self.power, float) or not self.alpha < self.power < 1:
            raise InputError(f"power must lie between alpha and 1, got {self.power!r}")
        for name, value in self.margins.items():
            _number(value, f"margins.{name}", above_zero=True)
        for name, value in self.thresholds.items():
            _number(value, f"thresholds.{name}")
        for name, value in vars(self.shares).items():
            _number(value, f"shares.{name}", above_zero=True)

    def threshold(self, name: str) -> float:
        """A threshold by its name."""
        return _number(self.thresholds.get(name), f"thresholds.{name}")

    def margin(self, quantity: Quantity, design: Design, k: float, subject: Subject = "soft") -> Margin:
        """The margin of a quantity in a study, at its checkpoint.

        Args:
            quantity: with its slice.
            design: the study.
            k: number of votes of the comparison; the across-seed SD is that of soft labels at this K.
            subject: soft labels, or pairs of runs with soft labels, for the across-seed SD.
        """
        name = SAME_SCALE.get(quantity.name, quantity.name)
        if name in ABSOLUTE:
            return Margin(_number(self.margins.get(name), f"margins.{name}", above_zero=True), "a ratio, where 1 is agreement")
        if design.own_regime and name in self.margins and quantity.slice == "full":
            return Margin(self.margins[name], "half of the published across-seed SD")
        if name in BY_GAP:
            return self._by_gap(Quantity(name, slice=quantity.slice), design)
        return self._by_seed_sd(quantity, design, k, subject)

    def _by_gap(self, quantity: Quantity, design: Design) -> Margin:
        soft, majority = (design.values(quantity, method, np.inf) for method in ("soft", "majority"))
        common = [seed for seed in soft if seed in majority]
        if not common:
            return Margin(None, "no margin: the study has no majority labels with all votes to set a scale")
        sign = 1 if higher_is_better(quantity) else -1
        gap = sign * float(np.mean([soft[seed] - majority[seed] for seed in common]))
        if gap <= 0:
            return Margin(
                None, f"no margin: soft labels are not better than majority labels in {label_of(quantity)}, gap −{abs(gap):.3g}"
            )
        what = "soft NLL" if quantity.name == NLL.name else label_of(quantity)
        return Margin(self.shares.gap * gap, f"{100 * self.shares.gap:g} % of majority − soft in {what}, {gap:.4g}")

    def _by_seed_sd(self, quantity: Quantity, design: Design, k: float, subject: Subject) -> Margin:
        values = list(design.values(quantity, subject, k).values())
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        if not sd:
            return Margin(None, "no margin: no across-seed SD of soft labels to set a scale")
        return Margin(self.shares.seed_sd * sd, f"{self.shares.seed_sd:g} of the across-seed SD of soft labels, {sd:.3g}")


def _number(value: float | None, where: str, *, above_zero: bool = False) -> float:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
    if value is None or not fits or (above_zero and value <= 0):
        raise InputError(f"{where} must be a number{' above 0' if above_zero else ''}, got {value!r}")
    return float(value)
