"""Arrays that are slow to make, kept on disk by content: made in blocks, each of them on disk as soon as it is there."""

import hashlib
import os
import platform
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

import numpy as np

from hardlabels.console import bars, say
from hardlabels.whole_files import whole_file

Rows = Callable[[int, int], np.ndarray]
"""The rows ``start .. stop`` of an array that is being made."""


def kept_rows(path: Path, n: int, begin: Callable[[], Rows], *, title: str, block: int, threads: int = 1) -> np.ndarray:
    """The array of n rows at ``path``; made there, with a progress bar, where it is not yet.

    The path's name must say all that decides the content: two arrays of one name are taken for the same.

    Blocks of rows are written beside the path as they come, whole or not at all, and put together at the end. A process that was
    killed at any moment has lost the blocks that it was making; the same call makes only what is missing. Two processes that want
    the same array take the blocks in other orders and use each other's, so that hardly any is made twice.

    Args:
        path: ends in ``.npy``.
        n: rows of the array.
        begin: called only when there is something to make (an encoder may take seconds to load); returns what makes rows.
        title: what is being done, for the bar.
        block: rows that are made at once.
        threads: blocks at a time.
    """
    folder = path.with_suffix(".parts")
    if (whole := _read(path, n)) is not None:
        if folder.exists():  # a process was still making a block when another one had finished all of them
            shutil.rmtree(folder, ignore_errors=True)
        return whole
    with suppress(OSError):  # not there, or not whole
        path.unlink()
    stuck = path.is_file()  # not whole, in a cache that cannot be written
    starts = list(range(0, n, block))
    own = f"{platform.node()} {os.getpid()}"  # the order is a matter of who does which work, not of the result
    found = {start: _read(_part(folder, start, block, n), min(block, n - start)) for start in starts}
    blocks = {start: rows for start, rows in found.items() if rows is not None}
    missing = [start for start in starts if start not in blocks]
    missing.sort(key=lambda start: hashlib.sha256(f"{own} {start}".encode()).digest())
    already = sum(map(len, blocks.values()))
    say(f"{title}: {n:,}, once" + (f" ({already:,} of them are there from before)" if already else ""))
    task, began = bars().add_task(title, total=n, completed=already, note=""), time.monotonic()
    storage = _Storage()
    try:
        if missing:
            rows_of = begin()

            def make(start: int) -> np.ndarray | None:
                if not stuck and path.is_file():  # another process has finished all of them
                    return None
                part = _part(folder, start, block, n)
                rows = _read(part, min(block, n - start))
                if rows is None:
                    rows = rows_of(start, min(start + block, n))
                    storage.write(part, rows)
                return rows

            pool = ThreadPoolExecutor(threads, thread_name_prefix="encoder")
            try:
                jobs = {pool.submit(make, start): start for start in missing}
                for job in as_completed(jobs):
                    if (rows := job.result()) is not None:
                        blocks[jobs[job]] = rows
                        bars().update(task, advance=len(rows))
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        bars().remove_task(task)
    if len(blocks) < len(starts):
        return kept_rows(path, n, begin, title=title, block=block, threads=threads)
    array = np.concatenate([blocks[start] for start in starts])
    storage.write(path, array)
    shutil.rmtree(folder, ignore_errors=True)
    say(f"{title}: done after {time.monotonic() - began:.0f} s")
    return array


class _Storage:
    """Writes arrays, whole or not at all; a cache that cannot be written costs time, not results, and is complained of once."""

    complained = False

    def write(self, path: Path, array: np.ndarray) -> None:
        try:
            with whole_file(path) as file:
                np.save(file, array)
        except OSError as error:
            if not self.complained:
                self.complained = True
                say(f"the features are not kept: {path.parent} cannot be written ({error.strerror or error})")


def _part(folder: Path, start: int, block: int, n: int) -> Path:
    return folder / f"{start}-{min(start + block, n)}.npy"


def _read(path: Path, n: int) -> np.ndarray | None:
    """The array of n rows in this file; None where there is no such file, or not a whole one."""
    with suppress(OSError, ValueError, EOFError):
        array = np.load(path, allow_pickle=False)
        if array.ndim and len(array) == n:
            return array
    return None
