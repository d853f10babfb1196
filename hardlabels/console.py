"""The terminal: one console, one set of progress bars for the whole process, lines that do not tear them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hardlabels.errors import InputError
from hardlabels.stopping import ReaderGone


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave the end to the command; rich would exit with code 1, that of a failed run."""
        raise ReaderGone


# Without a terminal (a log file, CI) rich assumes 80 columns and would cut tables to fit.
_width = None if sys.stdout.isatty() else 120
console = _Console(highlight=False, width=_width)
errors = _Console(stderr=True, highlight=False, width=_width)
_grid: list[TaskID] = []
"""The bar of the grid that this process runs, if it runs one."""


def say(line: str) -> None:
    """One line for the person (or the log), above the bars."""
    console.print(line, markup=False, soft_wrap=True)


@contextmanager
def silent() -> Iterator[None]:
    """Nothing is said inside the block, where somebody has said the same before."""
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def complain(line: str) -> None:
    """One line on standard error."""
    errors.print(line, markup=False, soft_wrap=True, style="bold red")


@contextmanager
def one_line_for_mistakes() -> Iterator[None]:
    """How a command that is no Hydra command ends: one line, and exit code 2 for bad input, 1 for what the system refused."""
    try:
        yield
    except InputError as error:
        complain(f"error: {error}")
        sys.exit(2)
    except BrokenPipeError:
        raise  # the reader of our output is gone, which is no mistake
    except OSError as error:
        complain(f"error: {error}")
        sys.exit(1)


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


@contextmanager
def grid_bar(cells: int) -> Iterator[None]:
    """A bar over the cells of a grid as long as the block runs; :func:`advance_grid` moves it.

    Args:
        cells: how many there are.
    """
    _grid.append(bars().add_task("grid", total=cells, note=""))
    try:
        yield
    finally:
        bars().remove_task(_grid.pop())


def advance_grid() -> None:
    """One cell of the grid is done. Nothing happens where no grid is shown: in a single run, in a launcher's own process."""
    for task in _grid:
        bars().update(task, advance=1)


def stop_bars() -> None:
    """Leave a clean terminal behind."""
    if bars.cache_info().currsize:
        bars().stop()
        bars.cache_clear()
