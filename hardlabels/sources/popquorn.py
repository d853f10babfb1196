"""POPQUORN, offensiveness: 5 to 10 votes on each of 1,500 comments by a sample of the US population (Pei and Jurgens 2023)."""

import os
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.sources.download import data_root
from hardlabels.sources.source import Source
from hardlabels.sources.texts import SHOWN, find, is_text, refuse, text_source
from hardlabels.votes.formats import Options, long
from hardlabels.votes.formats.text_tables import TextTable, header_names

FILE, MD5 = "popquorn/offensiveness/raw_data.csv", "d6a3c2567be34bac097ddb500b820289"
# The authors' repository, pinned to a commit.
URL = (
    "https://raw.githubusercontent.com/Jiaxin-Pei/Potato-Prolific-Dataset/"
    "c329119e878037654f6aa59b319aae6e996585bb/dataset/offensiveness"
)
GET = "dataset/offensiveness/raw_data.csv of https://github.com/Jiaxin-Pei/Potato-Prolific-Dataset"

ITEM, ANNOTATOR, TEXT, VOTE = COLUMNS = ("instance_id", "user_id", "text", "offensiveness")
SCALE = ("1", "2", "3", "4", "5")  # from not offensive at all to very offensive


def popquorn(
    root: str | os.PathLike[str] | None = None, *, name: str = "popquorn", url: str = URL, timeout: float = 30.0
) -> Source:
    """1,500 comments, (N, 1), with 13,036 votes on how offensive they are, 1 to 5, by 262 annotators.

    The file has a line per vote, with the text on each. Items come in order of their id. Nobody voted twice on a text; a file in
    which somebody did is refused.

    Args:
        root: the folder of the data; None is the variable ``HARDLABELS_DATA``, else the user's cache folder. What is not there
            is downloaded to it.
        name: the name of the data set.
        url: of the folder that serves ``raw_data.csv`` (3 MB); the download is held to its md5.
        timeout: seconds without an answer after which the address has failed.

    Raises:
        InputError: nothing found and nothing downloaded, or a line that cannot be.
    """
    (path,) = find(data_root(root), {FILE: MD5}, url=url, get=GET, timeout=timeout)
    table = long.read(path, Options(task=ITEM, worker=ANNOTATOR, label=VOTE, classes=SCALE))
    texts = read_texts(path)
    pieces = [(texts[item],) for item in table.items]
    return text_source(name, pieces, table.votes, table.class_names, ids=table.items, ordered=True)


def read_texts(path: Path) -> dict[str, str]:
    """The text of every item, by id: the same on all of its lines, of which each is another annotator's."""
    table = TextTable(path)
    names = header_names(table.header, path, "column")
    if TEXT not in names:
        raise InputError(f"{path}: expected a column {TEXT!r}; the columns are {', '.join(map(repr, names)):.300}")
    places = [names.index(column) for column in (ITEM, ANNOTATOR, TEXT)]
    texts: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    problems: list[str] = []
    row = 0  # the header
    for block in table.blocks():
        for cells in block:
            row += 1
            item, annotator, text = (cells[place].strip() for place in places)
            wrong = ""
            if not is_text(text):
                wrong = f"(item {item:.60}) has no text"
            elif texts.setdefault(item, text) != text:
                wrong = f"(item {item:.60}) has another text than the lines before"
            elif (item, annotator) in seen:
                wrong = f"(item {item:.60}) is a second vote of annotator {annotator:.60}"
            seen.add((item, annotator))
            if wrong:  # finding a line means reading the file again: only for those that are shown
                problems.append(f"line {table.line(row)} {wrong}" if len(problems) < SHOWN else wrong)
    refuse(path, "the text of the item on each of its lines, and one vote an annotator", problems)
    return texts
