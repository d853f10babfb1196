"""Which column of a long table holds the item, the annotator and the vote: by the user's word, or by names that are common."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.votes.formats.named import Options

ROLES: dict[str, tuple[str, ...]] = {
    "task": (
        *("task", "item", "instance", "example", "question", "unit", "sample", "document", "doc", "record"),
        *("id", "uid", "image", "filename", "_unit_id", "hit_id", "_input_hash", "task/class"),
        *(f"{what}_id" for what in ("task", "item", "instance", "example", "question", "unit", "sample", "document", "doc")),
        *(f"{what}_id" for what in ("record", "text", "image", "sentence", "comment", "tweet", "post", "pair", "utterance")),
    ),
    "worker": (
        *("worker", "annotator", "rater", "user", "labeler", "labeller", "participant", "coder", "judge", "performer"),
        *("worker_id", "annotator_id", "rater_id", "user_id", "labeler_id", "labeller_id", "participant_id", "coder_id"),
        *("judge_id", "performer_id", "_worker_id", "_annotator_id"),
    ),
    "label": (
        *("label", "answer", "vote", "annotation", "rating", "response", "class", "category", "judgment", "judgement", "choice"),
        *("offensiveness", "politeness"),  # POPQUORN's
    ),
}
"""The names by which a column is known, crowd-kit's first. Upper case, spaces, ``-`` and ``_`` inside do not matter."""

ROW_NUMBERS = ("", "index", "unnamed: 0")
"""Names of a first column that pandas wrote: the row's number, where no other column is the item."""


@dataclass(frozen=True)
class Export:
    """What a platform calls its columns.

    Args:
        name: of the platform.
        mark: a column that only this platform's exports have.
        roles: patterns of the columns for each role; a role that is left out is looked for in ``ROLES``.
        status: a column that says which answers were rejected by the requester. They are votes all the same, which is said.
    """

    name: str
    mark: str
    roles: dict[str, str]
    status: str | None = None


EXPORTS = (
    Export("MTurk", r"answer\..+", {"task": r"input\..+", "worker": "workerid", "label": r"answer\..+"}, "assignmentstatus"),
    Export(
        "Toloka",
        r"output:.+",
        {"task": r"input:.+", "worker": "assignment:worker_id", "label": r"output:.+"},
        "assignment:status",
    ),
    Export("Label Studio", r"annotation_id", {"task": "id", "worker": "annotator"}),
    # Of the two, answer says whether the annotator accepted or rejected what label says.
    Export("Prodigy", r"_(input|task)_hash", {"task": "_input_hash", "worker": "_annotator_id", "label": "label|accept|answer"}),
)


@dataclass(frozen=True)
class Columns:
    """The columns of a long table.

    Args:
        places: of task, worker (where there is one) and label; of status, where rejected answers are to be left out.
        note: how they were found, for a person to check.
    """

    places: dict[str, int]
    note: str


def known_as(name: str) -> str:
    """A name as it is compared: without upper case, spaces and signs inside; a first ``_`` stays, as in Appen's ``_id``.

    >>> known_as("WorkerId") == known_as("worker_id") == known_as("Worker ID"), known_as("_id")
    (True, '_id')
    """
    low = name.strip().lower()
    return "_" * low.startswith("_") + re.sub(r"[\s_-]", "", low)


KNOWN = {role: {known_as(name) for name in names} for role, names in ROLES.items()}


def find_columns(names: Sequence[str], options: Options, path: Path) -> Columns | None:
    """The columns of a long table; None when this is no long table.

    What the user named is taken. Then the columns of a platform's export; then crowd-kit's own names (task, worker, label); then
    a common name, which exactly one column may have.

    >>> find_columns(["label", "text", "instance_id", "user_id"], Options(), Path("votes.csv")).places
    {'task': 2, 'worker': 3, 'label': 0}
    >>> find_columns(["Input.url", "WorkerId", "Answer.label"], Options(), Path("votes.csv")).note
    "task = column 'Input.url', worker = column 'WorkerId', label = column 'Answer.label' (recognised as an export of MTurk)"
    """
    export = next((export for export in EXPORTS if _matching(export.mark, names)), None)
    candidates = {role: _candidates(role, names, options, export, path) for role in ROLES}
    several = [role for role, places in candidates.items() if len(places) > 1]
    if not candidates["task"] or not candidates["label"]:
        if candidates["task"] and candidates["worker"]:
            raise InputError(f"{path}: expected a column of votes; {_ask(names, candidates, options)}")
        return None
    if several:
        choices = "; ".join(f"the {role}: {' or '.join(repr(names[i]) for i in candidates[role])}?" for role in several)
        raise InputError(
            f"{path}: expected one column for each of task, worker and label; {choices} {_ask(names, candidates, options)}"
        )
    places = {role: found[0] for role, found in candidates.items() if found}
    note = ", ".join(f"{role} = column {names[place]!r}" for role, place in places.items())
    guessed = [role for role, place in places.items() if getattr(options, role) is None and names[place].lower() != role]
    if guessed:
        note += f" (recognised {f'as an export of {export.name}' if export else 'by common names'})"
    if unused := [name for place, name in enumerate(names) if place not in places.values() and name]:
        note += f"; not used: {', '.join(unused):.200}"
    status = _matching(export.status, names) if export and export.status else []
    option = options.wording.option("clean", "rejected")
    if "rejected" in options.clean:
        if not status:
            raise InputError(f"{path}: {option} needs a column of MTurk or Toloka that says so; the columns are {_listed(names)}")
        places["status"] = status[0]
    elif status:
        found = f"column {names[status[0]]!r} is not looked at ({option} leaves them out)"
        note += f"; rejected answers count as well, if there are any: {found}"
    return Columns(places, note)


def need_columns(names: Sequence[str], options: Options, path: Path) -> Columns:
    """As :func:`find_columns`, refusing a table without them."""
    columns = find_columns(names, options, path)
    if columns is None:
        raise InputError(
            f"{path}: expected a long table with the columns task, worker and label; {ask_for_columns(names, options, path)}"
        )
    return columns


def ask_for_columns(names: Sequence[str], options: Options, path: Path) -> str:
    """The columns of a table that was not understood, and the command that says what they are."""
    export = next((export for export in EXPORTS if _matching(export.mark, names)), None)
    return _ask(names, {role: _candidates(role, names, options, export, path) for role in ROLES}, options)


def _candidates(role: str, names: Sequence[str], options: Options, export: Export | None, path: Path) -> list[int]:
    wanted = getattr(options, role)
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"{path}: expected a column {wanted!r} ({options.wording.option(role)}); the columns are {_listed(names)}"
            )
        return [names.index(wanted)]
    if export and role in export.roles:
        if found := _matching(export.roles[role], names):
            return found
    elif found := [place for place, name in enumerate(names) if name.lower() == role]:
        return found
    return [place for place, name in enumerate(names) if known_as(name) in KNOWN[role]]


def _matching(pattern: str, names: Sequence[str]) -> list[int]:
    return [place for place, name in enumerate(names) if re.fullmatch(pattern, name.lower())]


def _ask(names: Sequence[str], candidates: dict[str, list[int]], options: Options) -> str:
    guess = {role: names[found[0]] if found else "COLUMN" for role, found in candidates.items()}
    return f"the columns are {_listed(names)}. This names them: {options.wording.propose(**guess)}"


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names))
    return listed if len(listed) <= 600 else f"{listed[:600]}..."
