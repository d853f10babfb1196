"""One cell of a grid: its coordinates, and the folder whose name they are."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.randomness import MAX_SEED

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
        return PurePosixPath(self.data, self.recipe, self.method, f"K={'all' if self.K is None else self.K}", f"seed={self.seed}")

    def __str__(self) -> str:
        return f"{self.method} K={'all' if self.K is None else self.K} seed={self.seed}"

    @classmethod
    def from_config(cls, cfg: DictConfig) -> "Cell":
        """The cell that a configuration describes; refuses coordinates that make no sense, before any work."""
        for part in ("data", "recipe", "method", "run"):
            if not isinstance(cfg[part], DictConfig):
                raise InputError(f"{part} must be a group of settings, got {cfg[part]}")
        recipe = _name("recipe.name", cfg.recipe.name)
        if cfg.run.tag is not None:
            recipe += f",tag={_name('run.tag', str(cfg.run.tag))}"
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
        return cls(data, recipe, method, None if votes == "all" else int(votes), number)


def method_name(method: DictConfig) -> str:
    """The method's name with every setting that differs from its own yaml: ``sls``, but ``sls,hold=5``.

    >>> method_name(OmegaConf.create({"name": "sls", "_target_": "...", "hold": 5}))
    'sls,hold=5'
    """
    name = _name("method.name", method.name)
    defaults = _defaults(name)
    variant = [f"{key}={value}" for key, value in method_settings(method).items() if defaults.get(key) != value]
    return _name("method", ",".join([name, *variant]), re.compile(r"[A-Za-z0-9_.+,=-]+"))


@lru_cache
def _defaults(name: str) -> dict[str, Any]:
    """The settings of the method's own yaml; a study has thousands of cells and a dozen methods."""
    plain = CONF / "method" / f"{name}.yaml"
    found: Any = OmegaConf.to_container(OmegaConf.load(plain)) if plain.is_file() else {}
    return found


def method_settings(method: DictConfig) -> dict[str, Any]:
    """The arguments of the delivery's constructor.

    >>> method_settings(OmegaConf.create({"name": "sls", "_target_": "...", "hold": 5}))
    {'hold': 5}
    """
    settings: Any = OmegaConf.to_container(method, resolve=True)
    return {key: value for key, value in settings.items() if key not in ("name", "_target_")}


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
