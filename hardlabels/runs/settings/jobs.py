"""The jobs of a multirun: every combination of the values asked for, and the configuration of each, composed once per method."""

import copy
import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, read_write

NUMBERS = ("K=", "seed=")
"""Overrides that change one number of a composed configuration and nothing else."""


def split_numbers(overrides: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The overrides of K and seed, and all others.

    >>> split_numbers(["method=sls", "K=5", "seed=3"])
    (['K=5', 'seed=3'], ('method=sls',))
    """
    numbers = [override for override in overrides if override.startswith(NUMBERS)]
    return numbers, tuple(override for override in overrides if override not in numbers)


@lru_cache
def parsed_number(override: str) -> tuple[str, Any]:
    """The name and the value that an override of K or seed gives.

    >>> parsed_number("K=5"), parsed_number("K=null")
    (('K', 5), ('K', None))
    """
    parsed = OverridesParser.create().parse_override(override)
    return parsed.key_or_group, parsed.value()


def set_numbers(cfg: DictConfig, numbers: Sequence[str]) -> None:
    """Give a composed configuration another K and seed."""
    for number in numbers:
        OmegaConf.update(cfg, *parsed_number(number))


def product_of(overrides: Sequence[Override]) -> list[list[str]]:
    """Every combination of the values of all sweeps, the last one fastest: the overrides of one job each.

    >>> parse = OverridesParser.create().parse_overrides
    >>> product_of(parse(["method=soft,sls", "K=5", "seed=range(2)"]))[1]
    ['method=soft', 'K=5', 'seed=1']
    """
    choices: dict[str, list[str]] = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            choices[key] = [f"{key}={override.get_value_element_as_str()}"]
        elif override.is_discrete_sweep():
            choices[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
        else:
            raise HydraException(f"{override.input_line!r} is a continuous range: a grid needs values, such as {key}=1,2,3")
    return [list(job) for job in itertools.product(*choices.values())]


class ComposedOnce:
    """Hydra's loader of configurations, which keeps what it has composed.

    Composing takes a fifth of a second, a launcher asks for every cell again, and most cells of a grid differ in K and seed only.

    Args:
        loader: Hydra's own. Everything but ``load_sweep_config`` is left to it.
    """

    def __init__(self, loader: ConfigLoader):
        self._loader = loader
        self._kept: dict[tuple[str, ...], DictConfig] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # not there yet while it is unpickled in a launcher's job
            raise AttributeError(name)
        return getattr(self._loader, name)

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """The configuration of one cell, as Hydra's own loader composes it."""
        numbers, others = split_numbers(sweep_overrides)
        if others not in self._kept:
            self._kept[others] = self._loader.load_sweep_config(master_config, list(others))
        cfg = copy.deepcopy(self._kept[others])
        set_numbers(cfg, numbers)
        with read_write(cfg.hydra):
            cfg.hydra.overrides.task = list(sweep_overrides)
        return cfg
