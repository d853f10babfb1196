"""Results of an MTurk batch whose answer is not one column: ``Answer.animal.cat`` = true, or JSON in ``Answer.taskAnswers``.

A batch with one column of answers is a long table, whose columns are known to ``columns``.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.columns import ask_for_columns, find_columns
from hardlabels.votes.formats.document import label_text, parse
from hardlabels.votes.formats.long import REJECTED
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.text_tables import MISSING, TextTable, header_names
from hardlabels.votes.formats.votewise import Ballot

WHOLE = "answer.taskanswers"
GROUP = re.compile(r"answer\.(?P<question>[^.]+)\.(?P<answer>.+)")
WORDS = {"true": True, "false": False}


def looks_like(names: Sequence[str]) -> bool:
    """Whether the columns are such a batch's.

    >>> looks_like(["WorkerId", "Answer.animal.cat", "Answer.animal.dog"]), looks_like(["WorkerId", "Answer.category.label"])
    (True, False)
    """
    groups = [found["question"] for name in names if (found := GROUP.fullmatch(name.lower()))]
    return WHOLE in map(str.lower, names) or len(set(groups)) < len(groups)


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of a batch, items in the order of the file; ``label`` names the question, where there are several."""
    table = TextTable(path)
    names = header_names(table.header, path, "column")
    if not looks_like(names):
        raise InputError(f"{path}: expected columns such as 'Answer.animal.cat' or 'Answer.taskAnswers' of an MTurk batch")
    known = [name for name in names if not name.lower().startswith("answer.")]
    columns = find_columns([*known, "Answer.vote"], replace(options, label="Answer.vote"), path)
    if columns is None or "worker" not in columns.places:
        raise InputError(f"{path}: expected the item and the worker of every answer; {ask_for_columns(known, options, path)}")
    at = {role: names.index(known[place]) for role, place in columns.places.items() if role != "label"}
    rows = [row for block in table.blocks() for row in block]
    replies = [flatten(nested(names, row, f"{path}, answer {number}")) for number, row in enumerate(rows, start=1)]
    question = find_question(replies, path, options)
    ballot, several, rejected = Ballot(str(path)), 0, 0
    for number, (row, reply) in enumerate(zip(rows, replies, strict=True), start=1):
        where = f"{path}, answer {number}"
        if "status" in at and row[at["status"]].strip().lower() == REJECTED:
            rejected += 1
            continue
        if row[at["task"]].strip() in MISSING:
            raise InputError(f"{where}: expected an item in column {names[at['task']]!r}, found none")
        ballot.again(row[at["task"]])
        labels = reply.get(question) or [None]
        several += len(labels) > 1
        for label in labels:
            ballot.vote(label_text(label, where, options), row[at["worker"]].strip() or None)
    notes = [f"{columns.note.replace(', label = column ' + repr('Answer.vote'), '')}, answers to {question!r}"]
    notes += [f"{several:,} answers have several labels: each is one vote"] if several else []
    named = ballot.close("mturk", options, notes)
    if "rejected" in options.clean:
        named = replace(named, cleaned={"rejected": rejected, **named.cleaned})
    return replace(named, several=several > 0)


def nested(names: Sequence[str], row: Sequence[str], where: str) -> dict[str, Any]:
    """The answers of one line: question to answer, or to {answer: true or false}."""
    found: dict[str, Any] = {}
    for name, cell in zip(names, row, strict=True):
        if name.lower() == WHOLE:
            document = parse(cell, where)
            entries = document if isinstance(document, list) else [document]
            if not entries or not all(isinstance(entry, dict) for entry in entries):
                raise InputError(f"{where}: expected answers as a JSON object in {name!r}; found {cell!r:.60}")
            for entry in entries:
                found |= entry
        elif match := GROUP.fullmatch(name.lower()):
            start = len("answer.") + len(match["question"])
            question, answer = name[len("answer.") : start], name[start + 1 :]
            found.setdefault(question, {})[answer] = WORDS.get(cell.strip().lower(), cell)
        elif name.lower().startswith("answer."):
            found[name[len("answer.") :]] = cell
    return found


def flatten(answers: dict[str, Any]) -> dict[str, list[Any]]:
    """Question to its labels: those marked as true, or the only one.

    >>> flatten({"animal": {"cat": True, "dog": False}, "category": {"label": "Positive"}, "stars": 4})
    {'animal': ['cat'], 'category': ['Positive'], 'stars': [4]}
    """
    found: dict[str, list[Any]] = {}
    for question, answer in answers.items():
        if not isinstance(answer, dict):
            found[question] = [answer]
        elif all(isinstance(value, bool) for value in answer.values()):
            found[question] = [label for label, marked in answer.items() if marked]
        elif set(answer) == {"label"}:
            found[question] = [answer["label"]]
        else:
            found |= {f"{question}.{key}": [value] for key, value in answer.items()}
    return found


def find_question(replies: Sequence[dict[str, list[Any]]], path: Path, options: Options) -> str:
    """The question whose answers are the votes: the one that the user names, or the only one."""
    names = [*dict.fromkeys(question for reply in replies for question in reply)]
    wanted = None if options.label is None else re.sub(r"(?i)^answer\.", "", options.label)
    if wanted in names or (wanted is None and len(names) == 1):
        return wanted or names[0]
    listed = ", ".join(map(repr, names)) or "none"
    option = options.wording.option("label", names[0]) if names else options.wording.option("label")
    ask = f"found {listed:.300}" if wanted else f"{listed:.300}? {option} says which"
    raise InputError(f"{path}: expected one question{f' {wanted!r}' if wanted else ''} whose answers are the votes; {ask}")
