"""Ids and class names that are numbers: the same one may be written as 7, 7.0 or 007."""

from collections.abc import Sequence

from hardlabels.votes.names import WHOLE, plain_number


def whole_numbers(texts: Sequence[str]) -> list[int] | None:
    """The numbers, where all of the texts are whole ones.

    >>> whole_numbers(["0", "2.0"]), whole_numbers(["0", "two"])
    ([0, 2], None)
    """
    return [int(plain_number(text)) for text in texts] if all(WHOLE.fullmatch(text.strip()) for text in texts) else None


def out_of_order(texts: Sequence[str]) -> bool:
    """Whether these are whole numbers that do not go up: rows or columns that somebody has moved.

    >>> out_of_order(["0", "2", "1"]), out_of_order(["1", "2", "10"]), out_of_order(["b", "a"])
    (True, False, False)
    """
    numbers = whole_numbers(texts)
    return numbers is not None and numbers != sorted(numbers)
