"""The report as one page: verdicts first, then tables, figures, methods, environment. No network, no script.

Everything that people provided (names of methods, classes, data sets, error messages) goes through Jinja's escaping, and
pictures are ``<img>`` with their content in the address, where a script could not run.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from hardlabels.reporting.claims.claim import SIGNS, STATUSES, Rules, Verdict
from hardlabels.reporting.claims.judge import number
from hardlabels.reporting.provenance import Fact
from hardlabels.reporting.published import PUBLISHED_DATA
from hardlabels.reporting.tables import Table
from hardlabels.reporting.verdicts_by_data import VerdictMatrix, legend
from hardlabels.reporting.write import Drawing, cell_text

TEMPLATES = Path(__file__).with_name("templates")
COMMAND = re.compile(r"python -m hardlabels\.[^;]*[^;.\s]")


@dataclass(frozen=True)
class Part:
    """What the report says about one data set and recipe of a study.

    Attributes:
        data: its name.
        recipe: its name.
        finished: runs.
        planned: runs that the study asks for.
        verdicts: on all claims, in order.
        tables: those that have numbers.
        drawings: those that have something to show.
        left_out: tables and figures without numbers: (name, what to run).
        unfinished: (folder, reason).
        missing: runs that have no folder, by method and K.
        commands: what trains the missing ones.
        floor: mean entropy of the annotators on evaluation items, nat: the least soft NLL; None without runs.
    """

    data: str
    recipe: str
    finished: int
    planned: int
    verdicts: tuple[Verdict, ...]
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    left_out: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unfinished: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    floor: float | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Status to number of claims, of those that this study is about."""
        found = Counter(verdict.status for verdict in self.verdicts if not verdict.elsewhere)
        return {status: found[status] for status in STATUSES}

    @property
    def topics(self) -> dict[str, list[Verdict]]:
        """Heading to the verdicts of this study."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            if not verdict.elsewhere:
                found.setdefault(verdict.claim.topic, []).append(verdict)
        return found

    @property
    def elsewhere(self) -> dict[str, list[Verdict]]:
        """Study to the claims that only it can answer."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            if verdict.elsewhere:
                found.setdefault(verdict.claim.study, []).append(verdict)
        return found


@dataclass(frozen=True)
class Overview:
    """What stands above the parts when there are several data sets.

    Attributes:
        matrix: verdicts by claim and data set, in the order of the parts.
        tables: those that have numbers.
        drawings: those that have something to show.
        left_out: tables and figures without numbers: (name, what to run).
    """

    matrix: VerdictMatrix
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    left_out: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Page:
    """All that the page shows.

    Attributes:
        title: of the study.
        study: its name.
        parts: one for each data set and recipe.
        rules: level, margins, thresholds.
        runs: what the runs ran on.
        report: what made the report.
        problems: tables and figures that could not be made, with the error.
        overview: of several data sets; None where there is one.
    """

    title: str
    study: str
    parts: tuple[Part, ...]
    rules: Rules
    runs: tuple[Fact, ...] = ()
    report: tuple[Fact, ...] = ()
    problems: tuple[str, ...] = field(default=())
    overview: Overview | None = None

    @property
    def carried_over(self) -> list[str]:
        """The data sets to which the margins are only carried over: they come from the published SDs on another one."""
        return [data for data in dict.fromkeys(part.data for part in self.parts) if data != PUBLISHED_DATA]


@dataclass(frozen=True)
class Shown:
    """The part of a table that has numbers: its rows, its columns, the headings of the others, and whether n is one for all."""

    rows: list[str]
    columns: list[str]
    hidden: list[str]
    one_n: bool


def with_numbers(table: Table) -> Shown:
    """Rows and columns in which something was measured, or something is said that is not only ``missing``."""
    full = {key for key, entry in table.cells.items() if entry.mean is not None}
    rows = [row for row in table.rows if any(row == one for one, _ in full)]
    columns = [column for column in table.columns if any(column == one for _, one in full)]
    hidden = [name for name in (*table.rows, *table.columns) if name not in (*rows, *columns)]
    return Shown(rows, columns, hidden, len({entry.n for entry in table.cells.values() if entry.mean is not None}) == 1)


def apart(notes: list[str]) -> tuple[list[str], list[str]]:
    """Notes to read, and notes that say what to run.

    >>> apart(["KL is no evidence.", "Missing: 1 run. python -m hardlabels.train seed=9"])
    (['KL is no evidence.'], ['Missing: 1 run. python -m hardlabels.train seed=9'])
    """
    return [note for note in notes if not COMMAND.search(note)], [note for note in notes if COMMAND.search(note)]


def commands(note: str) -> Markup:
    """A note, escaped, with its commands set apart.

    >>> str(commands("<b> python -m hardlabels.train seed=9; and more"))
    '&lt;b&gt; <code>python -m hardlabels.train seed=9</code>; and more'
    """
    parts, end = [], 0
    for match in COMMAND.finditer(note):
        parts += [escape(note[end : match.start()]), Markup("<code>{}</code>").format(match.group())]
        end = match.end()
    return Markup("").join([*parts, escape(note[end:])])


def render(page: Page) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(number=number, with_numbers=with_numbers, apart=apart, commands=commands)
    environment.filters["p"] = lambda value: "–" if value is None else f"{value:.3g}"
    environment.globals.update(cell_text=cell_text, signs=SIGNS, legend=legend)
    return environment.get_template("index.html").render(page=page)
