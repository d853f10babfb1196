"""From a data configuration to its source. Without torch (but for an encoder of the user's): reports look at the data too."""

import os
from contextlib import nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf

from hardlabels.console import silent
from hardlabels.guard import build
from hardlabels.sources.source import Source

OWN = "hardlabels.sources.files.files"
SAID_BEFORE = "HARDLABELS_SAID_BEFORE"


@lru_cache(maxsize=2)
def load_source(data: str) -> Source:
    """The source that a (resolved, yaml) data configuration names. Cells of one process share it: it is loaded once.

    Readers say how they understood a file. In a process that another one of ours started after it had read the same files
    (``SAID_BEFORE`` is in its environment) they do not say so again.
    """
    settings: Any = OmegaConf.to_container(OmegaConf.create(data))
    with silent() if SAID_BEFORE in os.environ else nullcontext():
        return build("data", settings, Source)


class Content(NamedTuple):
    """What a run was trained on, by digests.

    Attributes:
        data: of the items and votes.
        encoder: of the frozen encoder's weights; None where there is none.
    """

    data: str
    encoder: str | None = None


def write_content(data: str, encoder: str | None) -> str:
    """Both digests in one word, as ``fingerprint.json`` has them.

    >>> write_content("25b3", None), write_content("25b3", "7f01")
    ('25b3', '25b3+7f01')
    """
    return data if encoder is None else f"{data}+{encoder}"


def read_content(text: str) -> Content:
    """The inverse of :func:`write_content`.

    >>> read_content("25b3+7f01"), read_content("25b3")
    (Content(data='25b3', encoder='7f01'), Content(data='25b3', encoder=None))
    """
    data, _, encoder = text.partition("+")
    return Content(data, encoder or None)


def content_of_own_files(cfg: DictConfig) -> str | None:
    """The fingerprint of the user's own files, which may have changed under the same name: data, and the weights of an encoder.

    None for all other data and encoders. Asked before a run is skipped as finished, and before the first cell of a grid: what is
    wrong with the files is said once.
    """
    encoder = own_encoder(cfg.model)
    if cfg.data.get("_target_") != OWN and encoder is None:
        return None
    data = load_source(OmegaConf.to_yaml(cfg.data, resolve=True)).fingerprint
    return write_content(data, encoder)


def own_encoder(model: DictConfig) -> str | None:
    """The digest of an encoder that is in files of the user's: ``model.weights``, or a folder as ``model.encoder``. Else None."""
    if model.get("weights") is None and not _is_folder(model.get("encoder")):
        return None
    return identify_encoder(model)


def identify_encoder(model: DictConfig) -> str | None:
    """The digest of a network's encoder, which is loaded for it; None where it has none."""
    from hardlabels.learning.networks import network_class  # noqa: PLC0415 - torch, which only an encoder needs here

    settings: Any = OmegaConf.to_container(model, resolve=True)
    identify = getattr(network_class(settings), "identify", None)
    return None if identify is None else identify(settings)


def _is_folder(name: Any) -> bool:
    with suppress(OSError, RuntimeError, ValueError):  # too long for a file, the home of nobody, a zero byte: no folder
        return isinstance(name, str) and Path(name).expanduser().is_dir()
    return False
