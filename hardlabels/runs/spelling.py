"""How facts about a cell are written in the names of folders and in headings, and read again: each function and its inverse.

Nothing else in the package puts these names together or takes them apart.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

ALL_VOTES = "all"


class NamedMethod(NamedTuple):
    """A method and the settings in which it differs from its yaml, as texts."""

    name: str
    settings: dict[str, str]


class NamedRecipe(NamedTuple):
    """A recipe and the tag of a run whose settings differ from it."""

    name: str
    tag: str | None


def write_votes(k: float | None) -> str:
    """K as folders and headings have it; None and infinity are all votes.

    >>> write_votes(5), write_votes(None), write_votes(float("inf"))
    ('5', 'all', 'all')
    """
    return ALL_VOTES if k is None or k == float("inf") else str(int(k))


def read_votes(text: str) -> int | None:
    """The inverse of :func:`write_votes`.

    >>> read_votes("5"), read_votes("all")
    (5, None)
    """
    return None if text == ALL_VOTES else int(text)


def write_method(name: str, settings: Mapping[str, Any]) -> str:
    """A method with its settings in one word.

    >>> write_method("sls", {"hold": 5}), write_method("soft", {})
    ('sls,hold=5', 'soft')
    """
    return ",".join([name, *(f"{key}={value}" for key, value in settings.items())])


def read_method(text: str) -> NamedMethod:
    """The inverse of :func:`write_method`; values stay texts.

    >>> read_method("sls,hold=5")
    NamedMethod(name='sls', settings={'hold': '5'})
    """
    name, *settings = text.split(",")
    return NamedMethod(name, {key: value for key, _, value in (setting.partition("=") for setting in settings)})


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
