"""Ctrl-C and SIGTERM: stop between two bytecodes, keep every whole epoch, say how to go on."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
