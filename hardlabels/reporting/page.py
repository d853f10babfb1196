"""The report as one page: the answer first, then verdicts, items, tables, figures, methods, environment. No network.

Everything that people provided (names of methods, classes, data sets, error messages) goes through Jinja's escaping, and
pictures are ``<img>`` with their content in the address, where a script could not run. The one script, which lets people look
through items, is ours: the page's policy names its hash, and a browser runs no other.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from hardlabels.reporting.answer import Answer
from hardlabels.reporting.claims.claim import Verdict
from hardlabels.reporting.claims.judge import match_by_match
from hardlabels.reporting.claims.rules import Rules
from hardlabels.reporting.claims.status import EPOCHS, SIGNS, STATUSES, Status, at_both_epochs, legend
from hardlabels.reporting.drawing import Drawing
from hardlabels.reporting.explorer import Explorer
from hardlabels.reporting.figures.style import label
from hardlabels.reporting.inline import headlines, strips
from hardlabels.reporting.limit import limit_sentences
from hardlabels.reporting.meanings import meaning
from hardlabels.reporting.number_formats import number, p_value
from hardlabels.reporting.primary import PrimaryResult
from hardlabels.reporting.primary_table import BESIDE_CLAIMS, heads, outcome_words
from hardlabels.reporting.provenance import Fact
from hardlabels.reporting.table_files import cell_text
from hardlabels.reporting.tables import Table
from hardlabels.reporting.tables.table import Line
from hardlabels.reporting.verdicts_by_data import VerdictMatrix
from hardlabels.runs.quantity import CHECKPOINTS
from hardlabels.statistics import Limit

TEMPLATES = Path(__file__).with_name("templates")
SAME_ITEMS = (
    "All seeds evaluate the same items, since the split was given with the data. Every test here is over seeds: it is about "
    "other seeds on these items, and knows nothing of the noise of the items. hardlabels compare has a test that does."
)
"""What is said above the verdicts where all seeds share their evaluation items: the corrected t-test is for seeds that do not."""
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
        limit: the least soft NLL that a prediction can have on the evaluation items; None without runs.
        primary: what was written down before the first run, where the study has such a thing.
        answer: what was found, in a few sentences and the points of a picture per checkpoint.
        explorer: items to look through; None where no run has predictions.
        same_items: whether all seeds evaluate the same items, by a split that was given with the data.
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
    limit: Limit | None = None
    primary: PrimaryResult | None = None
    answer: Answer = field(default_factory=Answer)
    explorer: Explorer | None = None
    same_items: bool = False

    @property
    def counts(self) -> dict[tuple[Status, str], tuple[int, ...]]:
        """Status and its words to the number of claims at each checkpoint, of those that this study is about."""
        here = [verdict for verdict in self.verdicts if not verdict.elsewhere]
        seen = [[(verdict.status(checkpoint), verdict.word(checkpoint)) for verdict in here] for checkpoint in CHECKPOINTS]
        keys = sorted({key for found in seen for key in found}, key=lambda key: (STATUSES.index(key[0]), key[1]))
        return {key: tuple(found.count(key) for found in seen) for key in keys}

    @property
    def topics(self) -> dict[str, list[Verdict]]:
        """Heading to the verdicts of this study."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            if not verdict.elsewhere:
                found.setdefault(verdict.claim.topic, []).append(verdict)
        return found

    def open_topic(self, topic: str) -> bool:
        """Whether something was decided under a heading: such groups are open when the page opens."""
        decided = ("supported", "contradicted", "no difference")
        return any(finding.status in decided for verdict in self.topics[topic] for finding in verdict.at.values())

    def topic_counts(self, topic: str) -> str:
        """How the verdicts under a heading came out, in words: at both epochs, or at each where that differs."""
        words = [[verdict.word(checkpoint) for verdict in self.topics[topic]] for checkpoint in CHECKPOINTS]
        every = dict.fromkeys(word for found in words for word in found)
        return ", ".join(at_both_epochs(word, *(found.count(word) for found in words)) for word in every)

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


@dataclass(frozen=True)
class Shown:
    """The part of a table that has numbers: its lines, its columns, the headings of the others, and whether n is one for all."""

    lines: list[Line]
    columns: list[str]
    hidden: list[str]
    one_n: bool


def with_numbers(table: Table) -> Shown:
    """Rows and columns in which something was measured, or something is said that is not only ``missing``."""
    every = [*table.cells.items(), *table.last.items()]
    full = {key for key, entry in every if entry.mean is not None}
    rows = [row for row in table.rows if any(row == one for one, _ in full)]
    columns = [column for column in table.columns if any(column == one for _, one in full)]
    hidden = [name for name in (*table.rows, *table.columns) if name not in (*rows, *columns)]
    lines = [line for line in table.lines() if line.row in rows]
    return Shown(lines, columns, hidden, len({entry.n for _, entry in every if entry.mean is not None}) == 1)


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
    environment.filters["p"] = p_value
    environment.filters["limit"] = limit_sentences
    environment.globals.update(cell_text=cell_text, signs=SIGNS, legend=legend, epochs=EPOCHS)
    environment.globals.update(primary_heads=heads, outcome_words=outcome_words, beside_claims=BESIDE_CLAIMS)
    environment.globals.update(match_by_match=match_by_match, same_items=SAME_ITEMS)
    environment.globals.update(headlines=headlines, strips=strips, meaning=meaning, label=label)
    script = (TEMPLATES / "explorer.js").read_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals.update(script=Markup(script), script_hash=digest)
    return environment.get_template("index.html").render(page=page)
