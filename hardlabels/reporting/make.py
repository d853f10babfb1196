"""Tables and figures of a report: those that were asked for, made, written, and apart those without numbers."""

import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hardlabels.console import complain
from hardlabels.diagnostics.probe import OF_IMAGES
from hardlabels.errors import InputError, printable
from hardlabels.reporting.drawing import Drawing, draw, write_drawing
from hardlabels.reporting.table_files import write_table
from hardlabels.reporting.tables import Table
from hardlabels.reporting.tables.saved import source_at_hand
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import Records

T = TypeVar("T")

Makers = dict[str, Callable[[Any], Any]]
"""Number to the function that makes it."""


@dataclass(frozen=True)
class Wanted:
    """The tables and figures of a report.

    Attributes:
        tables: of one data set.
        figures: of one data set.
        tables_over_data: of several.
        figures_over_data: of several.
        over_data_only: those of the last two that were asked for by their names.
    """

    tables: Makers
    figures: Makers
    tables_over_data: Makers
    figures_over_data: Makers
    over_data_only: tuple[str, ...] = ()


def choose(tables: Collection[Any] | None, figures: Collection[Any] | None) -> Wanted:
    """Those with these numbers; None: all.

    Raises:
        InputError: on a number that there is not.
    """
    from hardlabels.reporting.data_sets import FIGURES_OVER_DATA, TABLES_OVER_DATA  # noqa: PLC0415 - matplotlib takes a second
    from hardlabels.reporting.figures import FIGURES  # noqa: PLC0415
    from hardlabels.reporting.tables import TABLES  # noqa: PLC0415

    one, over = _named("table", tables, TABLES, TABLES_OVER_DATA)
    one_figure, over_figure = _named("figure", figures, FIGURES, FIGURES_OVER_DATA)
    asked = [] if tables is None else [f"table {name}" for name in over]
    asked += [] if figures is None else [f"figure {name}" for name in over_figure]
    return Wanted(one, one_figure, over, over_figure, tuple(asked))


def _named(kind: str, names: Collection[Any] | None, *known: Mapping[str, Callable[[Any], Any]]) -> list[Makers]:
    every = [name for makers in known for name in makers]
    wanted = every if names is None else [str(name) for name in names]
    for name in wanted:
        if name not in every:
            raise InputError(f"{kind}s must be among {', '.join(every)}, got {name!r}")
    return [{name: makers[name] for name in wanted if name in makers} for makers in known]


@dataclass(frozen=True)
class ReportParts:
    """The tables and figures of one report, as far as there are numbers for them.

    Attributes:
        tables: those that have numbers.
        drawings: those that have something to show.
        left_out: the others: (name, what to run).
    """

    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    left_out: tuple[tuple[str, tuple[str, ...]], ...] = ()


def make(tables: Makers, figures: Makers, about: Any, folder: Path, problems: list[str]) -> ReportParts:
    """Make and write tables and figures; one that fails is a line of ``problems``, and the others are made.

    Args:
        tables: number to function.
        figures: likewise.
        about: what the functions take: records, or data set to records.
        folder: where the files go.
        problems: lines are added.
    """
    shown, drawings, left_out = [], [], []
    for number, maker in tables.items():
        table = _attempt(f"table {number}", lambda maker=maker: maker(about), problems)  # type: ignore[misc]
        if table is None:
            continue
        if any(entry.mean is not None for entry in table.cells.values()):
            shown.append(table)
            write_table(table, folder)
        else:
            left_out.append((f"Table {number}. {table.title}", tuple(table.notes)))
    for number, maker in figures.items():
        figure = _attempt(f"figure {number}", lambda maker=maker: maker(about), problems)  # type: ignore[misc]
        if figure is None:
            continue
        drawing = _attempt(f"figure {number}", lambda figure=figure: draw(figure), problems)  # type: ignore[misc]
        if drawing is None:
            left_out.append((f"Figure {number}. {figure.title}", tuple(figure.notes)))
        else:
            drawings.append(drawing)
            write_drawing(drawing, folder)
    return ReportParts(tuple(shown), tuple(drawings), tuple(left_out))


def _attempt(what: str, function: Callable[[], T], problems: list[str]) -> T | None:
    try:
        return function()
    except Exception as error:  # a fault of ours in one picture must not cost the verdicts; it is shown, on the page as well
        if not isinstance(error, InputError):
            complain(traceback.format_exc())
        problems.append(f"{what}: {type(error).__name__}: {printable(str(error))}")
        return None


def impossible_probes(records: Records) -> tuple[str, ...]:
    """The probes that this data set cannot have, where it is on this machine to be asked; none where it is not."""
    first = next(iter(records.folders.values()), None)
    source = None if first is None else source_at_hand(FinishedRun(first))
    return () if source is None or source.has_images else OF_IMAGES
