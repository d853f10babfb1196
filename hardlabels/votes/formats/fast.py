"""Large tables read by polars. It takes plain files only; all others are for the careful reader, which also finds a bad line.

Polars fills lines that are too short and cuts those that are too long without a word, and it has other rules for quotes and
spaces than Python's csv. So a file is looked through first, as bytes: polars gets it only if its lines can be cut at every comma.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from hardlabels.votes.formats.cleaning import is_empty
from hardlabels.votes.formats.codes import Column
from hardlabels.votes.formats.text_tables import TextTable

LEAST_BYTES = 4 << 20  # below this the careful reader is done before polars is imported
CHUNK = 1 << 22
MOST_BYTES_PER_LINE = 1 << 16  # longer lines are texts, of which csv knows more


def read_columns(table: TextTable, places: Sequence[int]) -> list[Column] | None:
    """These columns of a table, or None where the careful reader is needed: small files, quotes, empty cells, odd lines.

    The codes are those of :class:`~hardlabels.votes.formats.codes.Codes`: texts in the order in which they first come.
    """
    if table.path.stat().st_size < LEAST_BYTES or (polars := _polars()) is None or not is_plain(table):
        return None
    chosen = sorted(set(places))
    try:
        frame = polars.read_csv(
            table.path,
            columns=chosen,
            separator=table.mark,
            quote_char=None,
            infer_schema=False,
            schema_overrides={table.header[place]: polars.Categorical for place in chosen},
        )
    except (polars.exceptions.ComputeError, polars.exceptions.NoDataError, OSError):  # bytes that are no text; no lines
        return None
    found = {place: as_column(series.cast(polars.Categorical)) for place, series in zip(chosen, frame.get_columns(), strict=True)}
    if any(column is None for column in found.values()):
        return None
    return [column for place in places if (column := found[place]) is not None]


def as_column(series: Any) -> Column | None:
    """A column of polars' categories; None where it is empty or a cell is."""
    if not len(series) or series.null_count():
        return None
    distinct = series.unique(maintain_order=True)
    texts = distinct.to_list()
    if any(map(is_empty, texts)):
        return None
    numbers = distinct.to_physical().to_numpy()
    place = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
    place[numbers] = np.arange(len(numbers), dtype=np.int32)
    return Column(place[series.to_physical().to_numpy()], texts)


def _polars() -> ModuleType | None:
    with suppress(ImportError):
        return import_module("polars")  # half a second: only where there is a large file to read
    return None


def is_plain(table: TextTable) -> bool:
    """Whether every line of a file has as many cells as the first and can be cut at every mark, as bytes."""
    mark, width = table.mark.encode(), len(table.header)
    signs = (b'"', b"\r", b"\0", mark + b" ", b"\n ", b"\n\n")
    pattern = np.frombuffer(mark * (width - 1) + b"\n", dtype=np.uint8)
    first = True
    for lines in _whole_lines(table):
        if any(sign in lines for sign in signs) or lines[:1] in (b"\n", b" ") or (first and lines.startswith(b"\xef\xbb\xbf")):
            return False
        content = np.frombuffer(lines, dtype=np.uint8)
        between = content[(content == mark[0]) | (content == ord("\n"))]
        if len(between) % width or not (between.reshape(-1, width) == pattern).all():
            return False
        if len(lines) > MOST_BYTES_PER_LINE * (len(between) // width):
            return False
        first = False
    return not first and width > 1


def _whole_lines(table: TextTable) -> Iterator[bytes]:
    """The file in chunks that end with a line; the last line gets an end where it has none."""
    with table.path.open("rb") as file:
        rest = b""
        while chunk := file.read(CHUNK):
            head, end, tail = (rest + chunk).rpartition(b"\n")
            if end:
                yield head + end
            rest = tail if end else rest + chunk
            if len(rest) > 2 * CHUNK:
                yield rest  # one line of megabytes: not plain
                return
        if rest:
            yield rest + b"\n"
