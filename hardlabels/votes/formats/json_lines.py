"""JSON lines of nobody's format in particular: a list of votes per item, one vote per line, or counts per class.

The first two are read as the same rows of a parquet file are. Counts are an object of classes in one field (``{"cat": 3, "dog":
2}``), or one field per class; :mod:`.matrix` decides whether they are counts or probabilities.
"""

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.votes.formats.class_order import order_classes
from hardlabels.votes.formats.columns import KNOWN, ask_for_columns, find_columns, known_as
from hardlabels.votes.formats.document import need_dict, read_lines
from hardlabels.votes.formats.named import NamedVotes, Options, check_ids
from hardlabels.votes.formats.text_tables import header_names
from hardlabels.votes.formats.typed_tables import TypedTable, list_columns, read_typed, singular
from hardlabels.votes.names import check_spellings
from hardlabels.votes.numeric_tables import RowName, row_number

ROWS = 1 << 14  # at a time
LOOKED_AT = 1000  # lines that show of what shape all are
COUNTED = (
    *("count", "label_count", "vote_count", "class_count", "annotation_count", "label_counter"),
    *("distribution", "label_distribution", "label_dist", "probability", "probabilities", "prob", "soft_label", "share"),
)
"""Names of a field with an object of counts or probabilities by class, beside the names of votes; or the plural of one."""
ANNOTATOR = re.compile(r"(w|(ann|worker|rater|coder|user|labeler|participant)\w*?)[\W_]*\d+", re.IGNORECASE)
TWO_LISTS = "Votes of known annotators are two lists, 'labels' and 'annotators'"


def shape(path: Path, options: Options) -> str | None:
    """``long`` or ``matrix``, by the fields of the first lines; None where nothing says what they hold."""
    entries = [entry for _, entry in islice(_entries(path), LOOKED_AT)]
    if not entries:
        return None
    table = _table(entries, path)
    counted = _counted(entries, table.names, options, path)
    voted = list_columns(table, options, path)
    if voted is None and (found := find_columns(table.names, options, path)) is not None:
        voted = None if table.names[found.places["label"]] == counted else found
    if voted is not None and counted is not None:
        votes, option = table.names[voted.places["label"]], options.wording.option
        raise InputError(
            f"{path}: expected votes in one field; {votes!r:.60} may hold votes, {counted!r:.60} counts: "
            f"{option('format', 'long')} or {option('format', 'counts')} says which"
        )
    if voted is not None:
        return "long"
    return "matrix" if counted is not None or len(_class_fields(entries, table.names, options, path)) > 1 else None


def refusal(path: Path, options: Options) -> str:
    """Why a file of JSON lines cannot be read: the shapes that can be, and the command that names its fields."""
    _, first = next(read_lines(path), (0, {}))
    names = list(first) if isinstance(first, dict) else []
    shapes = (
        "a list of votes per item (in 'labels'), one vote per line ('id', 'annotator', 'label') or counts per class (as numbers, "
        "or as an object in 'counts')"
    )
    others = "ChaosNLI ('uid', 'label_counter') or an export of Prodigy ('_input_hash')"
    found = ask_for_columns(names, options, path) if names else "line 1 has no fields"
    return f"{path}: expected JSON lines with {shapes}; or {others}; {found}"


def read(path: Path, options: Options) -> NamedVotes:
    """Votes one per line, or in lists."""
    lists: set[str] = set()
    names: dict[str, None] = {}
    numbers = array("q")
    for number, entry in _entries(path):
        numbers.append(number)
        names.update(dict.fromkeys(entry))
        lists.update(name for name, value in entry.items() if isinstance(value, list))

    def batches(places: Sequence[int]) -> Iterator[list[list[Any]]]:
        wanted, entries = [[*names][place] for place in places], _entries(path)
        while block := [entry for _, entry in islice(entries, ROWS)]:
            yield [[entry.get(name) for entry in block] for name in wanted]

    return read_typed(_typed(names, lists, path, batches, lambda row: f"line {numbers[row]}"), path, options)


def read_counts(path: Path, options: Options) -> tuple[np.ndarray, list[str] | None, list[str], bool, str]:
    """The (N, C) numbers, the ids of the lines where there are some, the names of the classes, and how they were found.

    The last two are whether they are from an object of classes in each line, and that in words.
    """
    numbers, entries = [], []
    for number, entry in _entries(path):
        numbers.append(number)
        entries.append(entry)
    if not entries:
        raise InputError(f"{path}: expected at least one line, got an empty file")
    names = _table(entries, path).names
    key, counted = _id_field(names, options, path), _counted(entries, names, options, path)
    where = [f"{path}, line {number}" for number in numbers]
    ids = None if key is None else _ids(entries, key, where, path)
    if counted is not None:
        table, classes = _of_objects(entries, counted, where, path, options)
        return table, ids, classes, True, f"classes = those of {counted!r}; those that it leaves out have 0"
    fields = _class_fields(entries, names, options, path)
    if not fields:
        raise InputError(refusal(path, options))
    _refuse_annotators(fields, "a field for each class, with its count", path, options)
    for entry, place in zip(entries, where, strict=True):
        if lacking := [name for name in fields if not _is_number(entry.get(name))]:
            raise InputError(f"{place}: expected a number in {lacking[0]!r:.60}; found {entry.get(lacking[0])!r:.60}")
    table = np.array([[_float(entry[name]) for name in fields] for entry in entries])
    unused = ", ".join(name for name in names if name not in (*fields, key))
    return table, ids, fields, False, f"classes = fields with numbers{f'; not used: {unused:.200}' if unused else ''}"


