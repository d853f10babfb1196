"""New items from files, block by block: a folder of images, a table of texts or of features. Any number, constant memory."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hardlabels.errors import InputError
from hardlabels.inference.prepare import KINDS, Preparation
from hardlabels.sources.features import is_header, is_number
from hardlabels.sources.folder import FORMATS, image_names, read_images
from hardlabels.sources.id_columns import id_field
from hardlabels.sources.sentences import text_columns
from hardlabels.sources.texts import is_text
from hardlabels.votes.formats.document import parse
from hardlabels.votes.formats.text_tables import TextTable, check_file, header_names

T = TypeVar("T")
BLOCK = 256
ENDINGS = {"texts": (".csv", ".jsonl"), "vectors": (".csv", ".npy")}


class Block(NamedTuple):
    """Some items with their ids."""

    ids: list[str]
    items: np.ndarray


def check_paths(paths: Sequence[Path], items: str) -> None:
    """Refuse, before any work, a path that is not there or cannot hold such items, and two images of one id."""
    given: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} is not there (looked in {Path.cwd()})")
        expected = " or ".join(ENDINGS.get(items, ()))
        if items == "images" and not path.is_dir() and path.suffix.lower() not in FORMATS:
            raise InputError(f"{path}: this network takes images: expected a folder of them, or an image ({', '.join(FORMATS)})")
        if items == "images":
            names = image_names(path) if path.is_dir() else [path.name]
            if not names:
                raise InputError(f"{path}: expected images ({', '.join(FORMATS)}), found none")
            if bad := next((name for name in names if not _is_text(name)), None):
                raise InputError(f"{path}: expected names of images in UTF-8, as they become ids; found {bad!r:.80}")
            ids = image_ids(path, names, several=len(paths) > 1)
            if twice := next((name for name in ids if name in given), None):
                raise InputError(
                    f"{path} and {given[twice]} both have an image of the id {twice!r}, and predictions are known by their ids: "
                    "predict them into two files"
                )
            given |= dict.fromkeys(ids, path)
        if items != "images" and (path.is_dir() or path.suffix not in ENDINGS[items]):
            found = "a folder" if path.is_dir() else repr(path.suffix or "no ending")
            raise InputError(f"{path}: this network takes {KINDS[items]}: expected a {expected}, got {found}")


def _is_text(name: str) -> bool:
    """Whether a file's name can be written: Python reads bytes that are no UTF-8 as halves of characters."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def image_ids(path: Path, names: Sequence[str], *, several: bool) -> list[str]:
    """The ids of images: their names, after that of their folder where more than one path is given.

    >>> image_ids(Path.cwd(), ["a.png"], several=True) == [f"{Path.cwd().name}/a.png"]
    True
    """
    return [f"{path.name}/{name}" for name in names] if several and path.is_dir() else list(names)


def stream_items(paths: Sequence[Path], preparation: Preparation, text: Sequence[str] | None = None) -> Iterator[Block]:
    """The items of these files in order, as the network was trained on; at most :data:`BLOCK` at a time.

    Args:
        paths: folders of images and single images; or ``.csv`` and ``.jsonl`` of texts; or ``.csv`` and ``.npy`` of features.
        preparation: what the network takes.
        text: the column of the text, or the two of a pair, where the names of the columns do not say so.

    Raises:
        InputError: something that cannot be read, with its place; everything before it has been given.
    """
    check_paths(paths, preparation.items)
    for path in paths:
        if preparation.items == "images":
            yield from _images(path, preparation, several=len(paths) > 1)
        elif path.suffix == ".npy":
            yield from _array(path, preparation.shape[0])
        else:
            rows = (
                _text_rows(path, preparation.shape[0], text)
                if preparation.items == "texts"
                else _numbers(path, preparation.shape[0])
            )
            for some in _some(rows, BLOCK):
                dtype: Any = object if preparation.items == "texts" else np.float32
                yield Block([name for name, _ in some], np.array([cells for _, cells in some], dtype=dtype))


