"""Votes and items find each other by id, or everything that does not is listed."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.sources.folder import FORMATS
from hardlabels.votes.formats import NamedVotes
from hardlabels.votes.formats.cleaning import SHORTER

SHOWN = 10  # of a list of names in a message
WITHOUT_IDS = ".npy"
"""A votes file that has rows only: its items' ids are the numbers of the rows."""


def match_images(ids: Sequence[str], names: Sequence[str]) -> list[list[int]]:
    """For each id the places of the images that it may mean; one place is a match, none is missing, several are ambiguous.

    An id is the image's path in the folder, or that without its ending; failing both, its file name, with or without its ending.

    >>> match_images(["a.png", "b", "cats/c", "d", "e"], ["a.png", "b.jpg", "cats/c.gif", "dogs/d.png", "e.png", "e.gif"])
    [[0], [1], [2], [3], [4, 5]]
    """
    paths = [PurePosixPath(name) for name in names]
    forms = (names, [str(path.with_suffix("")) for path in paths], [path.name for path in paths], [path.stem for path in paths])
    tables: list[dict[str, list[int]]] = [{} for _ in forms]
    for table, form in zip(tables, forms, strict=True):
        for place, key in enumerate(form):
            table.setdefault(key, []).append(place)
    return [next((table[name] for table in tables if name in table), []) for name in ids]


def order_of_names(names: Sequence[str]) -> list[int] | None:
    """The places of the names in sorted order; None where sorting them as text and by the numbers in them differ.

    >>> order_of_names(["b_2.png", "b_1.png"]), order_of_names(["b_2.png", "b_10.png"])
    ([1, 0], None)
    """

    def by_number(place: int) -> list[str | int]:
        return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", names[place])]

    as_text = sorted(range(len(names)), key=lambda place: names[place])
    return as_text if as_text == sorted(range(len(names)), key=by_number) else None


def pair(
    ids: Sequence[str],
    places: Sequence[Sequence[int]],
    names: Sequence[str],
    *,
    extra: str,
    where: tuple[str, str],
    other_ids: Sequence[str] = (),
) -> list[int]:
    """The place of each id's item, after all that is missing, ambiguous or left over has been listed.

    Args:
        ids: of the votes.
        places: what each of them may mean, as :func:`match_images` gives it.
        names: of the items.
        extra: ``ignore`` allows items without votes; ``error`` refuses them.
        where: the votes' and the items' own name, for messages.
        other_ids: fields of the votes' file that may be the ids instead.

    >>> pair(["a", "b"], [[1], [0]], ["b.png", "a.png", "c.png"], extra="ignore", where=("votes.csv", "images"))
    [1, 0]
    """
    votes, items = where
    claimed: dict[int, list[str]] = {}
    for name, found in zip(ids, places, strict=True):
        for place in found:
            claimed.setdefault(place, []).append(name)
    missing = [name for name, found in zip(ids, places, strict=True) if not found]
    several = [
        f"{name} ({', '.join(names[place] for place in found)})"
        for name, found in zip(ids, places, strict=True)
        if len(found) > 1
    ]
    shared = [f"{names[place]} ({', '.join(who)})" for place, who in claimed.items() if len(who) > 1]
    left = [name for place, name in enumerate(names) if place not in claimed] if extra == "error" else []
    ways = _ways_out(missing, names, items, other_ids)
    problems = [
        (missing, f"{len(missing)} of {len(ids)} items with votes are not in {items} ({ways})"),
        (several, f"{len(several)} ids fit several items"),
        (shared, f"{len(shared)} items fit several ids"),
        (left, f"{len(left)} of {len(names)} items have no votes (data.extra=ignore leaves them out)"),
    ]
    if any(found for found, _ in problems):
        lines = [f"  {what}: {listed(found)}" for found, what in problems if found]
        raise InputError("\n".join([f"the votes of {votes} and the items of {items} are not of the same items:", *lines]))
    return [found[0] for found in places]


def _ways_out(missing: Sequence[str], names: Sequence[str], items: str, other_ids: Sequence[str]) -> str:
    """What may be done about ids that are not there: what would find them first."""
    ways: list[str] = []
    if (unread := next((name for name in missing if PurePosixPath(name).suffix and _is_file(items, name)), None)) is not None:
        ways.append(f"{unread} is a file there, and only {', '.join(FORMATS)} are read as images: convert it")
    for choice, shorter in SHORTER.items():
        short = [shorter(name) for name in missing]
        if not ways and short != list(missing) and any(match_images(short, names)):
            ways.append(
                f"data.clean={choice} takes {'the last part' if choice == 'urls' else 'the name before the upload'} of an id"
            )
    if other_ids:
        ways.append(
            f"these ids are the tool's own, and {' or '.join(f'data.task={name}' for name in other_ids[:SHOWN])} takes yours"
        )
    return "; ".join([*ways, "data.missing=ignore leaves their votes out"])


def _is_file(folder: str, name: str) -> bool:
    with suppress(OSError):  # an id may be anything: a sentence is too long for a name
        return not Path(name).is_absolute() and (Path(folder) / name).is_file()
    return False


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> listed([str(i) for i in range(12)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more'
    """
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def choose_items(
    table: NamedVotes, votes: Path, items: Path, names: list[str], extra: str, missing: str, *, images: bool
) -> tuple[NamedVotes, list[int]]:
    """The votes on items that are there, and the place of each of those among the names.

    Args:
        table: the votes.
        votes: their file.
        items: the folder or the file of the items.
        names: of the items.
        extra: ``ignore`` allows items without votes; ``error`` refuses them.
        missing: ``ignore`` leaves out votes on items that are not there; ``error`` refuses them.
        images: whether names are paths of images, of which an id may be a part.
    """
    exact = {name: [place] for place, name in enumerate(names)}
    places = match_images(table.items, names) if images else [exact.get(name, []) for name in table.items]
    if votes.suffix == WITHOUT_IDS and not any(places):
        order = order_of_names(names) if images else list(range(len(names)))
        if len(names) != len(places) or order is None:
            expected = f"expected {len(places)} items in {items}, one a row; found {len(names)}"
            if order is None:
                expected = f"expected names in {items} whose order is plain, and text order is not number order ({listed(names)})"
            raise InputError(
                f"{votes} has rows without ids: {expected}. Name items by row number (0, 1, ...), or use a csv with ids"
            )
        say(f"row 0 of {votes} is taken for {names[order[0]]}, row {len(order) - 1} for {names[order[-1]]}: by order")
        return table, order
    if missing == "ignore" and not all(places):
        there = [place for place, found in enumerate(places) if found]
        if not there:
            raise InputError(f"{items}: expected items with votes in {votes}, such as {table.items[0]!r:.60}; none is there")
        say(f"{votes}: {len(places) - len(there):,} of {len(places):,} items are not in {items}; their votes are left out")
        table = table.aligned([table.items[place] for place in there])
        places = [places[place] for place in there]
    where = (str(votes), str(items))
    return table, pair(table.items, places, names, extra=extra, where=where, other_ids=table.other_ids)
