"""How facts about a cell are written in the names of folders and in headings, and read again: each function and its inverse.

Nothing else in the package puts these names together or takes them apart. A table may have such a name as its key; whoever wants
a fact out of the key reads it here.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from hardlabels.errors import InputError

ALL_VOTES = "all"
ALL = math.inf
"""K of a run that sees all votes, where tables need a number for it."""

Settings: TypeAlias = tuple[tuple[str, Any], ...]
"""Settings of a method, each with its value: pairs rather than a dict, so that what holds them can be a key."""

WORDS = {"True": True, "False": False, "None": None}


class NamedMethod(NamedTuple):
    """A method and the settings in which it differs from its yaml."""

    name: str
    settings: Settings = ()


class NamedRecipe(NamedTuple):
    """A recipe and the tag of a run whose settings differ from it."""

    name: str
    tag: str | None = None


def write_votes(k: float | None) -> str:
    """K as folders and headings have it; None and infinity are all votes.

    >>> write_votes(5), write_votes(None), write_votes(ALL)
    ('5', 'all', 'all')
    """
    return ALL_VOTES if k is None or k == ALL else str(int(k))


def read_votes(text: str) -> int | None:
    """The inverse of :func:`write_votes`.

    >>> read_votes("5"), read_votes("all")
    (5, None)
    """
    return None if text == ALL_VOTES else int(text)


def write_method(name: str, settings: Mapping[str, Any] | Settings = ()) -> str:
    """A method with its settings in one word.

    >>> write_method("sls", {"hold": 5}), write_method("soft")
    ('sls,hold=5', 'soft')

    Raises:
        InputError: a value that could not be told from the next setting, such as "a,b".
    """
    pairs = settings.items() if isinstance(settings, Mapping) else settings
    for key, value in pairs:
        if "," in str(value) or "=" in str(value):
            raise InputError(f"method.{key} must be a value without ',' and '=', got {value!r:.200}")
    return ",".join([name, *(f"{key}={value}" for key, value in pairs)])


@lru_cache(maxsize=4096)  # thousands of rows share a dozen of them
def read_method(text: str) -> NamedMethod:
    """The inverse of :func:`write_method`.

    >>> read_method("sls,hold=5")
    NamedMethod(name='sls', settings=(('hold', 5),))

    Raises:
        InputError: what follows a comma is no setting.
    """
    name, *settings = text.split(",")
    pairs = [setting.partition("=") for setting in settings]
    if not all(key and mark for key, mark, _ in pairs):
        raise InputError(f"expected a method such as sls or sls,hold=5, got {text!r:.200}")
    return NamedMethod(name, tuple((key, _read_value(value)) for key, _, value in pairs))


def write_recipe(name: str, tag: str | None) -> str:
    """A recipe with its tag in one word.

    >>> write_recipe("pocket", "wide"), write_recipe("pocket", None)
    ('pocket,tag=wide', 'pocket')
    """
    return name if tag is None else f"{name},tag={tag}"


def read_recipe(text: str) -> NamedRecipe:
    """The inverse of :func:`write_recipe`.

    >>> read_recipe("pocket,tag=wide"), read_recipe("pocket")
    (NamedRecipe(name='pocket', tag='wide'), NamedRecipe(name='pocket', tag=None))
    """
    name, _, tag = text.partition(",tag=")
    return NamedRecipe(name, tag or None)


def read_corpus(data: str) -> str:
    """The corpus of a data set: the part of its name before the first "_".

    >>> read_corpus("chaosnli_snli"), read_corpus("popquorn")
    ('chaosnli', 'popquorn')
    """
    return data.partition("_")[0]


def write_probe_file(probe: str, checkpoint: str) -> str:
    """The name of a probe's files, without the ending: those of the selected epoch have the probe's own.

    >>> write_probe_file("hessian", "best"), write_probe_file("hessian", "last")
    ('hessian', 'hessian,checkpoint=last')
    """
    return probe if checkpoint == "best" else f"{probe},checkpoint={checkpoint}"


def write_pair_array(a: str, b: str, name: str) -> str:
    """The name of an array that a probe of pairs saved of two runs, whose folders are a and b.

    >>> write_pair_array("d/r/sls/K=5/seed=0", "d/r/soft/K=5/seed=0", "map")
    'd/r/sls/K=5/seed=0|d/r/soft/K=5/seed=0|map'
    """
    return f"{a}|{b}|{name}"


def read_pair_array(text: str) -> tuple[str, str, str]:
    """(a, b, name): the inverse of :func:`write_pair_array`.

    >>> read_pair_array("d/r/sls/K=5/seed=0|d/r/soft/K=5/seed=0|map")[2]
    'map'
    """
    a, b, name = text.split("|", 2)
    return a, b, name


def _read_value(text: str) -> Any:
    """The number or word that is written so; a text that no number or word is written as, such as ``05``, stays one.

    >>> [_read_value(text) for text in ("5", "0.1", "1e-05", "True", "None", "05", "nan", "linear")]
    [5, 0.1, 1e-05, True, None, '05', 'nan', 'linear']
    """
    if text in WORDS:
        return WORDS[text]
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and math.isfinite(value):
            return value
    return text
