"""Tables whose cells are values and lists of them: one row per vote, or one row per item with a list of votes.

Parquet files, saved data sets and JSON lines are opened as such a table, each by its own module.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats import argilla, long
from hardlabels.votes.formats.columns import KNOWN, ROLES, Columns, known_as, need_columns
from hardlabels.votes.formats.document import label_text
from hardlabels.votes.formats.named import NamedVotes, Options
from hardlabels.votes.formats.votewise import Ballot
from hardlabels.votes.numeric_tables import RowName

LEFT_OUT = {
    "not submitted": "responses are drafts or were discarded and are no votes",
    "unanswered": "records have no response that was submitted and are left out",
}
"""What is said of an export of Argilla."""


@dataclass(frozen=True)
class TypedTable:
    """A table on disk.

    Args:
        names: of its columns, without spaces around them.
        lists: the places of those that hold lists.
        classes: of the columns whose classes are known, by name.
        batches: its rows, many at a time: given places of columns, a list of values for each.
        row_name: what messages call a row. It is asked for in every row, so it must not read the file again.
    """

    names: list[str]
    lists: frozenset[int]
    classes: dict[str, tuple[str, ...]]
    batches: Callable[[Sequence[int]], Iterator[list[list[Any]]]]
    row_name: RowName


def read_typed(table: TypedTable, path: Path, options: Options) -> NamedVotes:
    """The votes of a table: of lists where a column of votes holds some, else one per row."""
    columns = list_columns(table, options, path)
    return read_lists(table, columns, path, options) if columns else read_votes(table, path, options)


def read_votes(table: TypedTable, path: Path, options: Options) -> NamedVotes:
    """One row per vote."""
    columns = need_columns(table.names, options, path)
    places = [*columns.places.values()]
    classes = table.classes.get(table.names[columns.places["label"]])
    if classes and options.classes is None:
        options = replace(options, classes=classes)
    at = list(columns.places).index("label")

    def blocks() -> Iterator[Sequence[Sequence[str]]]:
        done = 0
        for cells in table.batches(places):
            for place, column in zip(places, cells, strict=True):
                _refuse_several(column, table, place, done, path)
            done += len(cells[0])
            if classes:
                cells[at] = [class_of(value, classes) for value in cells[at]]
            yield [["" if value is None else str(value) for value in column] for column in cells]

    ready = long.gather(blocks(), columns, table.names, path, options, table.row_name)
    return long.finish(ready, columns, path, options, table.row_name)


def _refuse_several(column: Sequence[Any], table: TypedTable, place: int, done: int, path: Path) -> None:
    """Refuse a list or an object where one word or number belongs: its text would be one class of that name."""
    row = next((row for row, value in enumerate(column) if isinstance(value, list | dict)), None)
    if row is not None:
        expected = f"a word or a number in column {table.names[place]!r}"
        raise InputError(f"{path}: expected {expected}; {table.row_name(done + row)} has {column[row]!r:.60}")


def class_of(value: Any, classes: Sequence[str]) -> Any:
    """The name of a class by its number; -1 is ``datasets``' word for none. What is no such number stays as it is.

    >>> class_of(1, ["no", "yes"]), class_of(-1, ["no", "yes"]), class_of("yes", ["no", "yes"])
    ('yes', None, 'yes')
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    return classes[value] if 0 <= value < len(classes) else None if value == -1 else value


def list_columns(table: TypedTable, options: Options, path: Path) -> Columns | None:
    """The columns of a table whose rows are items with a list of votes; None where no column of votes is a list.

    A column of several may be called by the plural of a common name: ``annotations``, ``annotator_ids``. Exports of Argilla have
    names of their own.
    """
    if (question := argilla.find_question(table.names, table.lists, options, path)) is not None:
        return question
    wanted = {role: getattr(options, role) for role in ROLES}
    candidates = {
        role: [
            place
            for place, name in enumerate(table.names)
            if (name == wanted[role] if wanted[role] else singular(name) in KNOWN[role])
            and (role == "task") != (place in table.lists)
        ]
        for role in ROLES
    }
    if not candidates["label"]:
        return None
    for role, found in candidates.items():
        if len(found) > 1:
            choices = " or ".join(repr(table.names[place]) for place in found)
            option = options.wording.option(role)
            raise InputError(f"{path}: expected one column for the {role}; {choices}? {option} COLUMN says which")
        if wanted[role] and not found:
            kind = "a value" if role == "task" else "a list"
            raise InputError(
                f"{path}: expected a column {wanted[role]!r} with {kind} in each row ({options.wording.option(role)})"
            )
    places = {role: found[0] for role, found in candidates.items() if found}
    note = ", ".join(f"{role} = column {table.names[place]!r}" for role, place in places.items())
    if unused := [name for place, name in enumerate(table.names) if place not in places.values() and name]:
        note += f"; not used: {', '.join(unused):.200}"
    return Columns(places, f"one row per item, a list of votes in each: {note}")


