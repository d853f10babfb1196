"""Exports of Label Studio: ``JSON`` (a task with its annotations) and ``JSON_MIN`` (one object an annotation).

Its CSV and TSV exports are long tables, whose columns are known to ``columns``.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.columns import need_columns
from hardlabels.votes.formats.document import label_text, need_dict, read_json
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.votewise import Ballot

ANSWERS = ("choices", "rating", "number", "taxonomy", "pairwise")
"""Kinds of controls whose answer is a label of the whole item. Boxes, spans and free texts are not."""
REGION = {"x", "y", "start", "end", "points"}  # of an answer about a part of the item


def looks_like(document: Any) -> bool:
    """Whether a document is such an export, by its first entry.

    >>> looks_like([{"id": 1, "data": {"text": "hi"}, "annotations": []}]), looks_like([{"annotation_id": 1}]), looks_like([1])
    (True, True, False)
    """
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and ("annotation_id" in first or ("data" in first and "annotations" in first))


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of an export, items in the order of the file.

    An item's id is that of its task, or the field of its data that ``task`` names. An annotator who chose several labels has a
    vote for each. Annotations that were skipped (cancelled) and tasks without annotations are no votes; their number is said.
    """
    document = read_json(path)
    if not looks_like(document):
        raise InputError(f"{path}: expected an export of Label Studio, a list of tasks with 'data' and 'annotations'")
    return read_min(document, path, options) if "annotation_id" in document[0] else read_tasks(document, path, options)


def read_tasks(document: list[Any], path: Path, options: Options) -> NamedVotes:
    """Of the export called JSON."""
    ballot, control = Ballot(str(path)), find_control(document, path, options)
    cancelled = unanswered = several = truths = 0
    for number, entry in enumerate(document):
        where = f"{path}, task {number}"
        task = need_dict(entry, "an object with 'id', 'data' and 'annotations'", where)
        ballot.item(_id(task, where, options))
        unanswered += not task.get("annotations")
        for annotation in annotations_of(task, where):
            if annotation.get("was_cancelled"):
                cancelled += 1
                continue
            labels = [label for result in results_of(annotation, where) for label in answers(result, control, where)]
            truths += bool(annotation.get("ground_truth"))
            several += len(labels) > 1
            for label in labels or [None]:
                ballot.vote(label_text(label, f"{where}, annotation {annotation.get('id')}", options), _who(annotation))
    notes = [f"answers to {control!r}; predictions of models are no votes"]
    for found, what in (
        (cancelled, "skipped annotations are no votes"),
        (unanswered, "tasks have no annotations and are left out"),
        (several, "annotations have several labels: each is one vote"),
        (truths, "annotations are marked as ground truth and count like others"),
    ):
        notes += [f"{found:,} {what}"] if found else []
    fields = (
        [] if options.task is not None else [name for name, value in _data(document[0]).items() if isinstance(value, str | int)]
    )
    return replace(ballot.close("label_studio", options, notes), several=several > 0, other_ids=tuple(fields))


