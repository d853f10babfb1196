"""The page of a comparison: one HTML file, without scripts and without anything from a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from hardlabels.comparing.answer import Answer
from hardlabels.comparing.disagreement import Item
from hardlabels.comparing.measure import METRICS
from hardlabels.reporting.limit import ENTROPY, REACHABLE, few_votes_matter
from hardlabels.reporting.number_formats import NOTHING, score_and_sd, signed
from hardlabels.reporting.page import TEMPLATES as REPORT

TEMPLATES = Path(__file__).with_name("templates")
HEADS = {
    "soft_nll": "soft NLL ↓",
    "kl_to_annotator": "KL to the annotators ↓",
    "hard_acc": "accuracy ↑",
    "ent_corr": "entropy correlation ↑",
    "ece_eqmass": "ECE ↓",
    "smooth_ece": "smooth ECE ↓",
}


@dataclass(frozen=True)
class Page:
    """All that the page shows.

    Attributes:
        name: of the data set.
        short: the answer in a line.
        paragraph: the answer in a paragraph.
        answer: its numbers.
        pictures: title, caption and address of each.
        items: on which network and annotators disagree most.
        shown: the method whose predictions are shown with them.
        facts: about the votes, the runs and the settings: (name, value).
        doubts: what makes the answer less sure.
        commands: what to do next: (what, command).
    """

    name: str
    short: str
    paragraph: str
    answer: Answer
    pictures: Sequence[tuple[str, str, str]]
    items: Sequence[Item]
    shown: str
    facts: Sequence[tuple[str, str]]
    doubts: Sequence[str]
    commands: Sequence[tuple[str, str]]


def cell(mean: float, sd: float) -> str:
    """A number of a table.

    >>> cell(0.51234, 0.01), cell(float("nan"), float("nan")), cell(0.5, float("nan"))
    ('0.5123 ± 0.0100', '–', '0.5000')
    """
    return NOTHING if mean != mean else score_and_sd(mean, sd)


def render(page: Page) -> str:
    """The page as HTML; everything that people wrote is escaped."""
    environment = Environment(
        loader=FileSystemLoader([TEMPLATES, REPORT]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(few_votes_matter=few_votes_matter, entropy=ENTROPY, reachable=REACHABLE)
    heads = {name: HEADS[name] for name in METRICS}
    return environment.get_template("compare.html").render(page=page, heads=heads, cell=cell, signed=signed)
