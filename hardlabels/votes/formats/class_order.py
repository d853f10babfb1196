"""Labels of a file as classes: their order, and what about them a person should check."""

import math
from collections.abc import Collection, Sequence

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.names import NO_ANSWER, check_class_names

MAX_CLASSES = 10_000  # more is no label but free text, or an id
SPAN = 100  # whole numbers this close together are a scale, of which some steps may not have been chosen


def number_of(text: str) -> float | None:
    """The finite number that a text is; None for every other text (and for Python's own 1_0, and digits of other scripts).

    >>> number_of("1.0"), number_of("-3"), number_of("e"), number_of("nan"), number_of("1_0")
    (1.0, -3.0, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text and text.isascii() else None


def order_classes(labels: Sequence[str], where: str, classes: Sequence[str] | None = None) -> tuple[tuple[str, ...], np.ndarray]:
    """The classes in order, and the class of each label.

    Whole numbers are in order of number (``1.0`` is ``1``), with the steps between them that nobody chose, as long as the span
    is at most ``SPAN`` or twice the classes seen. Other numbers are in order of number, words in alphabetical order. ``classes``
    overrides: every label must then be one of them.

    >>> order_classes(["3.0", "1.0"], "votes.csv")
    (('1', '2', '3'), array([2, 0]))
    >>> order_classes(["dog", "cat"], "votes.csv")
    (('cat', 'dog'), array([1, 0]))
    """
    if len(labels) > MAX_CLASSES:
        limit = f"expected at most {MAX_CLASSES:,} different labels (is this column free text, or an id?)"
        raise InputError(f"{where}: {limit}; got {len(labels):,}, such as {labels[0]!r:.60}")
    numbers = [number_of(label) for label in labels]
    values = np.array([math.nan if number is None else number for number in numbers])
    names = list(labels)
    if whole := bool(np.all(np.abs(values) < 2**53) and np.all(values == np.floor(values))):  # NaN compares as false
        names = [str(int(value)) for value in values]
    if classes is not None:
        ordered = tuple(classes)
    elif whole:
        low, high, seen = int(values.min()), int(values.max()), len(set(names))
        filled = high - low + 1 <= max(SPAN, 2 * seen)
        ordered = tuple(map(str, range(low, high + 1) if filled else sorted(set(map(int, names)))))
    elif not np.isnan(values).any():
        ordered = tuple(name for name, _ in sorted(zip(names, values.tolist(), strict=True), key=lambda pair: pair[1]))
    else:
        ordered = tuple(sorted(set(names)))
    check_class_names(list(ordered), where)
    place = {name: i for i, name in enumerate(ordered)}
    for label, name in zip(labels, names, strict=True):
        if name not in place and label not in place:
            raise InputError(f"{where}: expected one of the classes {', '.join(ordered):.200}; found {label!r:.60}")
    return ordered, np.array([place[label] if label in place else place[name] for label, name in zip(labels, names, strict=True)])


def refuse_words_among_numbers(names: Sequence[str], where: str, option: str) -> None:
    """Refuse a word for no answer beside classes that are all numbers: R writes ``NA`` where somebody did not vote.

    Args:
        names: of the classes.
        where: the name that error messages give to their place.
        option: how the user names all classes, if it is one after all.

    >>> refuse_words_among_numbers(["1", "2", "NA"], "votes.csv", "--classes")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: votes.csv: expected labels that are all numbers, as most are; 'NA' is none: leave ...
    """
    words = [name for name in names if number_of(name) is None]
    if words and len(words) < len(names) and all(name.lower() in NO_ANSWER for name in words):
        ways = f"leave that cell empty where it means no vote, or name all classes with {option}"
        raise InputError(f"{where}: expected labels that are all numbers, as most are; {words[0]!r:.60} is none: {ways}")


def remarks(names: Sequence[str], chosen: Collection[str]) -> list[str]:
    """What a person should check about classes that no user named: labels that may be none, and steps that nobody chose.

    >>> remarks(["-1", "0", "1"], {"-1", "0", "1"})
    ["'-1' is taken as a class; where it means that there is no vote, leave it out"]
    >>> remarks(["1", "2", "3"], {"1", "3"})
    ['nobody chose 2, one of the classes 1 to 3: whole numbers are a scale with all its steps']
    """
    below_zero = [name for name in names if (value := number_of(name)) is not None and value < 0]
    doubtful = [name for name in names if name.lower() in NO_ANSWER or (below_zero == [name] == ["-1"] and "0" in names)]
    found = [f"{name!r} is taken as a class; where it means that there is no vote, leave it out" for name in doubtful]
    if skipped := [name for name in names if name not in chosen]:
        which = f"{skipped[0]}, one" if len(skipped) == 1 else f"{len(skipped)}"
        steps = f"{which} of the classes {names[0]} to {names[-1]}"
        found.append(f"nobody chose {steps}: whole numbers are a scale with all its steps")
    return found
