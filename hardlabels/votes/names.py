"""Names of classes and ids of items, as they come from files: what may be printed, and which two of them may be one."""

import re
import unicodedata
from collections.abc import Sequence

from hardlabels.errors import InputError

LONGEST = 100
WHOLE = re.compile(r"(-?)0*([0-9]{1,15})(?:\.0*)?")  # a float64 holds 15 digits; those of a longer id may be lost already
SIGNS_INSIDE = re.compile(r"(?<=[^\W_])[\s_-]+(?=[^\W_])")

NO_ANSWER = frozenset(("na", "n/a", "#n/a", "n.a.", "none", "null", "nil", "missing", "skip", "skipped", "unknown", "?", "-"))
"""Labels that may mean that there is no vote. Other people's programs leave some of them out; here they are classes."""


def plain_number(text: str) -> str:
    """A whole number in its shortest form; any other text as it is.

    >>> [plain_number(text) for text in ("007", "12.0", "-3", "1e3", "d7", "0")]
    ['7', '12', '-3', '1e3', 'd7', '0']
    """
    found = WHOLE.fullmatch(text.strip())
    return f"{found[1]}{found[2]}" if found else text.strip()


def spelling(name: str) -> str:
    """A name without what people write in two ways: upper case, accents as one sign or two, spaces, ``-`` and ``_`` inside.

    >>> spelling("Not  Toxic") == spelling("not_toxic"), spelling("A-") == spelling("A"), spelling("01")
    (True, False, '1')
    """
    return plain_number(SIGNS_INSIDE.sub(" ", unicodedata.normalize("NFKC", name).casefold().strip()))


def check_spellings(names: Sequence[str], where: str, option: str, merge: str = "") -> None:
    """Refuse class names of votes that are most likely one class, which somebody wrote in two ways.

    Args:
        names: in the order of the classes.
        where: the name that error messages give to their place.
        option: how the user names all classes, if they are different ones after all.
        merge: how the user has them merged, where that can be done.

    >>> check_spellings(["Toxic", "fine", "toxic"], "votes.csv", "--classes")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: votes.csv: expected every class in one spelling; 'Toxic' and 'toxic' may be one. ...
    """
    first: dict[str, str] = {}
    for name in names:
        if (other := first.setdefault(spelling(name), name)) != name:
            raise InputError(
                f"{where}: expected every class in one spelling; {other!r} and {name!r} may be one. Write them in one way"
                f"{f' ({merge} does it)' if merge else ''}, or name all classes with {option}"
            )


def check_numbers(ids: Sequence[str], what: str, where: str) -> None:
    """Refuse ids that are one number, written in two ways: half of a file went through floats, or lost its leading zeros.

    >>> check_numbers(["7", "12.0", "7.0"], "item", "votes.csv")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: votes.csv: expected the id of every item in one spelling; '7' and '7.0' are the same number
    """
    if not any("." in name or name.startswith(("0", "-0")) for name in ids):
        return
    first: dict[str, str] = {}
    for name in ids:
        if (other := first.setdefault(plain_number(name), name)) != name:
            expected = f"the id of every {what} in one spelling"
            raise InputError(f"{where}: expected {expected}; {other!r:.60} and {name!r:.60} are the same number")


def check_class_names(names: Sequence[object], where: str) -> None:
    r"""Refuse names that are no plain text: empty, twice the same, too long, with control characters or HTML tags.

    Args:
        names: in the order of the classes.
        where: the name that error messages give to their place.

    >>> check_class_names(["cat", "dog & fox"], "votes.csv")
    >>> check_class_names(["cat", "<b>dog</b>"], "votes.csv")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: votes.csv: expected a plain class name without < and >; class 1 is '<b>dog</b>'
    """
    first: dict[object, int] = {}
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            expected = "a class name that is not empty (is this a column of row numbers?)"
        elif len(name) > LONGEST:
            expected = f"a class name of at most {LONGEST} characters"
        elif not name.isprintable():
            expected = "a class name of printable characters"
        elif set(name) & set("<>"):
            expected = "a plain class name without < and >"
        elif re.fullmatch(r"\[.*,.*\]", name.strip()):
            expected = "one class in a cell (lists of votes are read from JSON lines and parquet)"
        elif (before := first.setdefault(name, place)) != place:
            expected = f"every class name once, and class {before} has this one too"
        else:
            continue
        shown = repr(name) if len(repr(name)) <= LONGEST else f"{name!r:.{LONGEST}}..."
        raise InputError(f"{where}: expected {expected}; class {place} is {shown}")
