"""A study: a named list of cells. A cell that serves two studies is one folder, trained once."""

import itertools
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.delivery import methods
from hardlabels.errors import InputError
from hardlabels.runs.cell import NAME, Cell, named_method
from hardlabels.runs.spelling import NamedMethod, Settings

AXES = ("data", "recipe", "method", "K", "seed")
RANGE = re.compile(r"range\((\d+)(?:, *(\d+))?\)")


@dataclass(frozen=True)
class Block:
    """A product of values, with one list per axis: what one multirun trains.

    Args:
        axes: axis to values, in the order of the overrides: data, recipe, method, K, seed and settings of the method.
        tag: ``run.tag`` of all its cells.
    """

    axes: dict[str, list[Any]]
    tag: str | None = None

    def overrides(self) -> list[str]:
        """The arguments of ``python -m hardlabels.train -m``.

        >>> Block({"method": ["soft", "sls"], "K": [5, None], "seed": [0, 1, 2]}).overrides()
        ['method=soft,sls', 'K=5,null', 'seed=range(3)']
        """
        words = [f"{axis}={_sweep(values)}" for axis, values in self.axes.items()]
        return words if self.tag is None else [*words, f"run.tag={self.tag}"]

    def shares(self, processes: int, missing: set[Cell]) -> list["Block"]:
        """The block cut into at most this many, for as many commands at once, each with about as many missing cells.

        It is cut by seed, or by method where only one seed has missing cells; seeds and methods without any are left out. For a
        single command it stays whole.

        Args:
            processes: number of commands at once.
            missing: the cells that are still to train; those of other blocks do not count.

        >>> block = Block({"data": ["toy"], "recipe": ["smoke"], "method": ["soft", "sls"], "K": [None], "seed": [0, 1, 2, 3]})
        >>> missing = {cell for cell in block.cells() if cell.seed != 1}
        >>> [share.overrides()[2:] for share in block.shares(2, missing)]
        [['method=soft,sls', 'K=null', 'seed=0,3'], ['method=soft,sls', 'K=null', 'seed=2']]
        >>> [share.overrides()[2] for share in block.shares(2, {cell for cell in missing if cell.seed == 3})]
        ['method=soft', 'method=sls']
        """
        if processes == 1:
            return [self]  # whole, so that its table is
        work = self._work("seed", missing)
        if len(work) == 1:
            return self._only("seed", list(work))._dealt("method", processes, missing)
        return self._dealt("seed", processes, missing)

    def _dealt(self, axis: str, processes: int, missing: set[Cell]) -> list["Block"]:
        """The values of one axis dealt out, the one with the most missing cells first, to whoever has the least to do."""
        work = self._work(axis, missing)
        piles: list[list[Any]] = [[] for _ in range(min(processes, len(work)))]
        for value in sorted(work, key=lambda value: -work[value]):
            min(piles, key=lambda pile: sum(work[other] for other in pile)).append(value)
        return [self._only(axis, [value for value in work if value in pile]) for pile in piles]

    def _work(self, axis: str, missing: set[Cell]) -> dict[Any, int]:
        """How many missing cells each value of an axis has, where it has any."""
        cells = {value: self._only(axis, [value]).cells() for value in self.axes[axis]}
        return {value: count for value, own in cells.items() if (count := len(missing.intersection(own)))}

    def _only(self, axis: str, values: list[Any]) -> "Block":
        return replace(self, axes={**self.axes, axis: values})

    def cells(self) -> list[Cell]:
        """Every cell of the product, the last axis fastest."""
        cells = []
        for values in itertools.product(*self.axes.values()):
            point = dict(zip(self.axes, values, strict=True))
            settings = {axis.removeprefix("method."): value for axis, value in point.items() if axis.startswith("method.")}
            data, recipe = str(point["data"]), str(point["recipe"])  # names, also where yaml reads a number
            method, different = _variant(point["method"], tuple(settings.items()))
            cells.append(Cell(data, recipe, method, point["K"], point["seed"], different, self.tag))
        return cells


