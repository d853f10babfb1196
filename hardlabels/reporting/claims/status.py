"""What a verdict can be, its sign, and the words that people read: the one owner of all three."""

from typing import Literal, TypeAlias

Status: TypeAlias = Literal["supported", "contradicted", "no difference", "not testable", "inconclusive", "not run"]
STATUSES: tuple[Status, ...] = ("supported", "contradicted", "no difference", "not testable", "inconclusive", "not run")

SIGNS: dict[Status, str] = {
    "supported": "✓",
    "contradicted": "✗",
    "no difference": "≈",
    "not testable": "∅",
    "inconclusive": "?",
    "not run": "–",
}

WORDS: dict[Status, str] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "no difference": "no difference that matters",
    "not testable": "not testable here",
    "inconclusive": "inconclusive",
    "not run": "not run",
}

CARRIED: dict[Status, str] = {
    "supported": "carries over",
    "contradicted": "does not carry over",
    "inconclusive": "undecided",
}
"""The words for a paper's claim outside of the paper's own regime: other data cannot contradict a statement about CIFAR-10H."""

EPOCHS = {"best": "selected epoch", "last": "last epoch"}
"""The checkpoints in words."""


def status_word(status: Status, *, carried: bool) -> str:
    """The words of a status.

    Args:
        status: the status.
        carried: whether a paper's claim was tested outside of the paper's own regime.

    >>> status_word("contradicted", carried=False), status_word("contradicted", carried=True)
    ('contradicted', 'does not carry over')
    >>> status_word("no difference", carried=True)
    'no difference that matters'
    """
    return CARRIED.get(status, WORDS[status]) if carried else WORDS[status]


def at_both_epochs(word: str, selected: int, last: int) -> str:
    """How many verdicts have a word at the selected epoch and at the last one.

    >>> at_both_epochs("undecided", 2, 2), at_both_epochs("supported", 1, 0)
    ('2 undecided', 'supported: 1 selected, 0 last')
    """
    return f"{selected} {word}" if selected == last else f"{word}: {selected} selected, {last} last"


def legend() -> str:
    """All signs and their words, for the foot of a table.

    >>> legend().split(", ")[:2]
    ['✓ supported or carries over', '✗ contradicted or does not carry over']
    """
    return ", ".join(f"{SIGNS[s]} {WORDS[s]}" + (f" or {CARRIED[s]}" if s in CARRIED else "") for s in STATUSES)
