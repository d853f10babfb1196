"""``answers.json``: ``{task: {worker: label}}`` (peerannot's), or ``{task: [label, ...]}`` where it is not known who voted."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.columns import KNOWN, known_as
from hardlabels.votes.formats.document import label_text, need_dict, read_json
from hardlabels.votes.formats.json_lines import ANNOTATOR
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.votewise import Ballot


def looks_like(document: Any) -> bool:
    """Whether the first item is an object of single labels, or a list of words: numbers may be counts or probabilities.

    >>> looks_like({"0": {"7": 1}}), looks_like({"0": ["yes", "no"]}), looks_like({"0": [[0.5, 0.5]]}), looks_like({"0": [3, 2]})
    (True, True, False, False)
    """
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    if isinstance(first, list):
        return bool(first) and all(isinstance(label, str) for label in first)
    return isinstance(first, dict) and bool(first) and not any(isinstance(label, dict | list) for label in first.values())


def refuse_other_objects(document: dict[str, Any], path: Path, options: Options) -> None:
    """Refuse objects of objects that are something else: a table of columns, or counts by class.

    Where nobody said that these are answers, workers with names of people whose labels are all numbers may as well be classes and
    their counts. Numbers, names such as ``worker_7``, and all that ``classes`` does not name are workers.
    """
    first = next(iter(document.values()))
    lines = (
        'JSON lines are read: one object per line, {"id": ..., "annotator": ..., "label": ...} or {"id": ..., "counts": {...}}'
    )
    for keys in (document, first):
        if is_table(keys):
            found = f"a table with the columns {', '.join(map(repr, keys)):.200}"
            raise InputError(f"{path}: expected answers {{task: {{worker: label}}}}; found {found}. {lines}")
    names = dict.fromkeys(name for answers in document.values() if isinstance(answers, dict) for name in answers)
    labels = [label for answers in document.values() if isinstance(answers, dict) for label in answers.values()]
    are_numbers = all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    are_classes = options.classes is None or names.keys() <= set(options.classes)
    are_workers = len(names) < 2 or all(name.strip().isdecimal() or ANNOTATOR.fullmatch(name.strip()) for name in names)
    if are_numbers and are_classes and not are_workers:
        found = f"{', '.join(map(repr, names)):.100} may be classes, and the numbers their counts"
        told = options.wording.option("format", "answers")
        raise InputError(f"{path}: expected answers {{task: {{worker: label}}}}; {found}. If they are workers, {told}. {lines}")


def is_table(keys: Collection[str]) -> bool:
    """Whether these are the names of a table's columns, as pandas writes one, and not ids of items or workers.

    >>> is_table(["task", "worker", "label"]), is_table(["a", "b"])
    (True, False)
    """
    known = {known_as(key) for key in keys}
    return bool(known & KNOWN["label"]) and bool(known & (KNOWN["task"] | KNOWN["worker"]))


def read(path: Path, options: Options) -> NamedVotes:
    """Votes from ``answers.json``, items in the order of the file."""
    document = need_dict(read_json(path), "an object {task: {worker: label}}", str(path))
    ballot = Ballot(str(path))
    for task, answers in document.items():
        where = f"{path}, task {task!r:.60}"
        ballot.item(task)
        if isinstance(answers, list) and answers:
            for place, label in enumerate(answers):
                ballot.vote(label_text(label, f"{where}, vote {place}", options), None)
            continue
        for worker, label in need_dict(answers, "an object {worker: label} with at least one vote", where).items():
            ballot.vote(label_text(label, f"{where}, worker {worker!r:.60}", options), worker)
    return ballot.close("answers", options, ["items in the order of the file"])
