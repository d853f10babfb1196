"""Docstrings as Markdown: a Griffe extension for the site's reference.

Our docstrings are plain text with doctests and a few roles (``:class:``, ``:math:``), which read well in an editor. Markdown
would take ``>>>`` for a quotation and ``[0, 1]`` for a link, so doctests become blocks of code, and roles become code.
"""

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|math):`~?([^`]+)`")
DOCTEST = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent)(?! *$).*)*", re.MULTILINE)
"""A doctest with its output: from a prompt to the next empty line."""


def as_markdown(docstring: str) -> str:
    r"""The docstring with fenced doctests and without roles.

    >>> as_markdown("See :class:`Votes`.\n\n>>> [0, 1]\n[0, 1]\n\nMore.")
    'See `Votes`.\n\n```pycon\n>>> [0, 1]\n[0, 1]\n```\n\nMore.'
    """
    fenced = DOCTEST.sub(lambda match: f"{match['indent']}```pycon\n{match[0]}\n{match['indent']}```", docstring)
    return ROLE.sub(r"`\1`", fenced)


class MarkdownDocstrings(Extension):
    """Changes every docstring once, when its object is read."""

    def on_instance(self, *, obj: Object, **kwargs: Any) -> None:
        """Called by Griffe for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
