"""From a data configuration to its source. Without torch: reports look at the data too."""

from functools import lru_cache
from typing import Any

from omegaconf import OmegaConf

from hardlabels.runs.targets import source_function
from hardlabels.sources.source import Source


@lru_cache(maxsize=2)
def load_source(data: str) -> Source:
    """The source that a (resolved, yaml) data configuration names. Cells of one process share it: it is loaded once."""
    settings: Any = OmegaConf.to_container(OmegaConf.create(data))
    # Not Hydra's instantiate: it would wrap the source's own error message in one of its own.
    return source_function(settings.pop("_target_"))(**settings)
