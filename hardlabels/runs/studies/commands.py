"""What to type to get what is missing of a study."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.runs.cell import Cell
from hardlabels.runs.spelling import ALL_VOTES, NamedMethod, read_recipe, write_votes
from hardlabels.runs.studies.repeat import settings_like
from hardlabels.runs.studies.study import Block, quoted

TRAIN, DIAGNOSE, REPRODUCE = (f"python -m hardlabels.{name}" for name in ("train", "diagnose", "reproduce"))
CHOSEN_BY = ("study.", "outputs=")
"""How the overrides begin that choose which runs a command is about."""


@dataclass(frozen=True)
class Commands:
    """The commands that make what a study lacks on one data set with one recipe.

    Args:
        study: name of the study.
        words: the overrides that chose its runs, as they were typed; None where nobody typed any: they follow from the cells.
        places: folders of runs, which say what a data set of the user's own is, and which settings a tag stands for.
    """

    study: str
    words: Sequence[str] | None = None
    places: Sequence[str | Path] = ()

    def train(self, cells: Iterable[Cell]) -> list[str]:
        """The lines that train these cells: those that make a product are one line.

        >>> cells = [Cell("cifar10h", "paper", method, 5, seed) for method in ("sls", "multipass") for seed in range(5)]
        >>> Commands("main").train(cells)
        ["python -m hardlabels.train -m data=cifar10h recipe=paper method=sls,multipass K=5 'seed=range(5)'"]
        >>> Commands("main", ["outputs=o"]).train([Cell("cifar10h", "pocket", "sls", 9, 3, (("hold", 5),), tag="big")])
        ['python -m hardlabels.train -m data=cifar10h recipe=pocket run.tag=big method=sls method.hold=5 K=9 seed=3 outputs=o']
        """
        tail = [word for word in self.words or () if word.startswith("outputs=")]
        lines = []
        for (data, recipe), axes in _products(cells):
            words = [*settings_like(data, recipe, self.places), *Block(axes).overrides(), *tail]
            lines.append(" ".join([f"{TRAIN} -m", *map(quoted, words)]))
        return lines

    def probe(self, probes: Iterable[str], data: str, recipe: str) -> str:
        """The line that measures probes on the finished runs of the study.

        >>> Commands("main").probe(["hessian"], "cifar10h", "paper")
        'python -m hardlabels.diagnose study=main probe=hessian'
        >>> Commands("main").probe(["hessian", "cka"], "cifar10h", "pocket")
        'python -m hardlabels.diagnose study=main study.recipe=pocket probe=hessian,cka'
        """
        words = choosing(self.study, data, recipe) if self.words is None else self.words
        return " ".join([DIAGNOSE, *map(quoted, [f"study={self.study}", *words]), f"probe={','.join(probes)}"])

    def reproduce(self, data: str, recipe: str, study: str | None = None) -> str:
        """The line that runs the whole study; or another one, on the same data set with the same recipe.

        >>> Commands("main", ["study.data=mine", "outputs=o"]).reproduce("mine", "paper", "sparse")
        'python -m hardlabels.reproduce study=sparse study.data=mine outputs=o'
        """
        if study is None or study == self.study:
            words = choosing(self.study, data, recipe) if self.words is None else self.words
        else:
            words = [*choosing(study, data, recipe), *(word for word in self.words or () if word.startswith("outputs="))]
        return " ".join([REPRODUCE, *map(quoted, [f"study={study or self.study}", *words])])


def choosing(study: str, data: str, recipe: str) -> list[str]:
    """The overrides with which a study is about this data set and recipe: those that its file does not have.

    >>> choosing("main", "cifar10h", "paper"), choosing("main", "mine", "pocket,tag=wide")
    ([], ['study.data=mine', 'study.recipe=pocket', 'study.tag=wide'])
    """
    usual = _study_file(study)
    name, tag = read_recipe(recipe)
    wanted = {"data": data, "recipe": name, "tag": tag}
    return [f"study.{key}={value}" for key, value in wanted.items() if usual and value and value not in _own(usual, key)]


def command_about(command: str, study: str, cells: Iterable[Cell], words: Sequence[str] = ()) -> str:
    """A command on a study, spelt so that it is about these cells: of one data set with one recipe, whatever the study's grid is.

    Args:
        command: such as ``python -m hardlabels.report``.
        study: name of a study. Another one is named where its data are part of its grid, or its outcomes were written down
            beforehand, which other cells cannot have.
        cells: at least one.
        words: further overrides.

    >>> cells = [Cell("synthetic", "smoke", "sls", 5, seed) for seed in range(3)] + [Cell("synthetic", "smoke", "soft", None, 0)]
    >>> print(command_about("python -m hardlabels.report", "main", cells))  # doctest: +NORMALIZE_WHITESPACE
    python -m hardlabels.report study=main study.data=synthetic study.recipe=smoke
    'study.grid=[{method: [sls], K: [5], seed: "range(3)"}, {method: [soft], K: [null], seed: [0]}]'
    """
    cells = list(cells)
    fits = {"data", "recipe", "tag"} <= (usual := _study_file(study)).keys() and "primary" not in usual
    name = study if fits else "main"
    grid = f"study.grid=[{', '.join(_entry(axes) for _, axes in _products(cells))}]"
    chosen = choosing(name, cells[0].data, cells[0].tagged_recipe)
    return " ".join([command, *map(quoted, [f"study={name}", *chosen, grid, *words])])


def _entry(axes: dict[str, list[Any]]) -> str:
    """An entry of a grid as an override has it; Hydra would read a bare range(3) as a sweep of its own."""
    words = (word.partition("=") for word in Block(axes).overrides())
    values = (f'{axis}: "{value}"' if value.startswith("range(") else f"{axis}: [{value}]" for axis, _, value in words)
    return f"{{{', '.join(values)}}}"


def _study_file(name: str) -> dict[str, Any]:
    """What the file of a study says; empty where there is none."""
    path = CONF / "study" / f"{name}.yaml"
    found: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False) if path.is_file() else {}
    return dict(found)


def which_runs(cells: Iterable[Cell]) -> str:
    """The methods and votes of these cells, for people.

    >>> which_runs([Cell("d", "r", "soft", None, 0), Cell("d", "r", "sls", 5, 0), Cell("d", "r", "sls", 10, 0)])
    'soft with all votes; sls with K = 5, 10'
    """
    votes: dict[str, dict[str, None]] = {}
    for cell in cells:
        votes.setdefault(cell.variant, {})[write_votes(cell.K)] = None
    methods: dict[tuple[str, ...], list[str]] = {}
    for method, ks in votes.items():
        methods.setdefault(tuple(ks), []).append(method)
    words = {ks: "all votes" if ks == (ALL_VOTES,) else f"K = {', '.join(ks)}" for ks in methods}
    return "; ".join(f"{', '.join(found)} with {words[ks]}" for ks, found in methods.items())


def _products(cells: Iterable[Cell]) -> list[tuple[tuple[str, str], dict[str, list[Any]]]]:
    """The cells as products of method, its settings, K and seed: ((data, recipe), axes)."""
    seeds: dict[tuple[str, str, NamedMethod, int | None], list[int]] = {}
    for cell in dict.fromkeys(cells):
        method = NamedMethod(cell.method, cell.settings)
        seeds.setdefault((cell.data, cell.tagged_recipe, method, cell.K), []).append(cell.seed)
    # First the K that share their seeds, then the methods that share both.
    by_votes: dict[tuple[Any, ...], list[int | None]] = {}
    for (data, recipe, method, k), found in seeds.items():
        by_votes.setdefault((data, recipe, method, tuple(sorted(found))), []).append(k)
    by_method: dict[tuple[Any, ...], list[str]] = {}
    for (data, recipe, method, found), ks in by_votes.items():
        by_method.setdefault((data, recipe, method.settings, tuple(ks), found), []).append(method.name)
    products = []
    for (data, recipe, settings, ks, found), names in by_method.items():
        variant = {f"method.{name}": [value] for name, value in settings}
        products.append(((data, recipe), {"method": names, **variant, "K": list(ks), "seed": list(found)}))
    return products


def _own(study: dict[str, Any], key: str) -> list[Any]:
    """The values that a study's file has for a key: its own, and those of its grid."""
    values = [part.get(key) for part in (study, *study.get("grid", ()))]
    return [one for value in values for one in (value if isinstance(value, list) else [value])]
