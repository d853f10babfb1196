"""Numeric arrays from ``.npy``, ``.npz`` and ``.csv`` files that somebody else may have written.

Nothing pickled is ever loaded, and nothing is allocated before the file's own size says that it is there: a header of a few
bytes can promise terabytes, and an archive of kilobytes can unpack to gigabytes.
"""

import csv
import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.names import check_class_names
from hardlabels.votes.text_files import first_line_of, not_utf8, separator

UNPACKED_BYTES = 1 << 28
"""An .npz may always unpack to this much, 256 MiB,"""
UNPACKED_RATIO = 100
"""and beyond that to so many times its own size. (A bomb has 1,000 and more; predictions have 1 to 10.)"""

UNREADABLE = (ValueError, EOFError, RuntimeError, MemoryError, OverflowError, TypeError, struct.error, tokenize.TokenError)
UNREADABLE_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, KeyError)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name; an ``.npy`` or ``.csv`` has one, of the empty name.

    Raises:
        InputError: the file cannot be read, is no such file, holds Python objects, or would unpack to far more than it is.
    """
    if path.suffix not in (".npy", ".npz", ".csv"):
        raise InputError(f"{path}: expected a file .npy, .npz or .csv, got {path.suffix or 'no ending'!r}")
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: expected a file, got a {'folder' if path.is_dir() else 'device or pipe'}")
        if path.suffix == ".csv":
            return {"": _read_csv(path)}
        if path.suffix == ".npz":
            return _read_npz(path)
        with path.open("rb") as file:
            return {"": _read_npy(file, path.stat().st_size, str(path))}
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (*UNREADABLE, *UNREADABLE_ZIP) as error:
        raise InputError(f"{path}: expected plain numeric arrays as np.save writes them, found: {_first_line(error)}") from error


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with path.open("rb") as file:
        return read_npz(file, path.stat().st_size, str(path))


def read_npz(content: IO[bytes], packed: int, path: str) -> dict[str, np.ndarray]:
    """The arrays of an open ``.npz``, with the same checks.

    Args:
        content: the open file.
        packed: its size in bytes.
        path: what error messages call it.

    Raises:
        InputError: as :func:`read_arrays`.
        zipfile.BadZipFile: it is none, or damaged; also the others of ``UNREADABLE`` and ``UNREADABLE_ZIP``.
    """
    with zipfile.ZipFile(content) as archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if unpacked > max(UNPACKED_BYTES, UNPACKED_RATIO * packed):
            raise InputError(
                f"{path}: expected an .npz that unpacks to at most {UNPACKED_RATIO} times its size, or {UNPACKED_BYTES:,} bytes; "
                f"its {packed:,} bytes would become {unpacked:,}"
            )
        arrays: dict[str, np.ndarray] = {}
        for member in members:
            name, where = member.filename.removesuffix(".npy"), f"{path}, {member.filename!r}"
            if name == member.filename or not name.isprintable():
                raise InputError(f"{where}: expected arrays as np.savez writes them, with names that end in .npy")
            if member.flag_bits & 1:
                raise InputError(f"{where}: expected plain arrays, found an encrypted one")
            if name in arrays:
                raise InputError(f"{where}: expected every array once, found two of this name")
            with archive.open(member) as file:  # reads file_size bytes and no more, whatever follows
                arrays[name] = _read_npy(file, member.file_size, where)
        return arrays


def _read_npy(file: IO[bytes], size: int, where: str) -> np.ndarray:
    """One array, after its header was held against the ``size`` in bytes of the whole."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise InputError(f"{where}: expected plain numeric arrays as np.save writes them, found format {version}")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise InputError(f"{where}: expected plain numeric arrays as np.save writes them, found pickled Python objects")
    promised, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if dtype.itemsize == 0 or min(shape, default=0) < 0 or promised != there:
        raise InputError(
            f"{where}: expected the {promised:,} bytes of shape {_short(shape)}, type {_short(dtype)}, that its header promises; "
            f"found {there:,} (truncated?)"
        )
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def _read_csv(path: Path) -> np.ndarray:
    """A numeric table; a first line without any number is a header, the names of the classes."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from error
    header: list[str] | None = None
    rows: list[list[float]] = []
    reader = csv.reader(io.StringIO(text), delimiter=separator(first_line_of(text)), skipinitialspace=True)
    try:
        for cells in reader:
            if not cells or not any(cell.strip() for cell in cells):
                continue
            numbers = [number(cell) for cell in cells]
            if header is None and not rows and not any(number is not None for number in numbers):
                header = cells
                continue
            rows.append([_need(number, cell, path, reader.line_num) for number, cell in zip(numbers, cells, strict=True)])
            if len(rows[-1]) != len(rows[0]):
                place = f"line {reader.line_num} has {len(rows[-1])} (row {len(rows) - 1})"
                raise InputError(f"{path}: expected {len(rows[0])} numbers a line; {place}")
    except csv.Error as error:
        raise InputError(f"{path}: expected numbers separated by commas; line {reader.line_num}: {error}") from error
    if header is not None:
        _check_header(header, len(rows[0]) if rows else len(header), path)
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 0)


def _check_header(header: list[str], columns: int, path: Path) -> None:
    if len(header) != columns:
        raise InputError(f"{path}: expected {columns} class names in line 1, as many as numbers a line; found {len(header)}")
    check_class_names([name.strip() for name in header], f"{path}, line 1")


def number(cell: str) -> float | None:
    """The number that a cell is, infinite ones and NaN included; None for every other text.

    >>> number("1e3"), number("inf"), number("1_0"), number("ten")
    (1000.0, inf, None, None)
    """
    try:
        return None if "_" in cell else float(cell)  # Python would read 1_0 as 10
    except ValueError:
        return None


def _need(number: float | None, cell: str, path: Path, line: int) -> float:
    if number is None:
        raise InputError(f"{path}: expected numbers separated by commas; line {line} has {_short(repr(cell))}")
    return number


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _first_line(error: BaseException) -> str:
    return _short((str(error).splitlines() or [""])[0] or type(error).__name__)
