"""Your own data: votes in any format that is read here, and a folder of images, a table of feature vectors or one of texts."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hardlabels.console import say
from hardlabels.errors import InputError, printable
from hardlabels.sources.attributes import Table, codes_of, item_values
from hardlabels.sources.equal import CHOICES, keep_apart
from hardlabels.sources.own_items import ItemSettings, read_images_of, read_rows_of
from hardlabels.sources.own_split import read_split
from hardlabels.sources.pairing import listed
from hardlabels.sources.source import Source
from hardlabels.votes.formats import NamedVotes, Options, Wording, read
from hardlabels.votes.formats.cleaning import check_choices
from hardlabels.votes.summary import repeated_items


def what_was_read(table: NamedVotes, votes: Path) -> str:
    """One line for a person to check: votes, items, classes, and how the file was understood.

    Args:
        table: the content of the file.
        votes: its name.
    """
    n, classes, given = len(table.items), listed(table.class_names), table.votes
    number = f"{len(given.labels):,} votes on {n:,} items" if given.has_votes else f"probabilities of {n:,} items"
    remarks = [*table.notes]
    if given.has_votes and len(given.labels) == n:
        remarks.append("one vote per item: the methods that show votes all show the same label in every epoch")
    if given.annotators is not None and (repeated := repeated_items(given)):
        remarks.append(f"{repeated:,} items have several votes of one annotator: each counts")
    return f"{votes}: {number}, classes {classes}; read as {table.format} ({'; '.join(remarks)})"


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
    fit: str = "crop",
    channels: int = 3,
    crop: int | None = None,
    crop_padding: int = 0,
    scale: Sequence[float] | None = None,
    flip: bool = False,
    storage: str = "auto",
    extra: str = "error",
    missing: str = "error",
    clean: str | Sequence[str] = (),
    ordered: bool = False,
    split: str | None = None,
    group: str | None = None,
    equal: str = "error",
) -> Source:
    """Votes from a file, items from a folder of images or a table of features or texts; matched by id, in the order of the votes.

    An image's id is its path in the folder or its file name, each with or without its ending. A row's id is the first column of a
    csv, or the field ``id`` of JSON lines; an ``.npy`` of features has its rows in the order of the votes file. Votes in an
    ``.npy``, such as a teacher's probabilities, have row numbers for ids; where no item is named so, row i is the i-th item: of
    the csv, or of the images sorted by name (only where text order and number order agree). What was paired so is said. (The
    order of a long table: ids that are whole numbers by number, others as they first come.)

    Relative paths are looked for in the current folder, then in that of the variable ``HARDLABELS_DATA``. Mean and standard
    deviation are those of all items, evaluation items included; no label is in them. The split is the user's own, or drawn by the
    run's seed, stratified by the majority.

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
        size: pixels a side of the squares that images are made.
        fit: how an image that is no square becomes one, see :func:`~hardlabels.sources.folder.square`: ``crop`` keeps its middle,
            ``pad`` adds black, ``stretch`` distorts it.
        channels: 3, or 1 for a network of your own that takes grey images.
        crop: pixels a side of the window that the network is shown: a random one in training, the middle one otherwise. None
            shows the whole square.
        crop_padding: zeros around an image before a random window is cut out of it. Only you know what keeps a label.
        scale: [smallest, largest] share of the area that a random resized crop of training covers; None does not resize.
        flip: whether a mirrored image keeps its label.
        storage: ``memory`` holds the images in memory, ``disk`` in a file of the cache folder that is made once; ``auto`` takes
            the disk for 1 GiB of pixels or more, and for what would fill half of the free memory.
        extra: ``error`` refuses items without votes, ``ignore`` leaves them out.
        missing: ``error`` refuses votes on items that are not there, ``ignore`` leaves them out.
        clean: what of the votes is to be put right: some of ``empty``, ``rejected``, ``duplicates``, ``variants``, ``urls``,
            ``uploads``, as :mod:`hardlabels.votes.formats.cleaning` says. What was done is said.
        ordered: whether the classes are a scale, in their order.
        split: your own split: a column, or a file of ids; see :func:`~hardlabels.sources.own_split.read_split`. None draws one.
        group: a column (of the items or of the votes) whose equal values keep items on one side of the split: a user, a premise.
        equal: items that are the same, under two ids: ``error`` refuses them, ``group`` keeps them on one side of the split,
            ``ignore`` does not look.

    Raises:
        InputError: a file that cannot be read, or votes and items that are not of the same items: all of them listed.
    """
    how = ItemSettings(size, fit, channels, crop, crop_padding, storage, extra, missing)
    how.check()
    if equal not in CHOICES:
        raise InputError(f"data.equal must be {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, got {equal!r}")
    votes_path, items_path = find_own("votes", votes), find_own("items", items)
    wording = Wording("python -m hardlabels.train data=files", prefix="data.", joint="=")
    options = Options(
        task=task,
        worker=worker,
        label=label,
        classes=None if classes is None else tuple(classes),
        ordered=ordered,
        clean=check_choices([clean] if isinstance(clean, str) else clean, "data.clean"),
        wording=replace(wording, command=wording.propose(votes=str(votes), items=str(items))),
    )
    table = read(votes_path, format, options)
    if table.votes.num_classes < 2:
        raise InputError(
            f"{votes_path}: expected at least 2 classes to learn, got {', '.join(table.class_names)}; data.classes names all"
        )
    say(printable(what_was_read(table, votes_path)))
    if items_path.is_dir() and text is None:
        table, inputs, mean, std = read_images_of(table, votes_path, items_path, how)
    else:
        table, inputs, mean, std = read_rows_of(table, votes_path, items_path, text, how)
    tables = [*([] if items_path.is_dir() else [Table(items_path)]), Table(votes_path, options)]
    parts = None if split is None else read_split(split, table.items, tables, others=extra == "ignore")
    groups = None if group is None else codes_of(item_values("data.group", group, table.items, tables))
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
        ordered=table.ordered,
        ids=tuple(table.items),
        groups=keep_apart(inputs, table.items, equal=equal, groups=groups, parts=parts, where=str(items_path)),
        parts=parts,
        crop=crop,
        scale=None if scale is None else tuple(scale),  # type: ignore[arg-type]  # Source says what it must be
    )


def find_own(setting: str, given: str | os.PathLike[str] | None) -> Path:
    """The file or folder that ``data.<setting>`` names: in the current folder, or in that of ``HARDLABELS_DATA``."""
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
