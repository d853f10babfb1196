"""How a command is stopped from outside: by Ctrl-C or SIGTERM, or because nobody reads its output any more.

Ctrl-C and SIGTERM stop between two bytecodes, keep every whole epoch and say how to go on. A closed pipe ends in silence.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

STOP_SIGNALS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Stopped(BaseException):
    """A signal asked this process to stop. No ``Exception``: a grid that survives failing cells must not survive this.

    Args:
        signum: the signal's number.
    """

    def __init__(self, signum: int):
        super().__init__(signum)
        self.signum = signum

    @property
    def exit_code(self) -> int:
        """128 + the signal's number, as shells have it.

        >>> Stopped(signal.SIGTERM).exit_code
        143
        """
        return 128 + self.signum

    def __str__(self) -> str:
        how = "Ctrl-C" if self.signum == signal.SIGINT else signal.Signals(self.signum).name
        return f"stopped by {how}; nothing that is written is lost: the same command goes on after the last whole epoch"


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGINT and SIGTERM into ``Stopped`` inside the block.

    Only where nobody else has: a job of submitit bypasses SIGTERM on purpose, to be requeued by another signal.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Stopped(signum)

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number, default in STOP_SIGNALS.items():
            if signal.getsignal(number) is default or signal.getsignal(number) == default:
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


CLOSED_PIPE = 128 + 13
"""The exit code of a command whose output nobody reads any more: that of SIGPIPE, by which ``cat FILE | head`` ends ``cat``."""


class ReaderGone(BaseException):
    """Nobody reads our output any more. No ``Exception``, for the reason of ``Stopped``: a grid must end with it."""


@contextmanager
def ends_with_its_reader() -> Iterator[None]:
    """End a command in silence, with the exit code of SIGPIPE, when the reader of its output leaves: ``... --help | head -1``.

    Every command's ``main`` is inside this block. SIGPIPE itself stays ignored, as Python has it: its default action would also
    kill a training whose connection to W&B or to a Ray cluster breaks.
    """
    try:
        try:
            yield
        except SystemExit:
            _flush()
            raise
        _flush()
    except (BrokenPipeError, ReaderGone):
        if not _reader_is_gone():  # then it was another pipe, and somebody must see the traceback
            raise
        for stream in _outputs():  # what is still in their buffers would raise again when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(CLOSED_PIPE)


def _outputs() -> list[TextIO]:
    """Standard output and standard error: Python has None for one that the process was started without."""
    return [stream for stream in (sys.stdout, sys.stderr) if stream is not None]


def _flush() -> None:
    """Write what is left in the buffers now: when Python ends it is too late to be silent about a closed pipe."""
    for stream in _outputs():
        stream.flush()


def _reader_is_gone() -> bool:
    ends = select.poll()
    for stream in _outputs():
        ends.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in ends.poll(0))