def annotations_of(task: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The annotations of a task."""
    found = task.get("annotations", [])
    if not isinstance(found, list) or not all(isinstance(annotation, dict) for annotation in found):
        raise InputError(f"{where}: expected a list of objects in 'annotations'; found {found!r:.60}")
    return found


def results_of(annotation: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """What an annotator entered, control by control."""
    found = annotation.get("result", [])
    if not isinstance(found, list) or not all(isinstance(result, dict) for result in found):
        raise InputError(f"{where}: expected a list of objects in 'result'; found {found!r:.60}")
    return found


def find_control(document: list[Any], path: Path, options: Options) -> str:
    """The control whose answers are the votes: the one that the user names, or the only one of the export."""
    names: dict[str, None] = {}
    others: dict[str, None] = {}
    for number, task in enumerate(document):
        where = f"{path}, task {number}"
        for annotation in annotations_of(task, where) if isinstance(task, dict) else []:
            for result in results_of(annotation, where):
                (names if result.get("type") in ANSWERS else others)[str(result.get("from_name"))] = None
    if options.label in names or (options.label is None and len(names) == 1):
        return options.label or next(iter(names))
    if not names:
        kinds = f"; found {', '.join(map(repr, others)):.100}" if others else ""
        raise InputError(f"{path}: expected answers of a kind {', '.join(ANSWERS)}{kinds}")
    option = options.wording.option("label", options.label or next(iter(names)))
    listed = ", ".join(map(repr, names))
    said = f"found {listed:.300}" if options.label else f"{listed:.300}? {option} says which"
    raise InputError(f"{path}: expected one control{f' {options.label!r}' if options.label else ''} for the votes; {said}")


def answers(result: dict[str, Any], control: str, where: str) -> Iterator[Any]:
    """The labels of one result of a control; nothing of other controls.

    >>> choice = {"from_name": "mood", "type": "choices", "value": {"choices": ["good", "calm"]}}
    >>> list(answers(choice, "mood", "task 0")), list(answers(choice, "size", "task 0"))
    (['good', 'calm'], [])
    >>> list(answers({"from_name": "stars", "type": "rating", "value": {"rating": 4}}, "stars", "task 0"))
    [4]
    """
    if str(result.get("from_name")) != control:
        return
    kind, value = result.get("type"), need_dict(result.get("value"), "an object in 'value'", where)
    if REGION & value.keys():
        raise InputError(f"{where}: expected an answer about the whole item; found one about a part of it, {control!r}")
    found = value.get("selected" if kind == "pairwise" else str(kind))
    for label in found if isinstance(found, list) else [found]:
        yield " / ".join(map(str, label)) if kind == "taxonomy" and isinstance(label, list) else label


def _id(task: dict[str, Any], where: str, options: Options) -> str:
    data = _data(task)
    value = task.get("id") if options.task is None else data.get(options.task)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        field = "an 'id'" if options.task is None else f"a field {options.task!r} in 'data' ({options.wording.option('task')})"
        raise InputError(f"{where}: expected {field}; the data has {', '.join(map(repr, data)) or 'none':.200}")
    return str(value)


def _data(task: dict[str, Any]) -> dict[str, Any]:
    """What was annotated, by name of its field."""
    found = task.get("data")
    return found if isinstance(found, dict) else {}


def _who(annotation: dict[str, Any]) -> str | None:
    """The annotator: a number, or an object with an email or a number."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return None if who in (None, "") else str(who)


def read_min(document: list[Any], path: Path, options: Options) -> NamedVotes:
    """Of the export called JSON_MIN: the fields are found as the columns of a long table are."""
    fields = [*dict.fromkeys(name for entry in document if isinstance(entry, dict) for name in entry)]
    columns = need_columns(fields, options, path)
    task, label = (fields[columns.places[role]] for role in ("task", "label"))
    worker = fields[columns.places["worker"]] if "worker" in columns.places else None
    ballot, several = Ballot(str(path)), 0
    for number, entry in enumerate(document):
        where = f"{path}, annotation {number}"
        annotation = need_dict(entry, "an object with an id, an annotator and an answer", where)
        name = annotation.get(task)
        if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
            raise InputError(f"{where}: expected an id in {task!r}; found {name!r:.60}")
        ballot.again(str(name))
        found = annotation.get(label)
        found = found.get("choices") if isinstance(found, dict) else found
        labels = found if isinstance(found, list) and found else [found]
        several += len(labels) > 1
        who = annotation.get(worker) if worker else None
        for one in labels:
            ballot.vote(label_text(one, where, options), None if who in (None, "") else str(who))
    notes = [columns.note] + ([f"{several:,} annotations have several labels: each is one vote"] if several else [])
    return replace(ballot.close("label_studio", options, notes), several=several > 0)
