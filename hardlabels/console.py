"""The terminal: one console, one set of progress bars for the whole process, lines that do not tear them."""

from functools import lru_cache

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def say(line: str) -> None:
    """One line for the person (or the log), above the bars."""
    console.print(line, markup=False)


def complain(line: str) -> None:
    """One line on standard error."""
    errors.print(line, markup=False, style="bold red")


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
