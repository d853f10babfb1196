"""Tables as text, read in blocks: 10 million lines need no more memory than their codes.

Not ``pandas.read_csv(chunksize=...)``: it guesses types block by block (an id ``007`` becomes the number 7, ``NA`` a missing
cell), and its errors do not name the line of the file. Large plain files are read by polars instead, as text (:mod:`.fast`).
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from hardlabels.errors import InputError
from hardlabels.votes.text_files import MARKS, not_utf8, separator

BLOCK_CELLS = 1 << 14  # more at a time is slower: Python's garbage collection visits every row that is alive
CHUNK = 1 << 18  # characters
MISSING = frozenset(("", "nan", "NaN", "<NA>"))
"""Cells that hold nothing: as pandas writes them, or nothing at all."""


def check_file(path: Path) -> None:
    """Refuse what is not there, folders, devices and pipes."""
    try:
        there, is_file, is_folder = path.exists(), path.is_file(), path.is_dir()
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not is_file:
        found = "a folder" if is_folder else "a device or pipe" if there else "nothing: No such file"
        raise InputError(f"{path}: expected a file, got {found}")


def plain(text: str, mark: str = ",") -> bool:
    r"""Whether lines can be cut at every comma (or other mark): nothing quoted, no blank lines or spaces that csv would skip.

    >>> plain("a,b\n1,2\n"), plain('a,"b"\n')
    (True, False)
    """
    return not any(sign in text for sign in ('"', "\r", f"{mark} ", "\n ", "\n\n")) and text[:1] not in ("\n", " ")


class TextTable:
    """A csv file, or a tsv: its first line that is not blank, and the others in blocks.

    Args:
        path: the file, in UTF-8; one that ends in ``.tsv`` has tabs between its cells, every other commas or semicolons
            (:func:`~hardlabels.votes.text_files.separator`).
    """

    def __init__(self, path: Path):
        check_file(path)
        self.path, self.mark = path, "\t" if path.suffix == ".tsv" else ","
        self.header: list[str] = []
        if path.suffix != ".tsv":
            with self._open() as file:
                self.mark = separator(next((line for line in file if line.strip()), ""))
        with self._open() as file:
            self.header = next((row for row in csv.reader(file, delimiter=self.mark, skipinitialspace=True) if row), [])
        if len(self.header) == 1 and (other := next((mark for mark in ",;\t|" if mark in self.header[0]), None)):
            first = f"{other!r} separates those of the first line, {self.header[0]!r:.60}"
            instead = "Call it .tsv" if other == "\t" else "Call it .csv" if other == "," else "Save it with commas"
            raise InputError(f"{path}: expected cells separated by {self.marks}; {first}. {instead}")

    @property
    def marks(self) -> str:
        """What is between cells, in words."""
        return MARKS[self.mark]

    def blocks(self) -> Iterator[list[list[str]]]:
        """The rows after the first, many at a time, each with as many cells as the first."""
        with self._open() as file:
            yield from self._rows(file, 0)

    def columns(self, places: Sequence[int]) -> Iterator[list[Sequence[str]]]:
        """The cells of these columns below the first row, many rows at a time: three times as fast as :meth:`blocks`.

        Plain lines are cut at once, without a list a row. From the first that is not plain, csv does the work.
        """
        width, done = len(self.header), 0
        with self._open() as file:
            while lines := file.readlines(CHUNK):
                text = "".join(lines).replace("\r\n", "\n")
                if not plain(text, self.mark):
                    break
                text = text.removesuffix("\n")
                self._check([line.count(self.mark) + 1 for line in text.split("\n")], done)
                cells, first = text.replace("\n", self.mark).split(self.mark), 0 if done else width
                yield [cells[first + place :: width] for place in places]
                done += len(lines)
            for rows in self._rows(chain(lines, file), done):
                transposed = list(zip(*rows, strict=True))
                yield [transposed[place] for place in places]

    def line(self, row: int) -> int:
        """The line (from 1) on which a row (from 0, the header counted) ends: found by reading again, as only errors need it."""
        with self._open() as file:
            reader = csv.reader(file, delimiter=self.mark, skipinitialspace=True)
            return next(reader.line_num for i, _ in enumerate(row for row in reader if row) if i == row)

    def _rows(self, lines: Iterable[str], done: int) -> Iterator[list[list[str]]]:
        """Rows by csv, but for the first of the file: ``done`` rows came before these lines."""
        reader, size = (
            csv.reader(lines, delimiter=self.mark, skipinitialspace=True),
            max(1, BLOCK_CELLS // max(1, len(self.header))),
        )
        while block := list(islice(reader, size)):
            rows = [row for row in block if row]
            self._check([len(row) for row in rows], done)
            if self.mark == "\t":
                self._refuse_swallowed_rows(rows, done)
            if here := rows[not done :]:
                yield here
            done += len(rows)

    def _check(self, widths: list[int], done: int) -> None:
        width = len(self.header)
        if set(widths) - {width}:
            wrong = next(i for i, found in enumerate(widths) if found != width)
            found = f"line {self.line(done + wrong)} has {widths[wrong]}"
            raise InputError(f"{self.path}: expected {width} cells per line, as in the first; {found}")

    def _refuse_swallowed_rows(self, rows: list[list[str]], done: int) -> None:
        """Refuse cells with tabs: those of rows that a quotation mark at the beginning of a text has taken into its cell.

        Such rows would be lost without a word where a later text ends with a quotation mark.
        """
        for row, cells in enumerate(rows, start=done):
            if (cell := next((cell for cell in cells if "\t" in cell), None)) is not None:
                why = "A text that begins with a quotation mark must stand in quotes as a whole, with each of its own doubled"
                found = f"a cell that ends on line {self.line(row)} holds tabs: {cell!r:.60}"
                raise InputError(f"{self.path}: expected one row per line; {found}. {why}")

    @contextmanager
    def _open(self) -> Iterator[TextIO]:
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                yield file
        except UnicodeDecodeError as error:
            raise self._not_utf8(error) from error
        except csv.Error as error:
            raise InputError(f"{self.path}: expected cells separated by {self.marks}: {error}") from error
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror or error}") from error

    def _not_utf8(self, error: UnicodeDecodeError) -> InputError:
        """The error with the byte of the whole file: a file is decoded piece by piece."""
        try:
            self.path.read_bytes().decode()
        except UnicodeDecodeError as whole:
            return not_utf8(self.path, whole)
        return not_utf8(self.path, error)


def header_names(header: list[str], path: Path, what: str) -> list[str]:
    """The names of the columns without spaces around them; every one once.

    >>> header_names(["task ", "label"], Path("votes.csv"), "column")
    ['task', 'label']
    """
    names = [name.strip() for name in header]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{path}, line 1: expected every {what} once; {name!r:.60} comes twice")
        seen.add(name)
    return names
