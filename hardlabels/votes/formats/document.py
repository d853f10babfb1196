"""JSON that somebody else wrote: every key once, numbers that are numbers, no depth without end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardlabels.errors import InputError
from hardlabels.votes.formats.named import Options
from hardlabels.votes.formats.text_tables import MISSING, check_file
from hardlabels.votes.text_files import not_utf8


def read_json(path: Path) -> Any:
    """The document of a ``.json`` file."""
    return parse(read_text(path), str(path))


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The documents of a ``.jsonl`` file, with their line (from 1); blank lines are skipped."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, parse(line, f"{path}, line {number}")


def read_text(path: Path) -> str:
    """The text of a file, in UTF-8."""
    check_file(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from error
    except (OSError, MemoryError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def parse(text: str, where: str) -> Any:
    """A JSON document, strictly.

    >>> parse('{"a": [1, 2]}', "answers.json")
    {'a': [1, 2]}
    >>> parse('{"a": 1, "a": 2}', "answers.json")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: answers.json: expected every key once; 'a' comes twice
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise InputError(f"{where}: expected every key once; {key!r:.60} comes twice")
                seen.add(key)
        return found

    def constant(name: str) -> Any:
        raise InputError(f"{where}: expected finite numbers, found {name}")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{where}: expected JSON; {place}: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a whole number of thousands of digits; a million brackets
        raise InputError(f"{where}: expected JSON of ordinary depth and size, found: {error!s:.80}") from error


def need_dict(value: Any, expected: str, where: str) -> dict[str, Any]:
    """A JSON object that is not empty.

    >>> need_dict({"a": 1}, "items", "answers.json")
    {'a': 1}
    """
    if not isinstance(value, dict) or not value:
        raise InputError(f"{where}: expected {expected}; found {json.dumps(value):.60}")
    return value


def label_text(value: Any, where: str, options: Options) -> str:
    """A vote as text: a word or a number; an empty text where there is none and the user asked to skip such votes.

    >>> label_text(" cat", "answers.json", Options()), label_text(2, "answers.json", Options())
    ('cat', '2')
    """
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if text not in MISSING:
        return text
    nothing = value is None or value == [] or isinstance(value, str | float)
    if nothing and "empty" in options.clean:
        return ""
    hint = f". {options.wording.option('clean', 'empty')} skips votes without a label" if nothing else ""
    raise InputError(f"{where}: expected a label as a word or a number; found {json.dumps(value):.60}{hint}")