# ---- the fields ----


def _entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, fields) of every line."""
    for number, line in read_lines(path):
        where = f"{path}, line {number}"
        fields: dict[str, Any] = {}
        for name, value in need_dict(line, "an object with the votes on an item, or one of them", where).items():
            if (bare := name.strip()) in fields:
                raise InputError(f"{where}: expected every field once, spaces around its name aside; {bare!r:.60} comes twice")
            fields[bare] = value
        yield number, fields


def name_line(path: Path, row: int) -> str:
    """What messages call a row, from 0: found by reading again, as only errors need it."""
    return f"line {next(number for i, (number, _) in enumerate(read_lines(path)) if i == row)}"


def _table(entries: Sequence[dict[str, Any]], path: Path) -> TypedTable:
    """The columns of some lines."""
    lists = {name for entry in entries for name, value in entry.items() if isinstance(value, list)}
    return _typed(dict.fromkeys(name for entry in entries for name in entry), lists, path, lambda _: iter(()), row_number)


def _typed(names: dict[str, None], lists: set[str], path: Path, batches: Any, row_name: RowName) -> TypedTable:
    header = header_names([*names], path, "field")
    places = frozenset(place for place, name in enumerate(header) if name in lists)
    return TypedTable(header, places, {}, batches, row_name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float(value: float) -> float:
    """The number; infinity, which is refused with its line, for a whole number of hundreds of digits."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _counted(entries: Sequence[dict[str, Any]], names: Sequence[str], options: Options, path: Path) -> str | None:
    """The field with an object of numbers by class: the one that the user names as the label, or one with a common name."""
    known = KNOWN["label"] | {known_as(name) for name in COUNTED}
    found = [
        name
        for name in names
        if (name == options.label if options.label is not None else bool({known_as(name), singular(name)} & known))
        and any(isinstance(entry.get(name), dict) for entry in entries)
    ]
    if len(found) > 1:
        choices, option = " or ".join(map(repr, found)), options.wording.option("label")
        raise InputError(f"{path}: expected one field with counts per class; {choices}? {option} FIELD says which")
    return found[0] if found else None


def _id_field(names: Sequence[str], options: Options, path: Path) -> str | None:
    option = options.wording.option("task")
    found = [name for name in names if (name == options.task if options.task else known_as(name) in KNOWN["task"])]
    if options.task is not None and not found:
        listed = ", ".join(map(repr, names))
        raise InputError(f"{path}: expected a field {options.task!r} ({option}); the fields are {listed:.300}")
    if len(found) > 1:
        choices = " or ".join(map(repr, found))
        raise InputError(f"{path}: expected one field of the item's id; {choices}? {option} FIELD says which")
    return found[0] if found else None


def _class_fields(entries: Sequence[dict[str, Any]], names: Sequence[str], options: Options, path: Path) -> list[str]:
    """The fields that hold a number in some line, but for the item's id."""
    key = _id_field(names, options, path)
    return [name for name in names if name != key and any(_is_number(entry.get(name)) for entry in entries)]


def _ids(entries: Sequence[dict[str, Any]], key: str, where: Sequence[str], path: Path) -> list[str]:
    seen: dict[str, str] = {}
    for entry, place in zip(entries, where, strict=True):
        value = entry.get(key)
        name = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
        if not name or name in seen:
            expected = f"every item once, and {seen[name]} has it too" if name else f"an id in {key!r}"
            raise InputError(f"{place}: expected {expected}; found {value!r:.60}")
        seen[name] = place.removeprefix(f"{path}, ")
    check_ids([*seen], "item", str(path))
    return [*seen]


def _refuse_annotators(names: Sequence[str], expected: str, path: Path, options: Options) -> None:
    """Refuse names of annotators where those of classes belong: the number beside each is the class that was chosen, no count."""
    if options.classes is None and all(map(ANNOTATOR.fullmatch, names)):
        found = f"{', '.join(map(repr, names)):.100} read like annotators"
        ways = f"{TWO_LISTS}; {options.wording.option('classes')} says that they are classes"
        raise InputError(f"{path}: expected {expected}; {found}. {ways}")


def _of_objects(
    entries: Sequence[dict[str, Any]], field: str, where: Sequence[str], path: Path, options: Options
) -> tuple[np.ndarray, list[str]]:
    """Numbers and classes of an object in each line."""
    for entry, place in zip(entries, where, strict=True):
        given = need_dict(entry.get(field), f"an object of counts per class in {field!r}", place)
        for label, value in given.items():
            if not _is_number(value):
                expected = f"{{class: count}} in {field!r:.60}"
                raise InputError(f"{place}: expected {expected}; {label!r:.60} has {value!r:.60}. {TWO_LISTS}")
    labels = [*dict.fromkeys(label for entry in entries for label in entry[field])]
    _refuse_annotators(labels, f"{{class: count}} in {field!r:.60}", path, options)
    classes, _ = order_classes(labels, str(path), options.classes)
    if options.classes is None:
        check_spellings(classes, str(path), options.wording.option("classes"))
    _, places = order_classes(labels, str(path), classes)
    column = dict(zip(labels, places.tolist(), strict=True))
    table = np.zeros((len(entries), len(classes)))
    for row, entry in enumerate(entries):
        for label, value in entry[field].items():
            table[row, column[label]] += _float(value)
    return table, [*classes]
