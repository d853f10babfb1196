"""Settings that nothing reads: a run would be trained without them, and its folder would say that it was trained with them."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.identity import settings

BY_CHOICE = {"augment"}
"""Settings of a recipe that none of our own has."""
REFERENCE = re.compile(r"\$\{([\w.]+)\}")


def refuse_unread(cfg: DictConfig) -> None:
    """Refuse a setting of the run itself, of ``run`` or of ``recipe`` that neither we nor another setting (``${...}``) reads.

    The settings of data, method, network, optimizer and trainer are arguments of what they name, which refuses others.

    Raises:
        InputError: its name, the settings that there are, and the one of the same name elsewhere, if there is one.
    """
    written: Any = OmegaConf.to_container(cfg, resolve=False)
    referred = set(_references(written))
    for group, known in _known().items():
        part = written if group == "" else written.get(group)
        for name in part if isinstance(part, Mapping) else ():
            key = f"{group}.{name}" if group else str(name)
            if name not in known and not any(one == key or one.startswith(f"{key}.") for one in referred):
                meant = [other for other, _ in settings(written) if _same_name(other, str(name)) and other != key]
                hint = f": did you mean {meant[0]}?" if meant else f". Expected one of {', '.join(sorted(known))}"
                raise InputError(f"{key} is read by nothing, and would change nothing but the run's identity{hint}")


@lru_cache
def _known() -> dict[str, frozenset[str]]:
    """Group (the empty one is the whole configuration) to the names that its own yaml files have."""
    train = OmegaConf.load(CONF / "train.yaml")
    groups = [str(name) for entry in train.defaults if isinstance(entry, DictConfig) for name in entry]
    whole = {name for name in groups if " " not in name} | {str(name) for name in train if name != "defaults"}
    files: list[Any] = [OmegaConf.load(path) for path in sorted((CONF / "recipe").glob("*.yaml"))]
    recipe = {str(name) for file in files for name in file.get("recipe", file) if name != "defaults"}
    return {"": frozenset(whole), "run": frozenset(map(str, train.run)), "recipe": frozenset(recipe | BY_CHOICE)}


def _references(value: Any) -> Iterator[str]:
    """The keys that settings refer to: ``model.width`` is ``${recipe.width}``."""
    if isinstance(value, str):
        yield from REFERENCE.findall(value)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _references(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _references(entry)


def _same_name(key: str, name: str) -> bool:
    return key.rpartition(".")[2].lower() == name.lower() and not key.startswith("hydra")
