"""What one row of the table is."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Ratios of one comparison, and the goal they are held to.

    Args:
        name: what is compared with what.
        ratios: one for each repetition.
        goal: the limit of the median.
        at_most: whether the goal is an upper limit; otherwise it is a lower one.
    """

    name: str
    ratios: list[float]
    goal: float
    at_most: bool

    @property
    def median(self) -> float:
        """The middle ratio: a noisy machine spoils single ones."""
        return statistics.median(self.ratios)

    @property
    def met(self) -> bool:
        """Whether the median is on the right side of the goal."""
        return self.median <= self.goal if self.at_most else self.median >= self.goal


def seconds(work: Callable[[], object]) -> float:
    """How long it takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternate(first: Callable[[], object], second: Callable[[], object], repeats: int) -> list[float]:
    """Time of the first over time of the second, taken in turns."""
    return [seconds(first) / seconds(second) for _ in range(repeats)]
