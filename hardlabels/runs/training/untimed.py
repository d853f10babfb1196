"""What Lightning measures of its own steps, where nobody asked for it: nothing."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from lightning.pytorch.profilers import PassThroughProfiler


class Untimed(PassThroughProfiler):
    """Lightning's profiler that records nothing, without a generator for each of the thirty actions of a step.

    It is the profiler of a run unless the configuration names another: ``+trainer.profiler=simple``.

    >>> with Untimed().profile("an action"):
    ...     pass
    """

    nothing: AbstractContextManager[None] = nullcontext()

    def profile(self, action_name: str) -> Any:
        """One context for all actions: it holds nothing, so it may be entered again inside itself."""
        return self.nothing
