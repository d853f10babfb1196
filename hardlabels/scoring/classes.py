"""Which column of the predictions is which class of the votes."""

from collections.abc import Sequence

from hardlabels.errors import InputError
from hardlabels.scoring.numbers import out_of_order
from hardlabels.votes.names import check_class_names, plain_number

PREFIXES = ("", "p_", "prob_", "proba_", "probability_", "score_", "logit_", "logits_", "class_")
"""What a column's name may have before the name of its class; all columns the same."""


def named_as_class(name: str, classes: Sequence[str]) -> bool:
    """Whether a column has the name of a class, with or without a prefix.

    >>> [named_as_class(name, ["toxic", "7"]) for name in ("toxic", "p_toxic", "07", "text")]
    [True, True, True, False]
    """
    known = {plain_number(known) for known in classes}
    return any(name.startswith(prefix) and plain_number(name.removeprefix(prefix)) in known for prefix in PREFIXES)


def match_classes(names: Sequence[str], classes: Sequence[str], where: tuple[str, str]) -> tuple[list[int], str]:
    """The place of each class among the columns, and what is said about it.

    Args:
        names: of the columns that hold numbers.
        classes: of the votes, in their order.
        where: the predictions' and the votes' own name, for messages.

    Raises:
        InputError: other names than those of the classes, which are listed; or two columns for each class.

    >>> match_classes(["toxic", "fine"], ["fine", "toxic"], ("q.csv", "votes.csv"))
    ([1, 0], 'columns are matched by name')
    """
    columns = {plain_number(name): place for place, name in enumerate(names)}
    wanted = [plain_number(name) for name in classes]
    for side, found, which in ((names, columns, where[0]), (classes, set(wanted), where[1])):
        if len(found) < len(side):
            raise InputError(f"{which}: expected different names of classes, also as numbers; got {_listed(side)}")
    fitting = [prefix for prefix in PREFIXES if all(prefix + name in columns for name in wanted)]
    if len(fitting) > 1:
        choices = " or ".join(repr(prefix + classes[0]) for prefix in fitting)
        raise InputError(f"{where[0]}: expected one column for each class; {choices}? Leave the others out")
    if not fitting or len(wanted) < len(names):
        raise InputError(f"{where[0]}: expected {_difference(names, classes, (fitting or [''])[0], where[1])}")
    check_class_names(list(names), where[0])
    places = [columns[fitting[0] + name] for name in wanted]
    return places, "columns are matched by name" + (f", without {fitting[0]!r}" if fitting[0] else "")


def order_classes(names: Sequence[str] | None, classes: Sequence[str] | None, where: tuple[str, str]) -> str:
    """What is said where at most one side names its classes, and columns are taken in the order in which they come.

    Names that are numbers and do not go up are refused: those columns have been moved, and the other side cannot tell where to.

    >>> order_classes(None, ["fine", "toxic"], ("q.npy", "votes.csv"))
    'q.npy has no names of classes: its columns are taken for fine, toxic, in this order'
    """
    known, nameless, named = (classes, *where) if names is None else (names, where[1], where[0])
    if known is None:
        return "neither file has names of classes: column c is taken for class c"
    if out_of_order(known):
        expected = f"classes in order of number, as {nameless} has no names of classes"
        raise InputError(f"{named}: expected {expected}; got {_listed(known)}")
    return f"{nameless} has no names of classes: its columns are taken for {_listed(known, 30)}, in this order"


def _difference(names: Sequence[str], classes: Sequence[str], prefix: str, votes: str) -> str:
    """The classes, those that no column is named for, and the columns that are named for none."""
    known, found = {plain_number(prefix + name) for name in classes}, {plain_number(name) for name in names}
    missing = [name for name in classes if plain_number(prefix + name) not in found]
    extra = [name for name in names if plain_number(name) not in known]
    parts = [f"the classes of {votes}: {_listed(classes)}"]
    if missing:
        parts.append(f"no column is named {', '.join(map(repr, missing[:12]))}")
    if extra:
        parts.append(f"{', '.join(map(repr, extra[:12]))} is none of them")
    if {name.casefold() for name in missing} & {name.casefold() for name in extra}:
        parts.append("upper and lower case differ")
    elif extra:
        parts.append("--classes A,B,... names classes that nobody chose; columns of other numbers must be left out of the file")
    return "; ".join(parts)


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
