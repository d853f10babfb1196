"""The method in a configuration: its name, the class that delivers, its settings. One owner of how they are written there.

``conf/method/sls.yaml`` builds a LightningDataModule that delivers by a class; the file's name is the method's. Configurations of
the first version had ``name``, and the class itself as ``_target_``; so do the records of runs, whose fingerprints must stay.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from hardlabels.delivery import Delivery, library, methods
from hardlabels.guard import locate

DATAMODULE = "hardlabels.learning.datamodule.DeliveryDataModule"
NO_SETTINGS = ("name", *library.NO_SETTINGS)


@dataclass(frozen=True)
class Method:
    """A method as a value.

    Args:
        name: of its yaml.
        datamodule: dotted name of the LightningDataModule.
        delivery: dotted name of the class that delivers.
        settings: of that class, such as {"hold": 5}.
    """

    name: Any
    datamodule: Any
    delivery: Any
    settings: dict[str, Any]

    @classmethod
    def from_config(cls, config: DictConfig | Mapping[str, Any]) -> "Method":
        """The method that ``cfg.method`` describes, in the words of this version or of the first.

        >>> Method.from_config({"name": "sls", "_target_": "hardlabels.delivery.sls.SLS", "hold": 5}).settings
        {'hold': 5}
        """
        plain: Any = OmegaConf.to_container(config, resolve=True) if isinstance(config, DictConfig) else config
        settings = {key: value for key, value in plain.items() if key not in NO_SETTINGS}
        datamodule, delivery = plain.get("_target_"), plain.get("delivery")
        if delivery is None or (datamodule != DATAMODULE and _delivers(datamodule)):
            datamodule, delivery = DATAMODULE, datamodule
        name = plain["name"] if "name" in plain else _likely_name(delivery, settings)
        return cls(name, datamodule, delivery, settings)

    @property
    def config(self) -> dict[str, Any]:
        """What Hydra builds the datamodule from."""
        return {"_target_": self.datamodule, "_partial_": True, "delivery": self.delivery, **self.settings}

    @property
    def recorded(self) -> dict[str, Any]:
        """The method as fingerprints have it: they are older than the datamodule's place in the configuration.

        >>> Method("sls", DATAMODULE, "hardlabels.delivery.sls.SLS", {"hold": 1}).recorded
        {'name': 'sls', '_target_': 'hardlabels.delivery.sls.SLS', 'hold': 1}
        """
        other = {} if self.datamodule == DATAMODULE else {"datamodule": self.datamodule}
        return {"name": self.name, "_target_": self.delivery, **other, **self.settings}


def name_method(cfg: DictConfig, choices: Mapping[str, Any]) -> DictConfig:
    """Write the method's name, which is the choice that Hydra made, into a composed configuration.

    Args:
        cfg: is changed.
        choices: ``hydra.runtime.choices``.
    """
    if isinstance(cfg.method, DictConfig) and "name" not in cfg.method and choices.get("method") is not None:
        with open_dict(cfg.method):
            cfg.method.name = choices["method"]
    return cfg


def _delivers(target: Any) -> bool:
    """Whether a ``_target_`` that is not ours is a class that delivers: ``method=sls method._target_=mine.Method``."""
    found = locate("method._target_", target)
    return inspect.isclass(found) and issubclass(found, Delivery)


def _likely_name(delivery: Any, settings: Mapping[str, Any]) -> str | None:
    """The name of a method whose configuration was composed by hand, without Hydra's choices: the yaml that is nearest to it.

    >>> _likely_name("hardlabels.delivery.multipass.Multipass", {"seed_offset": 1000})
    'deterministic_control'
    """
    same = {name: config for name, config in methods().items() if config["delivery"] == delivery}
    module = str(delivery).split(".")[-2:-1]

    def distance(name: str) -> tuple[int, bool]:
        return sum(same[name].get(key) != value for key, value in settings.items()), [name] != module

    return min(same, key=distance, default=None)
