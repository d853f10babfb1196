"""What to type to get what is missing."""

from collections.abc import Iterable
from typing import Any

from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.runs.cell import Cell
from hardlabels.runs.study import Block, Study


def train_commands(cells: Iterable[Cell]) -> list[str]:
    """The lines that train these cells: those that make a product are one line.

    >>> cells = [Cell("cifar10h", "paper", method, 5, seed) for method in ("sls", "multipass") for seed in range(5)]
    >>> train_commands(cells)
    ["python -m hardlabels.train -m data=cifar10h recipe=paper method=sls,multipass K=5 'seed=range(5)'"]
    >>> train_commands([Cell("cifar10h", "pocket,tag=wide", "sls,hold=5", None, 3)])
    ['python -m hardlabels.train -m data=cifar10h recipe=pocket method=sls method.hold=5 K=null seed=3 run.tag=wide']
    """
    seeds: dict[tuple[str, str, str, int | None], list[int]] = {}
    for cell in dict.fromkeys(cells):
        seeds.setdefault((cell.data, cell.recipe, cell.method, cell.K), []).append(cell.seed)
    # First the K that share their seeds, then the methods that share both.
    by_votes: dict[tuple[Any, ...], list[int | None]] = {}
    for (data, recipe, method, k), found in seeds.items():
        by_votes.setdefault((data, recipe, method, tuple(sorted(found))), []).append(k)
    by_method: dict[tuple[Any, ...], list[str]] = {}
    for (data, recipe, method, found), ks in by_votes.items():
        name, *settings = method.split(",")
        by_method.setdefault((data, recipe, tuple(settings), tuple(ks), found), []).append(name)
    return [line for key, names in by_method.items() for line in Study("", "", (_block(key, names),)).commands()]


def which_runs(cells: Iterable[Cell]) -> str:
    """The methods and votes of these cells, for people.

    >>> which_runs([Cell("d", "r", "soft", None, 0), Cell("d", "r", "sls", 5, 0), Cell("d", "r", "sls", 10, 0)])
    'soft with all votes; sls with K = 5, 10'
    """
    votes: dict[str, dict[str, None]] = {}
    for cell in cells:
        votes.setdefault(cell.method, {})["all" if cell.K is None else str(cell.K)] = None
    methods: dict[tuple[str, ...], list[str]] = {}
    for method, ks in votes.items():
        methods.setdefault(tuple(ks), []).append(method)
    words = {ks: "all votes" if ks == ("all",) else f"K = {', '.join(ks)}" for ks in methods}
    return "; ".join(f"{', '.join(found)} with {words[ks]}" for ks, found in methods.items())


def _block(key: tuple[Any, ...], names: list[str]) -> Block:
    data, recipe, settings, ks, seeds = key
    recipe, _, tag = recipe.partition(",tag=")
    variant = {f"method.{name}": [value] for name, _, value in (setting.partition("=") for setting in settings)}
    axes = {"data": [data], "recipe": [recipe], "method": names, **variant, "K": list(ks), "seed": list(seeds)}
    return Block(axes, tag or None)


def probe_command(study: str, data: str, recipe: str, probe: str) -> str:
    """The line that measures a probe on the finished runs of a study.

    >>> probe_command("main", "cifar10h", "paper", "hessian")
    'python -m hardlabels.diagnose study=main probe=hessian'
    >>> probe_command("main", "cifar10h", "pocket", "hessian")
    'python -m hardlabels.diagnose study=main study.recipe=pocket probe=hessian'
    """
    path = CONF / "study" / f"{study}.yaml"
    usual: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False) if path.is_file() else {}
    recipe, _, tag = recipe.partition(",tag=")
    wanted = {"data": data, "recipe": recipe, "tag": tag or None}
    changed = [f"study.{key}={value}" for key, value in wanted.items() if usual and value and value not in _own(usual, key)]
    return " ".join([f"python -m hardlabels.diagnose study={study}", *changed, f"probe={probe}"])


def _own(study: dict[str, Any], key: str) -> list[Any]:
    """The values that a study's file has for a key: its own, and those of its grid."""
    values = [part.get(key) for part in (study, *study.get("grid", ()))]
    return [one for value in values for one in (value if isinstance(value, list) else [value])]
