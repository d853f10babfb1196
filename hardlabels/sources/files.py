"""Your own data: votes in any format that is read here, and a folder of images, a table of feature vectors or one of texts."""

import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.sources.features import feature_statistics, read_features
from hardlabels.sources.folder import FORMATS, LARGEST, MODES, SMALLEST, channel_statistics, image_names, read_images
from hardlabels.sources.sentences import read_texts
from hardlabels.sources.source import Source
from hardlabels.votes.formats import NamedVotes, Options, read

SHOWN = 10  # of a list of names in a message
WITHOUT_IDS = ".npy"
"""A votes file that has rows only: its items' ids are the numbers of the rows."""
EXTRA = ("error", "ignore")


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
    ids: Sequence[str], places: Sequence[Sequence[int]], names: Sequence[str], *, extra: str, where: tuple[str, str]
) -> list[int]:
    """The place of each id's item, after all that is missing, ambiguous or left over has been listed.

    Args:
        ids: of the votes.
        places: what each of them may mean, as :func:`match_images` gives it.
        names: of the items.
        extra: ``ignore`` allows items without votes; ``error`` refuses them.
        where: the votes' and the items' own name, for messages.

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
    problems = [
        (missing, f"{len(missing)} of {len(ids)} items with votes are not in {items}"),
        (several, f"{len(several)} ids fit several items"),
        (shared, f"{len(shared)} items fit several ids"),
        (left, f"{len(left)} of {len(names)} items have no votes (data.extra=ignore leaves them out)"),
    ]
    if any(found for found, _ in problems):
        lines = [f"  {what}: {listed(found)}" for found, what in problems if found]
        raise InputError("\n".join([f"the votes of {votes} and the items of {items} are not of the same items:", *lines]))
    return [found[0] for found in places]


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> listed([str(i) for i in range(12)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more'
    """
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def files(
    votes: str | os.PathLike[str] | None = None,
    items: str | os.PathLike[str] | None = None,
    *,
    name: str = "files",
    format: str | None = None,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    classes: Sequence[str] | None = None,
    text: str | Sequence[str] | None = None,
    size: int = 32,
    channels: int = 3,
    crop_padding: int = 0,
    flip: bool = False,
    extra: str = "error",
) -> Source:
    """Votes from a file, items from a folder of images or a table of features or texts; matched by id, in the order of the votes.

    An image's id is its path in the folder or its file name, each with or without its ending. A row's id is the first column of a
    csv, or the field ``id`` of JSON lines; an ``.npy`` of features has its rows in the order of the votes file. Votes in an
    ``.npy``, such as a teacher's probabilities, have row numbers for ids; where no item is named so, row i is the i-th item: of
    the csv, or of the images sorted by name (only where text order and number order agree). What was paired so is said. (The
    order of a long table: ids that are whole numbers by number, others as they first come.)

    Relative paths are looked for in the current folder, then in that of the variable ``HARDLABELS_DATA``. Mean and standard
    deviation are those of all items, evaluation items included; no label is in them. The split is stratified by the majority.

    Args:
        votes: the file of votes or of probabilities, in a format of :mod:`hardlabels.votes.formats`.
        items: a folder of images (png, jpg, bmp, webp, gif), ``.csv`` or ``.npy`` of feature vectors, or ``.csv`` or ``.jsonl``
            of texts.
        name: the name of the data set, and of its folder in ``outputs``.
        format: of the votes, where it cannot be told: ``long``, ``wide``, ``counts``, ``probs``, ...
        task: the column of the item's id in a long table, where its name does not say so.
        worker: the column of the annotator's id.
        label: the column of the vote.
        classes: all classes, in their order; names them where the votes file does not. None takes those of the file.
        text: the column of the text, or the two of a pair, where it cannot be told: see
            :func:`~hardlabels.sources.sentences.read_texts`.
        size: pixels a side to which images are stretched.
        channels: 3, or 1 for a network of your own that takes grey images.
        crop_padding: zeros around an image before a random crop; 0 does not crop. Only you know what keeps a label.
        flip: whether a mirrored image keeps its label.
        extra: ``error`` refuses items without votes, ``ignore`` leaves them out.

    Raises:
        InputError: a file that cannot be read, or votes and items that are not of the same items: all of them listed.
    """
    _check_settings(size, channels, crop_padding, extra)
    votes_path, items_path = _find("votes", votes), _find("items", items)
    columns = {"task": task, "worker": worker, "label": label}
    table = read(votes_path, format, Options(**columns, classes=None if classes is None else tuple(classes)))
    if table.votes.num_classes < 2:
        raise InputError(
            f"{votes_path}: expected at least 2 classes to learn, got {', '.join(table.class_names)}; data.classes names all"
        )
    if items_path.is_dir() and text is None:
        names = image_names(items_path)
        if not names:
            raise InputError(f"{items_path}: expected images ({', '.join(FORMATS)}), found none")
        chosen = [names[place] for place in _choose(table, votes_path, items_path, names, extra, images=True)]
        inputs = read_images(items_path, chosen, size, channels)
        mean, std = channel_statistics(inputs)
    else:
        ids, inputs = read_texts(items_path, text) or read_features(items_path)
        if ids is None and len(inputs) != len(table.items):
            raise InputError(f"{items_path}: expected {len(table.items)} rows, in the order of {votes_path}; got {len(inputs)}")
        if ids is not None:
            inputs = inputs[_choose(table, votes_path, items_path, ids, extra, images=False)]
        mean, std = ((), ()) if inputs.dtype == object else feature_statistics(inputs)
    return Source(
        name=name,
        inputs=inputs,
        votes=table.votes,
        labels=table.votes.majority.astype(np.int64),
        class_names=tuple(table.class_names),
        mean=mean,
        std=std,
        crop_padding=crop_padding,
        flip=flip,
    )


def _choose(table: NamedVotes, votes: Path, items: Path, names: list[str], extra: str, *, images: bool) -> list[int]:
    """The place of each voted item among the names."""
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
        return order
    return pair(table.items, places, names, extra=extra, where=(str(votes), str(items)))


def _find(setting: str, given: str | os.PathLike[str] | None) -> Path:
    if given is None or str(given) == "":
        example = "data=files data.votes=votes.csv data.items=FOLDER (or features.csv, features.npy, texts.csv)"
        raise InputError(f"data.{setting} is needed: {example}")
    path, root = Path(given).expanduser(), os.environ.get("HARDLABELS_DATA")
    try:
        for place in (path, *([Path(root) / path] if root else [])):
            if place.exists():
                return place
    except (OSError, ValueError) as error:  # a name that no file can have
        raise InputError(f"data.{setting}: cannot read {str(path)!r:.200}: {error}") from error
    looked = f"{Path.cwd()}{f' and HARDLABELS_DATA={root}' if root else ''}"
    raise InputError(f"data.{setting}: {path} is not there (looked in {looked})")


def _check_settings(size: int, channels: int, crop_padding: int, extra: str) -> None:
    rules = (
        ("size", size, SMALLEST <= size <= LARGEST, f"a whole number {SMALLEST} .. {LARGEST}"),
        ("channels", channels, channels in MODES, " or ".join(map(str, MODES))),
        ("crop_padding", crop_padding, 0 <= crop_padding <= size, "a whole number 0 .. data.size"),
        ("extra", extra, extra in EXTRA, " or ".join(EXTRA)),
    )
    for setting, value, right, expected in rules:
        if not right:
            raise InputError(f"data.{setting} must be {expected}, got {value!r}")
