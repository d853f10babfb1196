"""Exports of Argilla 2 (``records.to_datasets()``): a record per row, and for each question what was answered, by whom, and how.

The question ``mood`` has the columns ``mood.responses``, ``mood.responses.users`` and ``mood.responses.status``, each with a list
per record. A response that is a draft, or was discarded, keeps its answer there; only those that were submitted are votes.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.columns import Columns
from hardlabels.votes.formats.named import Options

RESPONSES, USERS, STATUS, RECORD = ".responses", ".responses.users", ".responses.status", "id"
SUBMITTED = "submitted"


def find_question(names: Sequence[str], lists: Collection[int], options: Options, path: Path) -> Columns | None:
    """The columns of the question whose answers are the votes; None where this is no such export.

    Args:
        names: of the columns.
        lists: the places of those that hold lists.
        options: ``label`` names the question, where there are several; ``task`` another field as the item's id.
        path: for messages.

    >>> names = ["id", "text", "mood.responses", "mood.responses.users", "mood.responses.status"]
    >>> find_question(names, {2, 3, 4}, Options(), Path("records.parquet")).places
    {'task': 0, 'worker': 3, 'label': 2, 'status': 4}
    """
    held = {names[place]: place for place in lists}
    questions = [name.removesuffix(STATUS) for name in held if name.endswith(STATUS)]
    questions = [name for name in questions if {name + RESPONSES, name + USERS} <= held.keys()]
    wanted = None if options.label is None else options.label.removesuffix(RESPONSES)
    own = {name + end for name in questions for end in (RESPONSES, USERS)}
    if not questions or ({options.label, options.worker} & {*names}) - own:  # the user names other columns
        return None
    if wanted not in questions and (wanted is not None or len(questions) > 1):
        listed, option = ", ".join(map(repr, questions)), options.wording.option("label", questions[0])
        raise InputError(f"{path}: expected one question of Argilla whose answers are the votes; {listed}? {option} says which")
    task, question = options.task or RECORD, wanted or questions[0]
    if task not in names:
        raise InputError(f"{path}: expected a column {task!r} ({options.wording.option('task')}) with the id of each record")
    roles = {"task": task, "worker": question + USERS, "label": question + RESPONSES, "status": question + STATUS}
    places = {role: names.index(name) for role, name in roles.items()}
    return Columns(places, f"recognised as an export of Argilla: answers to {question!r}, item = column {task!r}")


def submitted(answers: Sequence[Any], users: Sequence[Any], status: Sequence[Any], where: str) -> tuple[list[Any], list[Any]]:
    """The labels and users of the responses that were submitted, where an answer may be several labels.

    >>> submitted(["good", ["calm", "sad"], "bad"], ["u1", "u2", "u3"], ["submitted", "submitted", "discarded"], "row 0")
    (['good', 'calm', 'sad'], ['u1', 'u2', 'u2'])
    """
    if not len(answers) == len(users) == len(status):
        found = f"{len(answers)}, {len(users)} and {len(status)}"
        raise InputError(f"{where}: expected as many responses as users and statuses; found {found}")
    given = [(answer, user) for answer, user, how in zip(answers, users, status, strict=True) if how == SUBMITTED]
    votes = [(label, user) for answer, user in given for label in (answer if isinstance(answer, list) else [answer])]
    return [label for label, _ in votes], [user for _, user in votes]
