"""Exports of Prodigy (``prodigy db-out``): JSON lines, one per annotator and item, with ``answer``: accept, reject or ignore.

Two interfaces give votes. ``choice``: the ids of the chosen options are in ``accept``. ``classification``: the line asks about
one ``label``, and the answer accepts or rejects it.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.document import label_text, need_dict, read_lines
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.votewise import Ballot

HASHES = ("_input_hash", "_task_hash")
VERDICTS = ("accept", "reject", "ignore")
NO_IDS = ("answer", "label", "text", "html")


def looks_like(fields: Sequence[str]) -> bool:
    """Whether a first line has these fields.

    >>> looks_like(["text", "_input_hash", "answer"]), looks_like(["uid", "label_counter"])
    (True, False)
    """
    return bool(set(HASHES) & set(fields))


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of an export, items in the order in which they first come.

    An item is known by its ``_input_hash``, or by the field that ``task`` names; an annotator by ``_annotator_id``, else by
    ``_session_id``. Ignored lines, and choices that were rejected as a whole, are no votes; their number is said.
    """
    lines = [
        (f"{path}, line {number}", need_dict(line, "an object", f"{path}, line {number}")) for number, line in read_lines(path)
    ]
    if not lines:
        raise InputError(f"{path}: expected at least one line, got an empty file")
    asked = [line for _, line in lines if "accept" not in line and "label" in line]
    if asked and len(asked) < len(lines):
        raise InputError(f"{path}: expected lines with 'accept' (choices) or lines with 'label' (one question), found both")
    named = read_questions(lines, path, options) if asked else read_choices(lines, path, options)
    return named if options.task is not None else replace(named, other_ids=other_ids(lines[0][1]))


def other_ids(line: dict[str, Any]) -> tuple[str, ...]:
    """The fields, of a line or of its ``meta``, that may hold an id of the user's own.

    >>> other_ids({"text": "It rains.", "_input_hash": 5, "answer": "accept", "meta": {"doc": "d7"}, "image": "a.png"})
    ('doc', 'image')
    """
    meta = line.get("meta")
    fields = {**(meta if isinstance(meta, dict) else {}), **line}
    own = (name for name, value in fields.items() if not name.startswith("_") and isinstance(value, str | int))
    return tuple(name for name in own if name not in NO_IDS)


def read_choices(lines: Sequence[tuple[str, dict[str, Any]]], path: Path, options: Options) -> NamedVotes:
    """Of the interface ``choice``: every accepted option is one vote. The classes are the options, in their order."""
    ballot, counts = Ballot(str(path)), dict.fromkeys(("ignore", "reject", "several"), 0)
    classes: dict[str, None] = {}
    for where, line in lines:
        verdict, chosen = _verdict(line, where), line.get("accept", [])
        if not isinstance(chosen, list):
            raise InputError(f"{where}: expected the chosen options as a list in 'accept'; found {chosen!r:.60}")
        classes.update(dict.fromkeys(_options(line, where)))
        if verdict != "accept":
            counts[verdict] += 1
            continue
        counts["several"] += len(chosen) > 1
        ballot.again(_id(line, where, options))
        for label in chosen or [None]:
            ballot.vote(label_text(label, where, options), _who(line))
    if options.classes is None and classes:
        options = replace(options, classes=(*classes, *(name for name in ballot.codes["label"] if name not in classes)))
    notes = ["chosen options, in 'accept'", *_notes(counts)]
    return replace(ballot.close("prodigy", options, notes), several=counts["several"] > 0)


def read_questions(lines: Sequence[tuple[str, dict[str, Any]]], path: Path, options: Options) -> NamedVotes:
    """Of the interface ``classification``: one label that is accepted or rejected; or several, each of them accepted."""
    labels = dict.fromkeys(label_text(line.get("label"), where, Options()) for where, line in lines)
    ballot, counts = Ballot(str(path)), {"ignore": 0}
    for where, line in lines:
        verdict, label = _verdict(line, where), label_text(line.get("label"), where, Options())
        if verdict == "ignore":
            counts["ignore"] += 1
            continue
        if verdict == "reject" and len(labels) > 1:
            expected = f"one label that is accepted or rejected, or only accepted ones of {', '.join(map(repr, labels)):.200}"
            raise InputError(f"{where}: expected {expected}; {label!r:.60} is rejected, which is a vote for none of them")
        ballot.again(_id(line, where, options))
        ballot.vote(label if verdict == "accept" else f"not {label}", _who(line))
    if options.classes is None and len(labels) == 1:
        name = next(iter(labels))
        options = replace(options, classes=(f"not {name}", name))
    return ballot.close("prodigy", options, [f"answers to {', '.join(map(repr, labels)):.200}", *_notes(counts)])


def _notes(counts: dict[str, int]) -> list[str]:
    words = {
        "ignore": "ignored lines are no votes",
        "reject": "lines whose choice was rejected are no votes",
        "several": "lines have several choices: each is one vote",
    }
    return [f"{number:,} {words[name]}" for name, number in counts.items() if number]


def _verdict(line: dict[str, Any], where: str) -> str:
    if line.get("answer") not in VERDICTS:
        raise InputError(f"{where}: expected 'answer' to be {', '.join(VERDICTS)}; found {line.get('answer')!r:.60}")
    return line["answer"]


def _options(line: dict[str, Any], where: str) -> list[str]:
    found = line.get("options", [])
    if not isinstance(found, list) or not all(isinstance(option, dict) for option in found):
        raise InputError(f"{where}: expected a list of objects in 'options'; found {found!r:.60}")
    return [label_text(option.get("id"), where, Options()) for option in found]


def _id(line: dict[str, Any], where: str, options: Options) -> str:
    meta = line.get("meta") if isinstance(line.get("meta"), dict) else {}
    field = options.task or "_input_hash"
    value = line.get(field, (meta or {}).get(field))
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        said = f" ({options.wording.option('task')})" if options.task else ""
        raise InputError(f"{where}: expected the item's id in {field!r}{said}; the fields are {', '.join(map(repr, line)):.200}")
    return str(value)


def _who(line: dict[str, Any]) -> str | None:
    return next((str(line[field]) for field in ("_annotator_id", "_session_id") if line.get(field)), None)
