"""The items of one's own data: a folder of images, a table of feature vectors or one of texts, each found by its id."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hardlabels.console import say
from hardlabels.errors import InputError, printable
from hardlabels.sources.digests import LARGE
from hardlabels.sources.features import feature_statistics, read_features
from hardlabels.sources.folder import (
    FITS,
    FORMATS,
    LARGEST,
    MODES,
    SMALLEST,
    channel_statistics,
    free_memory,
    image_names,
    read_images,
)
from hardlabels.sources.mapped import map_images, mapped_statistics
from hardlabels.sources.pairing import choose_items
from hardlabels.sources.sentences import read_texts
from hardlabels.votes.formats import NamedVotes
from hardlabels.votes.formats.arrow import is_saved

EXTRA = ("error", "ignore")
STORAGES = ("auto", "memory", "disk")


@dataclass(frozen=True)
class ItemSettings:
    """How items are read and matched with their votes; :func:`~hardlabels.sources.files.files` says what each is."""

    size: int = 32
    fit: str = "crop"
    channels: int = 3
    crop: int | None = None
    crop_padding: int = 0
    storage: str = "auto"
    extra: str = "error"
    missing: str = "error"

    def check(self) -> None:
        """Refuse what cannot be, by the name of the setting.

        >>> ItemSettings(size=32, crop=64).check()
        Traceback (most recent call last):
        ...
        hardlabels.errors.InputError: data.crop must be null or a whole number 8 .. data.size, got 64
        """
        size, crop, padding = self.size, self.crop, self.crop_padding
        rules = (
            ("size", SMALLEST <= size <= LARGEST, f"a whole number {SMALLEST} .. {LARGEST}"),
            ("fit", self.fit in FITS, " or ".join(FITS)),
            ("channels", self.channels in MODES, " or ".join(map(str, MODES))),
            ("crop", crop is None or SMALLEST <= crop <= size, f"null or a whole number {SMALLEST} .. data.size"),
            ("crop_padding", 0 <= padding <= size, "a whole number 0 .. data.size"),
            ("storage", self.storage in STORAGES, " or ".join(STORAGES)),
            ("extra", self.extra in EXTRA, " or ".join(EXTRA)),
            ("missing", self.missing in EXTRA, " or ".join(EXTRA)),
        )
        for setting, right, expected in rules:
            if not right:
                raise InputError(f"data.{setting} must be {expected}, got {getattr(self, setting)!r}")


class Items(NamedTuple):
    """Items, in the order of the votes on them.

    Attributes:
        votes: on these items.
        inputs: pixels, features or texts.
        mean: of each channel or feature; () for texts.
        std: likewise.
    """

    votes: NamedVotes
    inputs: np.ndarray
    mean: tuple[float, ...]
    std: tuple[float, ...]


def read_images_of(votes: NamedVotes, file: Path, folder: Path, how: ItemSettings) -> Items:
    """The images of a folder that have votes.

    Args:
        votes: by the id of an image.
        file: of the votes, for messages.
        folder: of the images.
        how: size, fit and what else was set.
    """
    names = image_names(folder)
    if not names:
        # A data set of Hugging Face holds votes and texts in one folder, and is taken for both.
        lines = f"datasets.load_from_disk({str(folder)!r}).to_json('items.jsonl')"
        saved = f"; of what datasets saved, texts are read as JSON lines: {lines}" if is_saved(folder) else ""
        raise InputError(f"{folder}: expected images ({', '.join(FORMATS)}), found none{saved}")
    votes, places = choose_items(votes, file, folder, names, how.extra, how.missing, images=True)
    chosen = [names[place] for place in places]
    needed = len(chosen) * how.size * how.size * how.channels
    if how.storage == "disk" or (how.storage == "auto" and needed >= min(LARGE, free_memory() // 2)):
        mapped = map_images(folder, chosen, how.size, how.channels, how.fit)
        return Items(votes, mapped, *mapped_statistics(mapped))
    images = read_images(folder, chosen, how.size, how.channels, how.fit)
    return Items(votes, images, *channel_statistics(images))


def read_rows_of(votes: NamedVotes, file: Path, table: Path, text: str | Sequence[str] | None, how: ItemSettings) -> Items:
    """The texts or feature vectors of a table that have votes.

    Args:
        votes: by the id of a row.
        file: of the votes, for messages.
        table: of the items.
        text: the column of the text, or the two of a pair; None tells texts from features by the names of the columns.
        how: what to do with items that have no votes, and with votes that have no item.
    """
    ids, inputs = read_texts(table, text) or read_features(table)
    if ids is None and len(inputs) != len(votes.items):
        raise InputError(f"{table}: expected {len(votes.items)} rows, in the order of {file}; got {len(inputs)}")
    if ids is None and votes.has_ids:
        ends = f"row 0 is taken for {votes.items[0]!r:.60}, row {len(inputs) - 1} for {votes.items[-1]!r:.60}"
        say(printable(f"{table} has no ids: {ends} of {file}"))
    if ids is not None:
        votes, places = choose_items(votes, file, table, ids, how.extra, how.missing, images=False)
        inputs = inputs[places]
    return Items(votes, inputs, *(((), ()) if inputs.dtype == object else feature_statistics(inputs)))
