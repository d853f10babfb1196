"""The parts of a report in several processes: data sets have nothing to do with each other."""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from hardlabels.errors import InputError

Key = TypeVar("Key")
Found = TypeVar("Found")

_work: Callable[[Any], Any] | None = None
"""What the children of this process do: they inherit it, with all that was read, so nothing of it is sent to them."""


def side_by_side(function: Callable[[Key], Found], keys: Sequence[Key], processes: int | None) -> list[Found]:
    """What the function gives for each key, in order.

    Where processes cannot be forked, and for a single key, it is called in this process. What the function gives must be a value
    that can be sent between processes; that it writes files is no matter.

    Args:
        function: called once for each key.
        keys: what it is called with.
        processes: at most so many at once; None for one per core that this process may use.

    >>> side_by_side(len, ["a", "bc"], 1)
    [1, 2]
    """
    if processes is not None and (not isinstance(processes, int) or isinstance(processes, bool) or processes < 1):
        raise InputError(f"processes must be a whole number of at least 1, or null, got {processes!r}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(len(keys), cores if processes is None else processes)
    with few_collections():
        if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
            return [function(key) for key in keys]
        global _work
        _work = function
        try:
            with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
                return list(pool.map(_call, keys))
        finally:
            _work = None


@contextmanager
def few_collections() -> Iterator[None]:
    """Python looks for cycles of objects a hundred times less often; children inherit it.

    A picture is many thousand small objects, and looking through them again and again took an eighth of the time.
    """
    before = gc.get_threshold()
    gc.set_threshold(100 * before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _call(key: Any) -> Any:
    assert _work is not None
    return _work(key)
