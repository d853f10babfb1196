"""Learning With Disagreements, SemEval-2023 task 11 and its 2025 edition: ``{id: {"annotations", "annotators", ...}}``.

In 2023 both fields are lists with commas; in 2025 ``annotations`` maps each annotator to a label, or to several with commas.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.class_order import number_of
from hardlabels.votes.formats.document import label_text, need_dict, read_json
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.votewise import Ballot

SCALES = {
    "abusivness detection": ("-3", "-2", "-1", "0", "1"),
    "paraphrase detection": tuple(str(step) for step in range(-5, 6)),
    "sarcasm detection": tuple(str(step) for step in range(1, 7)),
}
"""Tasks whose votes are on an ordered scale: ConvAbuse (whose soft labels are of two classes), Paraphrase and CSC of 2025."""


def looks_like(document: Any) -> bool:
    """Whether the first item has annotations.

    >>> looks_like({"1": {"annotations": "0,1", "annotators": "Ann1,Ann2"}})
    True
    """
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and "annotations" in first


def pairs(item: dict[str, Any], where: str, options: Options) -> Iterator[tuple[str, str]]:
    """(annotator, label) of every vote on an item; an annotator who gave several labels has a vote for each.

    >>> list(pairs({"annotations": "0,1", "annotators": "Ann1,Ann2"}, "x", Options()))
    [('Ann1', '0'), ('Ann2', '1')]
    >>> list(pairs({"annotations": {"Ann1": "neutral,entailment"}, "annotators": "Ann1"}, "x", Options()))
    [('Ann1', 'neutral'), ('Ann1', 'entailment')]
    """
    given, names = item.get("annotations"), item.get("annotators")
    if not isinstance(names, str) or not isinstance(given, str | dict) or not given or not names:
        raise InputError(f"{where}: expected 'annotations' and 'annotators' with at least one vote (a test set without them?)")
    annotators = [name.strip() for name in names.split(",")]
    labels = [label_text(label, where, options) for label in given.split(",")] if isinstance(given, str) else None
    if labels is not None:
        if len(labels) != len(annotators):
            raise InputError(f"{where}: expected a vote an annotator; found {len(labels)} votes of {len(annotators)} annotators")
        yield from zip(annotators, labels, strict=True)
        return
    if not isinstance(given, dict) or set(given) != set(annotators):  # who gave two labels may be listed twice
        raise InputError(f"{where}: expected annotations by {names!r:.60}; found some by {','.join(given)!r:.60}")
    for annotator, several in given.items():
        for label in label_text(several, where, options).split(","):
            yield annotator, label_text(label, where, options)


def read(path: Path, options: Options) -> NamedVotes:
    """Votes of a LeWiDi set, items in the order of the file. The classes are those of its votes and of its soft labels."""
    document = need_dict(read_json(path), "an object {id: {annotations, annotators}}", str(path))
    ballot = Ballot(str(path))
    classes: dict[str, None] = {}
    several, ordered, multilabel = 0, False, False
    for key, entry in document.items():
        where = f"{path}, item {key!r:.60}"
        item = need_dict(entry, "an object with 'annotations' and 'annotators'", where)
        ballot.item(key)
        votes = list(pairs(item, where, options))
        for annotator, label in votes:
            ballot.vote(label, annotator)
        several += len(votes) > len({annotator for annotator, _ in votes})
        soft = item.get("soft_label")
        classes.update(dict.fromkeys(soft if isinstance(soft, dict) else ()))
        multilabel |= isinstance(soft, dict) and any(isinstance(share, dict) for share in soft.values())
        scale = SCALES.get(str(item.get("annotation task")), ())
        classes.update(dict.fromkeys(scale))
        ordered |= bool(scale)
    notes = ["items in the order of the file"]
    if several:
        notes.append(f"{several} items have an annotator with several votes: each is one vote")
    named = ballot.close("lewidi", options if options.classes else _with(classes, ballot, options), notes)
    return replace(named, ordered=ordered, several=multilabel)


def _with(classes: dict[str, None], ballot: Ballot, options: Options) -> Options:
    """All classes in order: those that only the soft labels name have no vote."""
    every = [*dict.fromkeys([*classes, *ballot.codes["label"]])]
    numbers = [number_of(name) for name in every]
    if all(number is not None and number == int(number) for number in numbers):
        whole = [int(number) for number in numbers if number is not None]
        every = [str(value) for value in range(min(whole), max(whole) + 1)] if max(whole) - min(whole) < 100 else every
        return replace(options, classes=tuple(every))
    return replace(options, classes=tuple(sorted(every)))
