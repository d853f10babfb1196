"""The user's own split: a column of the data, or a file that says for each id whether it trains, selects or evaluates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.attributes import SHOWN, Table, item_values
from hardlabels.votes.formats.document import need_dict, read_json
from hardlabels.votes.formats.text_tables import TextTable
from hardlabels.votes.split import PARTS

NAMES = {
    "train": ("train", "training"),
    "select": ("select", "dev", "development", "val", "valid", "validation"),
    "evaluate": ("evaluate", "evaluation", "eval", "test", "testing"),
}
"""What people call the three parts."""
PLACE = {name: PARTS.index(part) for part, names in NAMES.items() for name in names}
ENDINGS = (".csv", ".json")


def part_codes(values: Sequence[str], where: str) -> np.ndarray:
    """(N,) int64 places in ``PARTS`` of what a file calls the parts; capitals do not matter.

    >>> part_codes(["Train", "dev", "test"], "split.csv").tolist()
    [0, 1, 2]
    >>> part_codes(["train", "fold 3"], "my.csv")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: my.csv: expected train, select (or dev, val) or evaluate (or test) for each item, got 'fold 3'
    """
    for value in dict.fromkeys(values):
        if value.lower() not in PLACE:
            raise InputError(
                f"{where}: expected train, select (or dev, val) or evaluate (or test) for each item, got {value!r:.60}"
            )
    return np.array([PLACE[value.lower()] for value in values], dtype=np.int64)


def read_split(split: str, ids: Sequence[str], tables: Sequence[Table], *, others: bool = False) -> np.ndarray:
    """(N,) int64: the part of each item as its place in ``PARTS``.

    Args:
        split: the name of a column; or a file: a ``.csv`` with a header, the id in the first column and the part in the second,
            or a ``.json`` with the ids of each part, ``{"train": [...], "select": [...], "evaluate": [...]}``.
        ids: of the items.
        tables: where a column is looked for.
        others: whether the file may name items that are not among these.

    Raises:
        InputError: no such column or file, an item without a part, or with two; a name that is no part's; a part that is needed
            and has no items.
    """
    path = Path(split).expanduser()
    if path.suffix.lower() in ENDINGS:
        values, where = _read_file(path, ids, others), str(path)
    else:
        values, where = item_values("data.split", split, ids, tables), f"data.split={split}"
    codes = part_codes(values, where)
    for part in ("train", "evaluate"):
        if PARTS.index(part) not in codes:
            named = ", ".join(sorted(set(values)))
            raise InputError(f"{where}: expected items to {part} ({', '.join(NAMES[part])}), got only {named}")
    return codes


def _read_file(path: Path, ids: Sequence[str], others: bool) -> list[str]:
    if not path.is_file():
        raise InputError(f"data.split: {path} is not there (looked in {Path.cwd()})")
    values: dict[str, str] = {}
    rows = _json_rows(path) if path.suffix.lower() == ".json" else _csv_rows(path)
    for name, value in rows:
        if values.setdefault(name, value) != value:
            raise InputError(
                f"{path}: expected every id in one part; {name!r:.60} is in {values[name]!r:.60} and in {value!r:.60}"
            )
    lacking, own = [name for name in ids if name not in values], set(ids)
    strange = [] if others else [name for name in values if name not in own]
    for names, what in (
        (lacking, f"of {len(ids):,} items are not in it"),
        (strange, "ids are of no item (data.extra=ignore allows it)"),
    ):
        if names:
            listed = f"{', '.join(f'{name:.60}' for name in names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}"
            raise InputError(f"{path}: expected the part of every item; {len(names):,} {what}: {listed}")
    return [values[name] for name in ids]


def _csv_rows(path: Path) -> list[tuple[str, str]]:
    table = TextTable(path)
    if len(table.header) != 2:
        raise InputError(
            f"{path}: expected two columns, the id and its part, got {len(table.header)}: {', '.join(table.header):.200}"
        )
    if table.header[1].strip().lower() in PLACE:
        raise InputError(
            f"{path}: expected a first line that names the columns, such as id,split; got {','.join(table.header):.200}"
        )
    return [(name.strip(), part.strip()) for block in table.blocks() for name, part in block]


def _json_rows(path: Path) -> list[tuple[str, str]]:
    expected = 'lists of ids by part, {"train": [...], "select": [...], "evaluate": [...]}'
    document = need_dict(read_json(path), expected, str(path))
    rows: list[tuple[str, str]] = []
    for part, names in document.items():
        if not isinstance(names, list) or not all(_is_id(name) for name in names):
            raise InputError(f"{path}: expected {expected}; {part!r:.60} has {names!r:.60}")
        rows += [(str(name).strip(), part) for name in names]
    return rows


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
