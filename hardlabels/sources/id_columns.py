"""Which column of a table of items, or field of JSON lines, holds their ids: by its name. The one owner of that question."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from hardlabels.errors import InputError
from hardlabels.votes.formats.columns import KNOWN, ROW_NUMBERS, known_as

FIRST = "id"
COMMON = frozenset(("ids", "item", "item_id", "task", "task_id", "name", "file", "filename", "image", "key", "uid"))
"""Names that are taken for ids where none is called ``id``. (Those of texts, such as ``document``, are no ids here.)"""


def names_ids(name: str) -> bool:
    """Whether a column of this name holds ids, or the numbers of rows that pandas writes.

    >>> [names_ids(name) for name in ("id", "image_id", "Doc ID", "index", "text", "document")]
    [True, True, True, True, False, False]
    """
    low = name.strip().lower()
    return low == FIRST or low in COMMON or low in ROW_NUMBERS or _is_some_id(name)


def id_field(names: Iterable[str]) -> str | None:
    """The field of JSON lines that holds the ids: ``id``; else the first whose name says so; row numbers only where none does.

    >>> id_field(["index", "id", "text"]), id_field(["text", "key"]), id_field(["index", "text"]), id_field(["text"])
    ('id', 'key', 'index', None)
    """
    known = [name for name in names if names_ids(name)]
    return min(known, key=_rank, default=None)


def refuse_row_numbers(names: Sequence[str], path: Path) -> None:
    """Refuse a table whose first column is pandas' row numbers, although another one holds ids.

    By the rule that the first column is the id, row 0 would be the item that the votes call 0.

    >>> refuse_row_numbers(["id", "text"], Path("texts.csv"))
    >>> refuse_row_numbers(["", "id", "text"], Path("texts.csv"))
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: texts.csv: expected the ids in the first column; '' holds row numbers, and 'id' reads like \
the ids. Leave the row numbers out (pandas: index=False), or put 'id' first
    """
    first, *others = names or [""]
    own = next((name for name in others if name.strip().lower() == FIRST or _is_some_id(name)), None)
    if first.strip().lower() in ROW_NUMBERS and own is not None:
        expected = "the ids in the first column"
        found = f"{first!r:.60} holds row numbers, and {own!r:.60} reads like the ids"
        ways = f"Leave the row numbers out (pandas: index=False), or put {own!r:.60} first"
        raise InputError(f"{path}: expected {expected}; {found}. {ways}")


def _is_some_id(name: str) -> bool:
    known = known_as(name)
    return known in KNOWN["task"] and known.endswith("id")


def _rank(name: str) -> int:
    low = name.strip().lower()
    return 0 if low == FIRST else 2 if low in ROW_NUMBERS else 1
