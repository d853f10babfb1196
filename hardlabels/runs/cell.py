"""One cell of a grid: its coordinates, and the folder whose name they are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from omegaconf import DictConfig

from hardlabels.delivery import methods
from hardlabels.errors import InputError
from hardlabels.randomness import MAX_SEED
from hardlabels.runs.method import Method
from hardlabels.runs.spelling import (
    ALL,
    NamedMethod,
    Settings,
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
    """The coordinates of a run, as values; its folder is ``<data>/<recipe>/<method>/K=<K|all>/seed=<s>``.

    Attributes:
        data: name of the data set.
        recipe: name of the recipe.
        method: name of the method.
        K: votes per item in training; None for all of them.
        seed: of the run.
        settings: those settings of the method that differ from its yaml.
        tag: of a run whose recipe's settings differ from its yaml.

    >>> cell = Cell("cifar10h", "pocket", "sls", 5, 0, settings=(("hold", 5),), tag="wide")
    >>> str(cell.folder), cell.variant, cell.tagged_recipe
    ('cifar10h/pocket,tag=wide/sls,hold=5/K=5/seed=0', 'sls,hold=5', 'pocket,tag=wide')
    >>> Cell.from_folder("outputs/synthetic/smoke/soft/K=all/seed=3")
    Cell(data='synthetic', recipe='smoke', method='soft', K=None, seed=3, settings=(), tag=None)
    """

    data: str
    recipe: str
    method: str
    K: int | None
    seed: int
    settings: Settings = ()
    tag: str | None = None

    def __post_init__(self) -> None:
        if "," in self.method or "," in self.recipe:
            raise InputError(
                "a cell has a method and a recipe by their names alone, its settings and its tag beside them; "
                f"got {self.method!r:.200} and {self.recipe!r:.200}"
            )

    @cached_property
    def variant(self) -> str:
        """The method with its settings in one word, ``sls,hold=5``: part of the folder's name, and the key of tables."""
        return write_method(self.method, self.settings)

    @cached_property
    def tagged_recipe(self) -> str:
        """The recipe with its tag in one word, ``pocket,tag=wide``: part of the folder's name, and the key of tables."""
        return write_recipe(self.recipe, self.tag)

    @property
    def votes(self) -> float:
        """K as tables have it: infinite for all votes."""
        return ALL if self.K is None else float(self.K)

    @property
    def folder(self) -> PurePosixPath:
        """The run's folder, below the outputs folder."""
        return PurePosixPath(self.data, self.tagged_recipe, self.variant, f"K={write_votes(self.K)}", f"seed={self.seed}")

    def __str__(self) -> str:
        return f"{self.variant} K={write_votes(self.K)} seed={self.seed}"

    def written(self) -> dict[str, Any]:
        """The coordinates as checkpoints and W&B have them: method and recipe in one word each.

        >>> Cell("toy", "smoke", "sls", None, 3, settings=(("hold", 5),)).written()
        {'data': 'toy', 'recipe': 'smoke', 'method': 'sls,hold=5', 'K': None, 'seed': 3}
        """
        return {"data": self.data, "recipe": self.tagged_recipe, "method": self.variant, "K": self.K, "seed": self.seed}

    @classmethod
    def read(cls, data: str, recipe: str, method: str, k: float | None, seed: int) -> "Cell":
        """The cell of a row of a table, whose recipe and method are written in one word each.

        >>> Cell.read("toy", "smoke,tag=wide", "sls,hold=5", 5.0, 0) == Cell("toy", "smoke", "sls", 5, 0, (("hold", 5),), "wide")
        True
        """
        (name, settings), (plain, tag) = read_method(method), read_recipe(recipe)
        return cls(data, plain, name, None if k is None or k == ALL else int(k), seed, settings, tag)

    @classmethod
    def from_config(cls, cfg: DictConfig) -> "Cell":
        """The cell that a configuration describes; refuses coordinates that make no sense, before any work."""
        for part in ("data", "recipe", "method", "run"):
            if not isinstance(cfg[part], DictConfig):
                raise InputError(f"{part} must be a group of settings, got {cfg[part]}")
        tag = None if cfg.run.tag is None else _name("run.tag", str(cfg.run.tag))
        recipe = _name("recipe.name", cfg.recipe.name)
        seed = _whole("seed", cfg.seed, f"an integer 0 .. {MAX_SEED}", 0, MAX_SEED)
        k = None if cfg.K is None else _whole("K", cfg.K, "a number of votes of at least 1, or null for all votes", 1, MAX_SEED)
        method, settings = named_method(cfg.method)
        return cls(_name("data.name", cfg.data.name), recipe, method, k, seed, settings, tag)

    @classmethod
    def from_folder(cls, folder: str | Path) -> "Cell":
        """The cell whose folder this is: the inverse of ``folder``, for a path that may start anywhere above."""
        try:
            data, recipe, method, k, seed = Path(folder).parts[-5:]
            votes = re.fullmatch(r"K=(all|\d+)", k)[1]  # type: ignore[index]
            number = int(re.fullmatch(r"seed=(\d+)", seed)[1])  # type: ignore[index]
            return cls.read(data, recipe, method, read_votes(votes), number)
        except (ValueError, TypeError) as error:
            expected = "<data>/<recipe>/<method>/K=<K|all>/seed=<seed>"
            raise InputError(f"{folder} is no run's folder: expected a path that ends in {expected}") from error


def named_method(method: DictConfig | Mapping[str, Any]) -> NamedMethod:
    """The method's name, and every setting that differs from its own yaml: none for ``sls`` as it comes.

    >>> named_method({"name": "sls", **methods()["sls"], "hold": 5})
    NamedMethod(name='sls', settings=(('hold', 5),))
    """
    chosen = Method.from_config(method)
    name = _name("method.name", chosen.name)
    defaults = methods().get(name, {})
    different = {key: value for key, value in chosen.settings.items() if defaults.get(key) != value}
    # As its folder's name is read again: two spellings of a value that are written alike are one cell.
    return read_method(_name("method", write_method(name, different), re.compile(r"[A-Za-z0-9_.+,=-]+")))


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