@dataclass(frozen=True)
class Study:
    """Cells, the probes that run on them, and the name under which they are reported.

    Args:
        name: also its folder in ``outputs/studies``.
        title: for people.
        blocks: the grid.
        probes: names in ``conf/diagnostic``.
        settings: of these probes, where they are not those of ``conf/diagnostic``: probe to setting to value.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    probes: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_config(cls, study: DictConfig) -> "Study":
        """The study that ``conf/study/NAME.yaml`` describes; refuses what no grid can be, before any work.

        >>> settings = {"name": "toy", "data": "synthetic", "recipe": "smoke", "grid": [{"method": ["soft"], "seed": "range(2)"}]}
        >>> [str(cell) for cell in Study.from_config(OmegaConf.create(settings)).cells()]
        ['soft K=all seed=0', 'soft K=all seed=1']
        """
        settings: Any = OmegaConf.to_container(study, resolve=True)
        name = settings.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError(f"study.name must be made of letters, digits, '_', '.', '+' and '-', got {name!r}")
        if not settings.get("grid"):
            raise InputError(
                f"study {name!r} has an empty grid: expected a list such as [{{method: [soft, sls], seed: range(5)}}]"
            )
        common = {axis: settings[axis] for axis in AXES if settings.get(axis) is not None}
        for axis in (axis for axis in common if all(axis in block for block in settings["grid"])):
            own = ", ".join(map(str, dict.fromkeys(_flat(block[axis] for block in settings["grid"]))))
            raise InputError(
                f"study.{axis}={common[axis]} would change nothing: every entry of the grid of study {name!r} "
                f"has a {axis} of its own ({own})"
            )
        blocks = tuple(_block(name, {**common, **block}, settings.get("tag")) for block in settings["grid"])
        probed = settings.get("settings") or {}
        if not isinstance(probed, dict) or not all(isinstance(entry, dict) for entry in probed.values()):
            raise InputError(
                f"study {name!r}: settings must be those of probes, such as {{hessian: {{items: 500}}}}, got {probed!r}"
            )
        return cls(name, settings.get("title") or name, blocks, tuple(settings.get("probes") or ()), probed)

    def cells(self) -> list[Cell]:
        """Every cell once, in the order of the grid."""
        return list(dict.fromkeys(cell for block in self.blocks for cell in block.cells()))


def _block(study: str, entry: dict[str, Any], tag: str | None) -> Block:
    axes = {axis: _values(f"study {study!r}, {axis}", entry.get(axis)) for axis in AXES}
    if not axes["method"] or axes["method"] == [None]:
        raise InputError(f"study {study!r}: every entry of the grid needs a method, got {entry}")
    axes["seed"] = [0] if axes["seed"] == [None] else axes["seed"]
    settings = {key: value for key, value in entry.items() if key not in AXES}
    for key in settings:
        if not key.startswith("method."):
            raise InputError(f"study {study!r}: a grid's axes are {', '.join(AXES)} and method.SETTING, got {key!r}")
    for k in axes["K"]:
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise InputError(f"study {study!r}: K must be a number of votes of at least 1, or null for all, got {k!r}")
    variants = {key: _values(f"study {study!r}, {key}", value) for key, value in settings.items()}
    order = ("data", "recipe", "method")
    return Block(
        {**{axis: axes[axis] for axis in order}, **variants, **{axis: axes[axis] for axis in AXES if axis not in order}}, tag
    )


def _flat(values: Iterable[Any]) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def _values(where: str, value: Any) -> list[Any]:
    if isinstance(value, str) and (match := RANGE.fullmatch(value)):
        first, second = match.groups()
        return list(range(int(first))) if second is None else list(range(int(first), int(second)))
    values = value if isinstance(value, list) else [value]
    if not values or any(isinstance(entry, (list, dict)) for entry in values):
        raise InputError(f"{where}: expected a value, a list of values or range(n), got {value!r}")
    return values


def _sweep(values: list[Any]) -> str:
    if len(values) > 2 and all(isinstance(value, int) for value in values) and values == list(range(values[0], values[-1] + 1)):
        return f"range({values[-1] + 1})" if values[0] == 0 else f"range({values[0]},{values[-1] + 1})"
    return ",".join("null" if value is None else str(value) for value in values)


def quoted(word: str) -> str:
    """An argument as a person types it in a shell.

    >>> quoted("seed=range(3)"), quoted("method=soft,sls")
    ("'seed=range(3)'", 'method=soft,sls')
    """
    return shlex.quote(word)


def _method(name: Any) -> Any:
    if not isinstance(name, str) or name not in methods():
        raise InputError(f"method must be one of {', '.join(methods())}, got {name!r}")
    return methods()[name]


@lru_cache(typed=True)
def _variant(name: Any, settings: Settings) -> NamedMethod:
    """The method with those of these settings that differ from its yaml: thousands of cells share a dozen of them."""
    return named_method({"name": name, **_method(name), **dict(settings)})
