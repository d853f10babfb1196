"""Links from a page to files outside of ``docs`` (a record's table, a figure) work on the site as they do in a repository.

A page writes the relative path that works where the repository is browsed, such as ``../../results/text/README.md``. Each file
that is linked this way joins the site as ``repository/<its path>``, and the link is rewritten to lead there.
"""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)(?=[)#])")
PREFIX = "repository/"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every file of the repository that a page links to, and those that the added pages link to."""
    root = Path(config.config_file_path).parent
    waiting = [file for file in files.documentation_pages() if file.abs_src_path]
    while waiting:
        file = waiting.pop()
        for target in _outside(file.content_string, file.src_uri):
            source = root / target
            if source.is_file() and files.get_file_from_path(PREFIX + target) is None:
                added = File.generated(config, PREFIX + target, abs_src_path=str(source))
                files.append(added)
                if source.suffix == ".md":
                    waiting.append(added)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page that lead out of ``docs``."""

    def rewrite(match: re.Match[str]) -> str:
        target = _in_repository(match[1], page.file.src_uri)
        path = target.removeprefix("docs/") if target.startswith("docs/") else PREFIX + target
        return os.path.relpath(path, PurePosixPath(page.file.src_uri).parent)

    return LINK.sub(rewrite, markdown)


def _outside(markdown: str, uri: str) -> list[str]:
    """The paths in the repository that a page links to and that are not below ``docs``."""
    found = (_in_repository(link, uri) for link in LINK.findall(markdown))
    return [path for path in found if not path.startswith("docs/")]


def _in_repository(link: str, uri: str) -> str:
    """Where a page's relative link leads, as a path in the repository.

    >>> _in_repository("../methods.md", "results/pocket.md")
    'docs/methods.md'
    >>> _in_repository("report/table_2.md", "repository/results/pocket/README.md")
    'results/pocket/report/table_2.md'
    """
    page = uri.removeprefix(PREFIX) if uri.startswith(PREFIX) else f"docs/{uri}"
    return os.path.normpath(PurePosixPath(page).parent / link)
