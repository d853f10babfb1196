r"""The documentation as data: its pages, found by glob, and the blocks of code in them.

>>> page = "Text.\n\n```bash\npip install x   # why\npython -m hardlabels.report study=main \\\n    tables=null\n```\n"
>>> blocks(page, "bash")
['pip install x   # why\npython -m hardlabels.report study=main \\\n    tables=null\n']
>>> commands(page)
[Command(module='hardlabels.report', words=('study=main', 'tables=null'))]
>>> commands("```bash\nhardlabels score a.csv votes.csv | head  # both spellings\n```\n")
[Command(module='hardlabels.score', words=('a.csv', 'votes.csv'))]
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path for pattern in ("*.md", "docs/**/*.md", "results/**/README.md") for path in ROOT.glob(pattern) if path.is_file()
)
PLACEHOLDERS = {
    "data=NAME": "data=popquorn",
    "method=runner_up": "method=sls",
    "method=runner_up,soft": "method=sls,soft",
    "data=coins": "data=synthetic_vectors",
    "model=linear": "model=mlp",
    "probe=confidence": "probe=dynamics",
}
"""What a page writes where the reader has to choose or has just written it, and a choice.

What the page on contributing writes is tried as it stands by ``tests/test_contributing.py``."""
OURS = re.compile(r"\s*(?:\w+=\S+ )*(?:python -m hardlabels\.|hardlabels )(\w+)(.*)$")


@dataclass(frozen=True)
class Command:
    """A line ``python -m MODULE WORDS`` (or ``hardlabels COMMAND WORDS``), as a shell would split it; comments are gone."""

    module: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([self.module, *self.words])


def name(page: Path) -> str:
    """The page's path in the repository, for the names of tests."""
    return str(page.relative_to(ROOT))


def blocks(markdown: str, language: str) -> list[str]:
    """The fenced blocks of one language, in order; indented ones (in a list) without their indentation."""
    found = re.finditer(rf"^( *)```{language}\n(.*?)^\1```", markdown, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{match[1]}", "", match[2], flags=re.MULTILINE) for match in found]


def commands(markdown: str) -> list[Command]:
    """Every command of ours in the blocks of shell, whatever variables are set before it."""
    found = []
    for line in "".join(blocks(markdown, "bash")).replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|\||;", line):
            if match := OURS.match(part):
                words = shlex.split(match[2].split(" > ")[0], comments=True)
                found.append(Command(f"hardlabels.{match[1]}", tuple(PLACEHOLDERS.get(word, word) for word in words)))
    return found
