"""Names of classes, as they come from files: they end up on terminals, in file names of figures and on web pages."""

from collections.abc import Sequence

from hardlabels.errors import InputError

LONGEST = 100
IDS = {"id", "index", "item", "item_id", "task", "task_id", "uid", "instance_id"}


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
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            expected = "a class name that is not empty (is this a column of row numbers?)"
        elif len(name) > LONGEST:
            expected = f"a class name of at most {LONGEST} characters"
        elif not name.isprintable():
            expected = "a class name of printable characters"
        elif set(name) & set("<>"):
            expected = "a plain class name without < and >"
        elif name in names[:place]:
            expected = f"every class name once, and class {names.index(name)} has this one too"
        else:
            continue
        shown = repr(name) if len(repr(name)) <= LONGEST else f"{name!r:.{LONGEST}}..."
        raise InputError(f"{where}: expected {expected}; class {place} is {shown}")
