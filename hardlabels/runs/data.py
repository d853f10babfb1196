"""From a data configuration to its source. Without torch: reports look at the data too."""

from functools import lru_cache
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.runs.targets import source_function
from hardlabels.sources.source import Source

OWN = "hardlabels.sources.files.files"


@lru_cache(maxsize=2)
def load_source(data: str) -> Source:
    """The source that a (resolved, yaml) data configuration names. Cells of one process share it: it is loaded once."""
    settings: Any = OmegaConf.to_container(OmegaConf.create(data))
    # Not Hydra's instantiate: it would wrap the source's own error message in one of its own.
    return source_function(settings.pop("_target_"))(**settings)


def own_content(cfg: DictConfig) -> str | None:
    """The fingerprint of the user's own files, which may have changed under the same name; None for all other data.

    Asked before a run is skipped as finished, and before the first cell of a grid: what is wrong with the files is said once.
    """
    if cfg.data.get("_target_") != OWN:
        return None
    return load_source(OmegaConf.to_yaml(cfg.data, resolve=True)).fingerprint
