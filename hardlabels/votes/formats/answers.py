"""``answers.json``: ``{task: {worker: label}}`` (peerannot's), or ``{task: [label, ...]}`` where it is not known who voted."""

from pathlib import Path
from typing import Any

from hardlabels.votes.formats.document import label_text, need_dict, read_json
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
