"""One writer per run: a lock on the run's folder that says who holds it and ends with the process that took it.

POSIX record locks where the system has them, since ``filelock`` takes ``flock`` there: forked DataLoader workers inherit that,
and the orphans of a killed run would keep its folder locked. On Windows, which has no such locks, it is ``filelock``.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from hardlabels.console import complain
from hardlabels.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

UNSUPPORTED = (37, 38, 95)  # ENOLCK, ENOSYS, ENOTSUP: a file system without locks


class HeldByAnotherProcess(Exception):  # noqa: N818 - a state, not an error: somebody else is at work here
    """Another process holds the lock; the message says which."""


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` as long as the block runs.

    A POSIX record lock: the kernel drops it when the process ends, however it ends, so that nobody waits for the dead; it works
    on NFS between hosts; and forked workers do not inherit it, so a killed run's orphans do not keep it.

    Raises:
        HeldByAnotherProcess: when another process has it.
        InputError: when the folder cannot be written.
    """
    if fcntl is None:
        with _hold_by_filelock(path):
            yield
        return
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+")
        except OSError as error:
            raise InputError(f"the run's folder cannot be written, {path.parent}: {error.strerror or error}") from error
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in UNSUPPORTED:
                complain(f"{path.parent}: this file system has no locks; keep other processes away from this run")
                break
            file.seek(0)
            who = file.read().strip() or "another process"
            file.close()
            raise HeldByAnotherProcess(f"{path.parent} is being written by {who}") from None
        # The last holder may have removed the file between our opening it and our lock: then nobody else would see ours.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                break
        file.close()
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}, since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n")
        file.flush()
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        file.close()


@contextmanager
def _hold_by_filelock(path: Path) -> Iterator[None]:
    """:func:`hold` where there are no POSIX locks; nobody can read from the file who holds it."""
    lock = FileLock(path, timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise HeldByAnotherProcess(f"{path.parent} is being written by another process") from None
    except PermissionError as error:
        raise InputError(f"the run's folder cannot be written, {path.parent}: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()


def holder(path: Path) -> str | None:
    """Who holds this lock right now; None where nobody does, and where only an attempt could tell (Windows)."""
    if fcntl is None:
        return None
    try:
        with path.open("r+") as file:
            try:
                os.lockf(file.fileno(), os.F_TEST, 0)
            except OSError:
                return file.read().strip() or "another process"
    except OSError:  # not there, or not ours to open: nobody that we could see
        return None
    return None
