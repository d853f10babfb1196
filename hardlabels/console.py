"""The terminal: one console, one set of progress bars for the whole process, lines that do not tear them."""

import sys
from functools import lru_cache

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

# Without a terminal (a log file, CI) rich assumes 80 columns and would cut tables to fit.
_width = None if sys.stdout.isatty() else 120
console = Console(highlight=False, width=_width)
errors = Console(stderr=True, highlight=False, width=_width)


def say(line: str) -> None:
    """One line for the person (or the log), above the bars."""
    console.print(line, markup=False, soft_wrap=True)


def complain(line: str) -> None:
    """One line on standard error."""
    errors.print(line, markup=False, soft_wrap=True, style="bold red")


@lru_cache(maxsize=1)
def bars() -> Progress:
    """The process's progress bars, started at first use. Shown on a terminal only; logs get lines instead."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    progress.start()
    return progress


def stop_bars() -> None:
    """Leave a clean terminal behind."""
    if bars.cache_info().currsize:
        bars().stop()
        bars.cache_clear()
