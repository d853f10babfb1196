"""One cell of a grid: its coordinates, and the folder whose name they are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from omegaconf import DictConfig

from hardlabels.delivery import methods
from hardlabels.errors import InputError
from hardlabels.randomness import MAX_SEED
from hardlabels.runs.method import Method
from hardlabels.runs.spelling import (
    NamedMethod,
    NamedRecipe,
    read_method,
    read_recipe,
    read_votes,
    write_method,
    write_recipe,
    write_votes,
)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
LONGEST = 120  # file systems take 255 bytes, and a name becomes part of longer ones


@dataclass(frozen=True)
class Cell:
    """The coordinates of a run: ``<data>/<recipe>/<method>/K=<K|all>/seed=<s>``.

    A variant is part of the method's name (``sls,hold=5``), a tag part of the recipe's (``pocket,tag=wide``).

    >>> str(Cell("cifar10h", "pocket", "sls,hold=5", 5, 0).folder)
    'cifar10h/pocket/sls,hold=5/K=5/seed=0'
    >>> Cell.from_folder("outputs/synthetic/smoke/soft/K=all/seed=3")
    Cell(data='synthetic', recipe='smoke', method='soft', K=None, seed=3)
    """

    data: str
    recipe: str
    method: str
    K: int | None
    seed: int

    @property
    def folder(self) -> PurePosixPath:
        """The run's folder, below the outputs folder."""
        return PurePosixPath(self.data, self.recipe, self.method, f"K={write_votes(self.K)}", f"seed={self.seed}")

    def __str__(self) -> str:
        return f"{self.method} K={write_votes(self.K)} seed={self.seed}"

    @property
    def named_method(self) -> NamedMethod:
        """The method's name and the settings in which it differs from its yaml.

        >>> Cell("cifar10h", "pocket", "sls,hold=5", 5, 0).named_method.settings
        {'hold': '5'}
        """
        return read_method(self.method)

    @property
    def named_recipe(self) -> NamedRecipe:
        """The recipe's name and the tag.

        >>> Cell("cifar10h", "pocket,tag=wide", "sls", 5, 0).named_recipe.tag
        'wide'
        """
        return read_recipe(self.recipe)

    @classmethod
    def from_config(cls, cfg: DictConfig) -> "Cell":
        """The cell that a configuration describes; refuses coordinates that make no sense, before any work."""
        for part in ("data", "recipe", "method", "run"):
            if not isinstance(cfg[part], DictConfig):
                raise InputError(f"{part} must be a group of settings, got {cfg[part]}")
        tag = None if cfg.run.tag is None else _name("run.tag", str(cfg.run.tag))
        recipe = write_recipe(_name("recipe.name", cfg.recipe.name), tag)
        seed = _whole("seed", cfg.seed, f"an integer 0 .. {MAX_SEED}", 0, MAX_SEED)
        k = None if cfg.K is None else _whole("K", cfg.K, "a number of votes of at least 1, or null for all votes", 1, MAX_SEED)
        return cls(_name("data.name", cfg.data.name), recipe, method_name(cfg.method), k, seed)

    @classmethod
    def from_folder(cls, folder: str | Path) -> "Cell":
        """The cell whose folder this is: the inverse of ``folder``, for a path that may start anywhere above."""
        try:
            data, recipe, method, k, seed = Path(folder).parts[-5:]
            votes = re.fullmatch(r"K=(all|\d+)", k)[1]  # type: ignore[index]
            number = int(re.fullmatch(r"seed=(\d+)", seed)[1])  # type: ignore[index]
        except (ValueError, TypeError) as error:
            expected = "<data>/<recipe>/<method>/K=<K|all>/seed=<seed>"
            raise InputError(f"{folder} is no run's folder: expected a path that ends in {expected}") from error
        return cls(data, recipe, method, read_votes(votes), number)


def method_name(method: DictConfig | Mapping[str, Any]) -> str:
    """The method's name with every setting that differs from its own yaml: ``sls``, but ``sls,hold=5``.

    >>> method_name({"name": "sls", **methods()["sls"], "hold": 5})
    'sls,hold=5'
    """
    chosen = Method.from_config(method)
    name = _name("method.name", chosen.name)
    defaults = methods().get(name, {})
    variant = {key: value for key, value in chosen.settings.items() if defaults.get(key) != value}
    return _name("method", write_method(name, variant), re.compile(r"[A-Za-z0-9_.+,=-]+"))


def _name(what: str, value: Any, allowed: re.Pattern[str] = NAME) -> str:
    # Names become folders: nothing that could leave the outputs folder, or need quoting in a shell.
    if not isinstance(value, str) or not allowed.fullmatch(value):
        raise InputError(f"{what} must be made of letters, digits, '_', '.', '+' and '-', got {value!r:.200}")
    if len(value) > LONGEST:
        raise InputError(f"{what} must have at most {LONGEST} characters, got {len(value)}: {value[:40]!r}...")
    return value


def _whole(what: str, value: Any, expected: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{what} must be {expected}, got {value!r}")
    return value