def _some(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """The rows in lists of this size; the last one may be shorter.

    >>> list(_some("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    left = iter(rows)
    while block := list(islice(left, size)):
        yield block


def _images(path: Path, preparation: Preparation, *, several: bool) -> Iterator[Block]:
    size, _, channels = preparation.shape
    folder, names = (path, image_names(path)) if path.is_dir() else (path.parent, [path.name])
    for some in _some(names, BLOCK):
        yield Block(image_ids(path, some, several=several), read_images(folder, some, size, channels, preparation.fit))


def _array(path: Path, features: int) -> Iterator[Block]:
    check_file(path)
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path}: expected a numeric matrix as np.save writes it: {error!s:.100}") from error
    if rows.ndim != 2 or rows.shape[1] != features or rows.dtype.kind not in "iuf":
        raise InputError(
            f"{path}: expected rows of {features} numbers, as in training; got shape {rows.shape}, type {rows.dtype}"
        )
    for start in range(0, len(rows), BLOCK):
        block = np.array(rows[start : start + BLOCK], dtype=np.float32)  # a copy: what is mapped cannot be written
        if len(bad := np.flatnonzero(~np.isfinite(block).all(1))):
            raise InputError(f"{path}, row {start + bad[0]}: expected finite numbers (float32)")
        yield Block([str(start + i) for i in range(len(block))], block)


def _numbers(path: Path, features: int) -> Iterator[tuple[str, list[float]]]:
    """(id, numbers) of every row of a csv; a first line without numbers, or one that begins with a name for ids, is a header."""
    table = TextTable(path)
    if len(table.header) != features + 1:
        raise InputError(f"{path}: expected an id and {features} numbers, as in training; line 1 has {len(table.header)} cells")
    header = is_header(table.header, f"{path}, line 1")
    blocks = table.blocks() if header else ([[table.header], *table.blocks()])
    row = 1 if header else 0
    for block in blocks:
        for name, *cells in block:
            numbers = [float(cell) if is_number(cell) else float("nan") for cell in cells]
            with np.errstate(over="ignore"):  # infinite then, and refused
                finite = np.isfinite(np.array(numbers, dtype=np.float32)).all()
            if not finite:
                raise InputError(
                    f"{path}, line {table.line(row)}: expected finite numbers (float32) after the id, got {cells!r:.80}"
                )
            yield name.strip(), numbers
            row += 1


def _text_rows(path: Path, parts: int, text: Sequence[str] | None) -> Iterator[tuple[str, list[str]]]:
    """(id, texts) of every row of a csv with a header, or of every line of JSON."""
    rows = _csv_texts(path, parts, text) if path.suffix == ".csv" else _json_texts(path, parts, text)
    for where, name, cells in rows:
        if not all(map(is_text, cells)):
            raise InputError(f"{where}: expected {'a text' if parts == 1 else 'two texts'}, got {cells!r:.80}")
        yield name, [str(cell).strip() for cell in cells]


def _csv_texts(path: Path, parts: int, text: Sequence[str] | None) -> Iterator[tuple[str, str, list[Any]]]:
    table = TextTable(path)
    _, *names = header_names(table.header, path, "column")
    places = [1 + names.index(name) for name in _columns(names, parts, text, path)]
    row = 1
    for block in table.blocks():
        for cells in block:
            yield f"{path}, row {row}", cells[0].strip(), [cells[place] for place in places]
            row += 1


def _json_texts(path: Path, parts: int, text: Sequence[str] | None) -> Iterator[tuple[str, str, list[Any]]]:
    check_file(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                where = f"{path}, line {number}"
                entry = parse(line, where)
                key = id_field(entry) if isinstance(entry, dict) else None
                if key is None:
                    raise InputError(f"{where}: expected an object with an id and a text, found {json.dumps(entry):.80}")
                names = [name for name in entry if name != key]
                yield where, str(entry[key]).strip(), [entry[name] for name in _columns(names, parts, text, path)]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8: {error.reason}") from error


def _columns(names: Sequence[str], parts: int, text: Sequence[str] | None, path: Path) -> Sequence[str]:
    chosen = tuple(text) if text else text_columns(names, path) or (tuple(names) if len(names) == parts else ())
    expected = "one column of text" if parts == 1 else "the two columns of a pair"
    if len(chosen) != parts or not set(chosen) <= set(names):
        got = ", ".join(chosen) if chosen else ", ".join(names)
        raise InputError(f"{path}: expected {expected}, as in training; got {got or 'none':.200} (--text COLUMN says which)")
    return chosen
