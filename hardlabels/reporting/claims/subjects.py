"""Whom a claim is about: the runs of a method, pairs of runs of one seed, or pairs of seeds of one method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hardlabels.runs.spelling import write_votes


@dataclass(frozen=True)
class Pair:
    """Two runs of the same seed, one of each method.

    >>> str(Pair("sls", "soft"))
    'sls and soft'
    """

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"


@dataclass(frozen=True)
class Across:
    """Two runs of one method with different seeds.

    >>> str(Across("sls"))
    'sls across seeds'
    """

    method: str

    def __str__(self) -> str:
        return f"{self.method} across seeds"


Subject: TypeAlias = str | Pair | Across
"""A method's name stands for its runs, one for each seed."""


def methods_of(subject: Subject) -> tuple[str, ...]:
    """The methods that a subject needs runs of.

    >>> methods_of("sls"), methods_of(Pair("sls", "soft")), methods_of(Across("sls"))
    (('sls',), ('sls', 'soft'), ('sls',))
    """
    if isinstance(subject, Pair):
        return subject.first, subject.second
    return (subject.method,) if isinstance(subject, Across) else (subject,)


def against_soft(methods: Sequence[str]) -> tuple[Pair, ...]:
    """Pairs of each method with soft labels of the same seed."""
    return tuple(Pair(method, "soft") for method in methods)


def names(subjects: Sequence[Subject]) -> str:
    """A list of subjects for people.

    >>> names(["sls", Across("soft")])
    'sls, soft across seeds'
    """
    return ", ".join(map(str, subjects))


def votes_word(k: float) -> str:
    """K for people.

    >>> votes_word(5.0), votes_word(float("inf"))
    ('5', 'all')
    """
    return write_votes(k)
