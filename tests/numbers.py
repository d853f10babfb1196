r"""Numbers in prose, held to the records.

A page (or a section of it) comes with statements: pieces of its text with a field for each number, and the numbers, computed from
records. A number that differs is a failure, and so is one that no statement has: no number can be typed that nothing recomputes.

>>> page = "SLS is lower by 0.070 nat\n(4 of 5 seeds), K = 5."
>>> problems(page, [says("SLS is lower by {:.3f} nat ({} of {} seeds)", 0.0702, 4, 5)])
[]
>>> problems(page, [says("SLS is lower by {:.3f} nat", 0.0813)])  # doctest: +ELLIPSIS
["'SLS is lower by 0.070 nat': 0.070 should be 0.081", "nothing recomputes 4 in '... by 0.070 nat (4 of 5 seeds)...'", ...]
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from string import Formatter
from typing import Any

ONES = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SPELT = (*ONES, "twenty", "half", "third", "quarter", "twice")
DIGITS = r"[+−-]?\d+(?:,\d{3})*(?:\.\d+)?"
NUMBER = re.compile(rf"(?<![\w./−-]){DIGITS}(?![.,]?\d)(?!\w)|\b(?:{'|'.join(SPELT)})\b", re.IGNORECASE)
"""A number as prose has it, in digits or spelt; not the digits of a name or a version (CIFAR-10H, f0acfc7, 0.1.0)."""

NO_PROSE = re.compile(r"```.*?```|`[^`]*`|!\[[^]]*\]\([^)]*\)|(?<=\])\([^)]*\)", re.DOTALL)
"""Code, pictures, and where links lead."""

NAMES = (
    r"K = \d+(?:, \d+)*(?:,? and \d+)?",
    r"\b(?:tables?|figures?|Proposition) S?\d+",
    r"\bCC BY[\w-]* \d\.\d",
    r"\bet al\.,? \d{4}",
    r"\bLeWiDi \d{4}",
    r"\bquarter study",
)
"""Where a number is a name: nothing was measured."""


@dataclass(frozen=True)
class Statement:
    """A piece of a page.

    Args:
        text: with a field of ``str.format`` for each number.
        values: the numbers.
    """

    text: str
    values: tuple[Any, ...]


def says(text: str, *values: Any) -> Statement:
    """A piece of prose and its numbers."""
    return Statement(text, values)


def section(page: str, heading: str) -> str:
    r"""The text below a heading of Markdown, up to the next one of the same rank or a higher one.

    >>> section("# a\nx\n## b\ny\n### c\nz\n## d\n", "## b")
    'y\n### c\nz'
    """
    rank = heading.split(" ")[0]
    return re.split(rf"^#{{1,{len(rank)}}} ", page.split(f"\n{heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0].strip()


def problems(
    page: str, statements: Iterable[Statement], tables: Iterable[Sequence[str]] = (), names: Iterable[str] = ()
) -> list[str]:
    """What is wrong with a page, a line for each: a wrong number, a statement that is missing, a number that nothing recomputes.

    Args:
        page: Markdown.
        statements: what it says.
        tables: lines that it has, numbers and all.
        names: further phrases whose numbers are names, or no measurements.
    """
    found, lines = [], page.splitlines()
    for line in (line for table in tables for line in table):
        if line not in lines:
            found.append(f"the page has no line {line!r}; it has {get_close_matches(line, lines, 1, 0)}")
    known = {line for table in tables for line in table}
    prose = NO_PROSE.sub(_blank, "\n".join(line for line in lines if line not in known))
    text = " ".join(prose.split())
    checked: set[int] = set()
    for statement in statements:
        pattern, expected = _parts(statement)
        matches = list(re.finditer(pattern, text))
        if not matches:
            found.append(f"the page does not say {statement.text!r}")
        for match in matches:
            for number, should in enumerate(expected, start=1):
                checked |= set(range(*match.span(number)))
                if match[number] != should:
                    found.append(f"{match[0]!r}: {match[number]} should be {should}")
    for phrase in (*NAMES, *map(re.escape, names)):
        for match in re.finditer(phrase, text):
            checked |= set(range(*match.span()))
    for match in NUMBER.finditer(text):
        if not checked & set(range(*match.span())):
            around = text[max(0, match.start() - 15) : match.end() + 12]
            found.append(f"nothing recomputes {match[0]} in '...{around}...'")
    return found


def _parts(statement: Statement) -> tuple[str, list[str]]:
    """A pattern with a group for each field, and what should stand there."""
    pattern, expected, values = "", [], list(statement.values)
    for literal, name, form, _ in Formatter().parse(" ".join(statement.text.split())):
        pattern += re.escape(literal)
        if name is not None:
            expected.append(format(values.pop(0), form or "").replace("-", "−"))
            pattern += rf"({DIGITS}|{'|'.join(SPELT)})"
    assert not values, f"{statement.text!r} has too few fields"
    return pattern, expected


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"\S", "_", match[0])
