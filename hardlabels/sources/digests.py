"""What identifies an array that may be larger than the memory: the digests of its blocks of rows."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

LARGE = 1 << 30
"""Bytes from which an array is identified by the digests of its blocks, which can be known without reading it."""
BLOCK_BYTES = 4 << 20
ROW_BYTES = 16
JOURNAL = "blocks.jsonl"
"""The file beside a mapped array that says what its blocks hold, one line for each."""


def block_rows(array: np.ndarray) -> int:
    """Rows of a block: about 4 MB of them, at least one. A function of the array's shape and type alone.

    >>> block_rows(np.zeros((3, 1024, 1024), dtype=np.uint8))
    4
    """
    return max(1, BLOCK_BYTES // max(1, int(np.prod(array.shape[1:])) * array.itemsize))


def digests_of_blocks(array: np.ndarray) -> list[str]:
    """The sha256 of each block of rows, in order; of a whole mapped array that has a journal, as it stands there.

    >>> len(digests_of_blocks(np.zeros((9, 1024, 1024), dtype=np.uint8)))
    3
    """
    rows = block_rows(array)
    starts = range(0, len(array), rows)
    if journal := _journal_of(array):
        return [journal[block]["sha256"] for block in range(len(starts))]
    return [hashlib.sha256(np.ascontiguousarray(array[start : start + rows]).data).hexdigest() for start in starts]


def digests_of_rows(array: np.ndarray) -> list[bytes]:
    """16 bytes for each row, equal for equal rows; of a whole mapped array that has a journal, as they stand there.

    >>> digests = digests_of_rows(np.array([[1, 2], [1, 3], [1, 2]]))
    >>> digests[0] == digests[2] != digests[1]
    True
    """
    journal = _journal_of(array)
    if journal:
        whole = b"".join(bytes.fromhex(journal[block]["rows"]) for block in range(len(journal)))
        return [whole[start : start + ROW_BYTES] for start in range(0, len(whole), ROW_BYTES)]
    return [hashlib.blake2b(np.ascontiguousarray(row).data, digest_size=ROW_BYTES).digest() for row in array]


def read_journal(folder: Path) -> dict[int, dict[str, Any]]:
    """The lines of the journal in this folder, by the number of the block; a line that was cut short counts for nothing."""
    found: dict[int, dict[str, Any]] = {}
    with suppress(OSError):  # no journal
        for line in (folder / JOURNAL).read_text().splitlines():
            with suppress(ValueError):
                entry = json.loads(line)
                found[entry["block"]] = entry
    return found


def _journal_of(array: np.ndarray) -> dict[int, dict[str, Any]]:
    """The journal of a mapped array, where it has one and the array is all of the file, as it stands there; else nothing."""
    if not isinstance(array, np.memmap) or not array.flags.c_contiguous:
        return {}
    file = Path(str(array.filename))
    journal = read_journal(file.parent) if array.offset + array.nbytes == file.stat().st_size else {}
    return journal if len(journal) == -(-len(array) // block_rows(array)) else {}
