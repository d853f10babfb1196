"""Predictions and votes of the same items, row by row and column by column."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from hardlabels.errors import InputError
from hardlabels.scoring.classes import match_classes, order_classes
from hardlabels.scoring.log_q import to_log_q
from hardlabels.scoring.numbers import out_of_order
from hardlabels.scoring.predictions import Predictions
from hardlabels.votes import Votes
from hardlabels.votes.formats import NamedVotes
from hardlabels.votes.formats.cleaning import last_part
from hardlabels.votes.names import plain_number

SHOWN = 5  # ids in a message
IGNORE = "--extra ignore leaves items without votes out"


@dataclass(frozen=True)
class Joined:
    """Predictions in the order of the votes' items and classes, and what a person should check about that.

    Args:
        path: the file of the predictions.
        places: (n,) the items among those of the votes, going up.
        log_q: (n, C) log-probabilities, the classes in the order of the votes.
        understood: ``logits`` or ``probabilities``.
        items_by: ``id``, ``index`` or ``row``.
        items: how rows were matched with items, in words.
        classes_by: ``name`` or ``order``.
        classes: how columns were matched with classes, in words.
        left_out: names of the columns that were not used.
        p: (n, C) the annotators' distribution that a run's own file holds, in the same order.
        shares: (n, C) shares of the annotators who give each label, of a submission to LeWiDi, in the same order.
    """

    path: Path
    places: np.ndarray
    log_q: np.ndarray
    understood: str
    items_by: str
    items: str
    classes_by: str
    classes: str
    left_out: tuple[str, ...]
    p: np.ndarray | None
    shares: np.ndarray | None = None


def join(predictions: Predictions, votes: NamedVotes, where: str, kind: str | None = None) -> Joined:
    """Match the columns with the classes and the rows with the items: by name and by id where both files have them.

    Args:
        predictions: in any order, of all items or some.
        votes: with the names that their file gave them.
        where: the name of that file, for messages.
        kind: ``logits`` or ``probabilities``; None decides by content.

    Raises:
        InputError: the two are not of the same classes or items, or it cannot be told.
    """
    names, both = predictions.names, (str(predictions.path), where)
    if names is not None and votes.has_class_names:
        classes_by, (columns, classes) = "name", match_classes(names, votes.class_names, both)
        _check_shape(predictions, votes, where)
    else:
        _check_shape(predictions, votes, where)
        classes_by, columns = "order", list(range(votes.votes.num_classes))
        classes = order_classes(names, votes.class_names if votes.has_class_names else None, both)
    kind = "logits" if predictions.logits else kind
    log_q, understood = to_log_q(predictions.table[:, columns], kind, str(predictions.path))
    places, items_by, items = match_items(predictions, votes, where)
    if predictions.p is not None:
        items += _note_about_p(predictions.p[:, columns], votes.votes.take(places).p)
    order = np.argsort(places)
    return Joined(
        path=predictions.path,
        places=places[order],
        log_q=log_q[order],
        understood=understood,
        items_by=items_by,
        items=items,
        classes_by=classes_by,
        classes=classes,
        left_out=tuple(predictions.texts),
        p=None if predictions.p is None else predictions.p[:, columns][order],
        shares=None if predictions.shares is None else predictions.shares[:, columns][order],
    )


def _check_shape(predictions: Predictions, votes: NamedVotes, where: str) -> None:
    wanted, found = (len(votes.items), votes.votes.num_classes), predictions.table.shape
    joined = predictions.index is not None or (predictions.ids is not None and votes.has_ids)
    if found[1] != wanted[1] or (found[0] != wanted[0] and not joined):
        numbers = f"expected {wanted[0]} items x {wanted[1]} classes as in {where}, got {found[0]} x {found[1]}"
        ids = "" if joined or found[1] != wanted[1] else " (some of the items can be scored where both files have ids)"
        raise InputError(f"{predictions.path}: {numbers}{ids}")


def _note_about_p(own: np.ndarray, given: np.ndarray) -> str:
    """What is said where a run was evaluated against other votes than those given: new ones, or those of other items."""
    differ = int((np.abs(own - given) > 1e-3).any(1).sum())
    return f"; for {differ} of them the votes differ from the p of the run itself" if differ else ""


def match_items(predictions: Predictions, votes: NamedVotes, where: str) -> tuple[np.ndarray, str, str]:
    """(places among the items of the votes, ``id`` or ``index`` or ``row``, what is said about it)."""
    path, ids, index, n = predictions.path, predictions.ids, predictions.index, len(predictions.table)
    if ids is not None and votes.has_ids:
        places, how = match_ids(ids, votes.items, (str(path), where), votes.other_ids)
        part = f"all {n} items" if n == len(votes.items) else f"{n} of the {len(votes.items)} items of {where} are predicted"
        return places, "id", f"joined by id{how}: {part}"
    if index is not None and (len(votes.items) != n or index.max() < len(votes.items)):
        if index.max() >= len(votes.items):
            row = int((index >= len(votes.items)).argmax())
            expected = f"positions in the {len(votes.items)} items of {where}"
            raise InputError(f"{path}, index: expected {expected}; row {row} is {index[row]}")
        return index.astype(np.int64), "index", f"joined by 'index', the position among the {len(votes.items)} items of {where}"
    row_by_row = f"row i is taken for item i of {where}"
    if ids is not None:
        if out_of_order(ids):
            raise InputError(f"{path}: expected rows in order of their ids, as {where} has no ids to join by; got {_listed(ids)}")
        return np.arange(n), "row", f"{where} has no ids to join those of {path} by: {row_by_row}"
    if not votes.has_ids:
        return np.arange(n), "row", f"neither file has ids: {row_by_row}"
    for name, cells in predictions.texts.items():
        if set(cells) <= set(votes.items):
            option = f"--id {shlex.quote(name)} joins by it; otherwise leave it out of the file"
            raise InputError(f"{path}: column {name!r:.60} holds ids of {where}: {option}")
    ends = f"the first for {votes.items[0]!r:.60}, the last for {votes.items[-1]!r:.60}"
    return np.arange(n), "row", f"{path} has no ids: {row_by_row}, {ends}"


def match_ids(
    ids: Sequence[str], known: Sequence[str], where: tuple[str, str], other_ids: Sequence[str] = ()
) -> tuple[np.ndarray, str]:
    """The place of each id among the known ones, and how they were compared, if not letter by letter.

    Ids that are numbers may be written in two ways, as where one of the files went through floats. They are compared as numbers
    where that is the only way to find all of them, and no two ids of a file are the same number. Likewise predictions may name an
    item by its path or URL (``test/12``, of a run on LeWiDi) where the votes have the last part of it. And images may be
    named with their ending on one side (``cat.png``, as ``hardlabels predict`` writes it) and without it on the other.

    >>> match_ids(["12.0", "007"], ["7", "12", "13"], ("q.csv", "votes.csv"))
    (array([1, 0]), ", ids as numbers ('12.0' is '12')")
    >>> match_ids(["cat.png", "dog.JPG"], ["dog", "cat"], ("q.csv", "votes.csv"))
    (array([1, 0]), ", without the endings of images ('cat.png' is 'cat')")
    """
    place = {name: i for i, name in enumerate(known)}
    unknown = [name for name in ids if name not in place]
    if not unknown:
        return np.array([place[name] for name in ids]), ""
    as_numbers = {plain_number(name): i for i, name in enumerate(known)}
    keys = [plain_number(name) for name in ids]
    if len(as_numbers) == len(known) and len(set(keys)) == len(keys) and all(key in as_numbers for key in keys):
        example = f"{unknown[0]!r:.60} is {known[as_numbers[plain_number(unknown[0])]]!r:.60}"
        return np.array([as_numbers[key] for key in keys]), f", ids as numbers ({example})"
    parts = [last_part(name) for name in ids]
    if len(set(parts)) == len(parts) and all(part in place for part in parts):
        example = f"{unknown[0]!r:.60} is {last_part(unknown[0])!r:.60}"
        return np.array([place[part] for part in parts]), f", by the last part of its ids ({example})"
    bare = {without_ending(name): i for i, name in enumerate(known)}
    stems = [without_ending(name) for name in ids]
    if not all(stem in bare for stem in stems):
        stems = [without_ending(part) for part in parts]
    found = all(stem in bare for stem in stems)
    if found and len(bare) == len(known) and len(set(stems)) == len(stems):
        example = f"{unknown[0]!r:.60} is {known[bare[stems[ids.index(unknown[0])]]]!r:.60}"
        return np.array([bare[stem] for stem in stems]), f", without the endings of images ({example})"
    expected = f"items with votes in {where[1]}, such as {known[0]!r:.60}"
    hint = ". --clean urls takes the last part of the votes' ids" if set(unknown) & set(map(last_part, known)) else ""
    if other_ids:
        fields = " or ".join(f"--task {shlex.quote(name)}" for name in other_ids[:SHOWN])
        hint += f". The ids of the votes are the tool's own: {fields} takes yours"
    hint += ". Without the endings of images all would be found, but two ids of a file would be the same" if found else ""
    raise InputError(
        f"{where[0]}: expected {expected}; {len(unknown)} of {len(ids)} ids have none: {_listed(unknown)}{hint}. {IGNORE}"
    )


def without_ending(name: str) -> str:
    """The name of an image without its ending; every other name as it is.

    >>> without_ending("cats/1.png"), without_ending("v1.2")
    ('cats/1', 'v1.2')
    """
    from hardlabels.sources.folder import FORMATS  # noqa: PLC0415 - Pillow, for those whose ids need it

    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix.lower() in FORMATS else name


def with_votes(predictions: Predictions, votes: NamedVotes) -> tuple[Predictions, int]:
    """The predictions of items that have votes, and how many others were left out; all of them where a file has no ids."""
    if predictions.ids is None or not votes.has_ids:
        return predictions, 0
    known = {form for name in votes.items for form in (name, plain_number(name), without_ending(name))}
    forms = [
        (name, plain_number(name), last_part(name), without_ending(name), without_ending(last_part(name)))
        for name in predictions.ids
    ]
    kept = [row for row, names in enumerate(forms) if known.intersection(names)]
    if not kept:
        raise InputError(
            f"{predictions.path}: expected items that have votes, such as {votes.items[0]!r:.60}; none is among its ids"
        )
    return predictions.rows(kept), len(forms) - len(kept)


def check_same_items(first: Joined, second: Joined, votes: NamedVotes) -> None:
    """Refuse two models that did not predict the same items: their difference would be one of items as well."""
    for one, other in ((first, second), (second, first)):
        if len(only := np.setdiff1d(one.places, other.places)):
            listed = _listed([votes.items[place] for place in only])
            raise InputError(f"{other.path}: expected the items of {one.path}; {len(only)} are missing: {listed}")


def check_same_p(first: Joined, second: Joined) -> None:
    """Refuse two runs that are scored against their own p, where these differ: the second would be scored against the first's."""
    if first.p is None or second.p is None or not np.allclose(first.p, second.p, rtol=0, atol=1e-6):
        expected = f"that of {first.path}, as both are scored against it"
        raise InputError(f"{second.path}, p: expected {expected}; they differ. Give the votes as well")


def without_positions(runs: Sequence[Predictions]) -> list[Predictions]:
    """Runs that are scored against their own p: with ids or, where one of them has none, with the positions of items as ids."""
    if any(run.ids is None for run in runs) and all(run.index is not None for run in runs):
        runs = [replace(run, ids=[str(place) for place in run.index]) for run in runs if run.index is not None]
    return [replace(run, index=None) for run in runs]


def own_votes(predictions: Predictions) -> NamedVotes:
    """The annotators' distribution that a run's ``predictions.npz`` holds itself, for the items that it holds."""
    if predictions.p is None:
        raise InputError(f"{predictions.path}: votes are needed beside it (only a run's predictions.npz holds its own)")
    votes = Votes.from_probabilities(predictions.p, where=f"{predictions.path}, p")
    names = predictions.names or [str(c) for c in range(votes.num_classes)]
    ids = predictions.ids or [str(row) for row in range(len(votes))]
    has_ids, has_names = predictions.ids is not None, predictions.names is not None
    return NamedVotes(votes, list(ids), tuple(names), None, "probs", ("the run's own p",), has_ids, has_names)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(f"{name!r:.60}" for name in names[:SHOWN]) + more