def singular(name: str) -> str:
    """A name as it is compared with the common ones, without the s of several.

    >>> singular("Annotations"), singular("votes"), singular("class")
    ('annotation', 'vote', 'class')
    """
    known = known_as(name)
    return known.removesuffix("s") if known not in KNOWN["label"] | KNOWN["task"] | KNOWN["worker"] else known


def read_lists(table: TypedTable, columns: Columns, path: Path, options: Options) -> NamedVotes:
    """One row per item, with a list of votes and perhaps one of annotators. Without a column of ids, rows are numbered from 0."""
    places, ballot, done = columns.places, Ballot(str(path)), 0
    left_out = Counter[str]()
    classes = table.classes.get(table.names[places["label"]])
    for cells in table.batches([*places.values()]):
        for row, values in enumerate(zip(*cells, strict=True), start=done):
            entry, where = dict(zip(places, values, strict=True)), f"{path}, {table.row_name(row)}"
            _check_row(entry, table, places, where)
            labels, people = entry["label"] or [], entry.get("worker")
            if "status" in entry:
                labels, people = argilla.submitted(labels, people or [], entry["status"] or [], where)
                left_out["not submitted"] += sum(how != argilla.SUBMITTED for how in entry["status"] or [])
                left_out["unanswered"] += not labels
            elif not labels and "empty" not in options.clean:
                expected = f"at least one vote in column {table.names[places['label']]!r}"
                hint = f"{options.wording.option('clean', 'empty')} skips items without votes"
                raise InputError(f"{where}: expected {expected}, found none. {hint}")
            elif not labels:
                ballot.empty += 1
            if not labels:
                continue
            if people is not None and len(people) != len(labels):
                raise InputError(f"{where}: expected an annotator for each of {len(labels)} votes, found {len(people)}")
            ballot.item(str(row) if "task" not in entry else str(entry["task"]))
            for label, who in zip(labels, people or [None] * len(labels), strict=True):
                if isinstance(label, float) and not label.is_integer():
                    expected = "single votes in a list; these look like probabilities"
                    raise InputError(f"{where}: expected {expected}: {labels!r:.60}. Save those as .npy or .csv")
                label = class_of(label, classes) if classes else label
                ballot.vote(label_text(label, where, options), None if who is None else str(who))
        done += len(cells[0])
    if classes and options.classes is None:
        options = replace(options, classes=classes)
    notes = [columns.note, *(f"{number:,} {LEFT_OUT[what]}" for what, number in left_out.items() if number)]
    return replace(ballot.close("long", options, notes), has_ids="task" in places)


def _check_row(entry: dict[str, Any], table: TypedTable, places: dict[str, int], where: str) -> None:
    """Refuse a row without an id, with a list in place of an id, or with something else in place of a list."""
    for role, inner in (("task", [entry.get("task")]), ("worker", entry.get("worker"))):
        if isinstance(inner, list) and (several := [one for one in inner if isinstance(one, list | dict)]):
            expected = f"words or numbers in column {table.names[places[role]]!r}"
            raise InputError(f"{where}: expected {expected}; found {several[0]!r:.60}")
    if "task" in entry and (entry["task"] is None or not str(entry["task"]).strip()):
        raise InputError(f"{where}: expected an id in column {table.names[places['task']]!r}, found none")
    for role in ("label", "worker", "status"):
        if (value := entry.get(role)) is not None and not isinstance(value, list):
            expected = f"a list in column {table.names[places[role]]!r}, as in other rows"
            raise InputError(f"{where}: expected {expected}; found {value!r:.60}")
