"""What a study wrote down before its first run: the block ``primary`` of ``conf/study/NAME.yaml``."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from omegaconf import DictConfig, OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.quantity import Quantity

Question: TypeAlias = Literal["better", "worse", "same"]
QUESTIONS = ("better", "worse", "same")
SCALE = "majority"
"""Whose gap to soft labels, with all votes, sets the margin."""


@dataclass(frozen=True)
class Family:
    """Differences that are corrected by Holm together: several methods, at both checkpoints.

    Attributes:
        K: number of votes, infinite where all are used.
        claim: what is claimed of each difference.
        quantity: the outcome.
        methods: those that are compared.
        against: the method that they are compared with.
    """

    K: float
    claim: Question
    quantity: Quantity
    methods: tuple[str, ...]
    against: str = "soft"


@dataclass(frozen=True)
class Primary:
    """What was written down.

    Attributes:
        quantity: the outcome of all families that name no other.
        against: the method that others are compared with, in all families that name no other.
        families: what is claimed, where; each is corrected by Holm by itself.
        least_seeds: fewer whole seeds are not analysed.
        share: the margin, as a share of the gap between majority and soft labels; None: that of ``conf/report.yaml``.
    """

    quantity: Quantity
    against: str
    families: tuple[Family, ...]
    least_seeds: int
    share: float | None = None

    @classmethod
    def from_config(cls, study: DictConfig) -> "Primary | None":
        """The block ``primary`` of a study; None where it has none.

        Raises:
            InputError: when something is missing, or is no question.
        """
        block: Any = OmegaConf.to_container(study, resolve=True)
        block = block.get("primary") if isinstance(block, dict) else None
        if block is None:
            return None
        names = ("quantity", "methods", "against", "families", "least_seeds")
        if not isinstance(block, dict) or set(block) - {"share"} != set(names):
            raise InputError(f"study.primary must have {', '.join(names)}, and may have share, got {block!r}")
        share = block.get("share")
        if share is not None and not (isinstance(share, (int, float)) and 0 < share < 1):
            raise InputError(f"study.primary.share must be a number between 0 and 1, got {share!r}")
        common = {name: block[name] for name in ("quantity", "methods", "against")}
        families = tuple(
            _family_from({**common, **family} if isinstance(family, dict) else family) for family in block["families"]
        )
        return cls(Quantity.from_column(block["quantity"]), block["against"], families, int(block["least_seeds"]), share)

    @property
    def cells(self) -> tuple[tuple[str, float], ...]:
        """(method, K) that a whole seed has: both sides at each K, and what sets the margin."""
        compared = [(method, family.K) for family in self.families for method in (*family.methods, family.against)]
        return tuple(dict.fromkeys([*compared, (SCALE, np.inf), (self.against, np.inf)]))


def _family_from(entry: Any) -> Family:
    """One entry of ``primary.families``, completed by what all families share."""
    names = {"K", "claim", "quantity", "methods", "against"}
    if not isinstance(entry, dict) or set(entry) != names or entry["claim"] not in QUESTIONS:
        raise InputError(
            f"study.primary.families: expected {{K: 5, claim: {' or '.join(QUESTIONS)}}}, "
            f"with quantity, methods and against of its own where these differ, got {entry!r}"
        )
    k = np.inf if entry["K"] is None else float(entry["K"])
    return Family(k, entry["claim"], Quantity.from_column(entry["quantity"]), tuple(entry["methods"]), entry["against"])
