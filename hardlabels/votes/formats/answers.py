"""``answers.json``: ``{task: {worker: label}}`` (peerannot's)."""

from pathlib import Path
from typing import Any

from hardlabels.votes.formats.document import label_text, need_dict, read_json
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.votewise import Ballot


def looks_like(document: Any) -> bool:
    """Whether the first item is an object of single labels.

    >>> looks_like({"0": {"7": 1}}), looks_like({"0": [[0.5, 0.5]]})
    (True, False)
    """
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and bool(first) and not any(isinstance(label, dict | list) for label in first.values())


def read(path: Path, options: Options) -> NamedVotes:
    """Votes from ``answers.json``, items in the order of the file."""
    document = need_dict(read_json(path), "an object {task: {worker: label}}", str(path))
    ballot = Ballot(str(path))
    for task, answers in document.items():
        where = f"{path}, task {task!r:.60}"
        ballot.item(task)
        for worker, label in need_dict(answers, "an object {worker: label} with at least one vote", where).items():
            ballot.vote(label_text(label, f"{where}, worker {worker!r:.60}", options), worker)
    return ballot.close("answers", options, ["items in the order of the file"])
