"""Settings that would change a run's result without a trace in its folder's name: found, and refused where there is no tag."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any

from hydra import initialize_config_dir
from hydra.conf import HydraConf
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.data import OWN
from hardlabels.runs.identity import leaves_the_result_alone, settings
from hardlabels.runs.method import name_method

NAMED = ("data", "recipe", "method")
"""The groups whose names are in the folder's."""

TAKES = {
    "resnet18": "images",
    "mlp": "vectors",
    "text_head": "texts",
    "text_finetune": "texts",
    "image_head": "images",
    "image_finetune": "images",
}
"""A network to the items that it takes. Another one than the recipe's is no hidden change where the recipe's own would refuse the
data."""

MOST_NAMED = 6
ABSENT = object()


def refuse_hidden_changes(cfg: DictConfig, hydra: HydraConf | None) -> None:
    """Ask for a tag when a run would look like another one that was trained differently.

    Args:
        cfg: the cell's configuration.
        hydra: Hydra's own part of it, which says what was chosen from where; None: composed by hand, and nothing is asked.
    """
    if not hydra or cfg.run.tag is not None:
        return
    hidden = hidden_changes(cfg, plain_config(cfg, hydra))
    if hidden:
        more = f" and {len(hidden) - MOST_NAMED} more settings" if len(hidden) > MOST_NAMED else ""
        verb = "changes" if len(hidden) == 1 else "change"
        raise InputError(
            f"{', '.join(hidden[:MOST_NAMED])}{more} {verb} the result, and the run's folder would not show it: "
            "add run.tag=NAME, or put the setting in a recipe of its own (conf/recipe/NAME.yaml)"
        )


def hidden_changes(cfg: DictConfig, plain: DictConfig) -> list[str]:
    """The settings in which a run differs from the one that its folder's name promises, though they may change the result.

    The composed configurations are compared, so it does not matter how a setting got there: an override (``x=1``, ``+x=1``,
    ``++x=1``, ``~x``), a yaml of the user's, another choice of a group.

    Args:
        cfg: the run.
        plain: what :func:`plain_config` gives for it.
    """
    now, promised = _by_key(cfg, resolve=True), _by_key(plain, resolve=True)
    own = now.get("data._target_") == OWN == promised.get("data._target_")
    changed = []
    for key in dict.fromkeys([*promised, *now]):
        value = now.get(key, ABSENT)
        if value != promised.get(key, ABSENT) and not _is_shown(key, own) and not leaves_the_result_alone(key, value):
            changed.append(key)
    # model.width is ${recipe.width}: where that was given, it alone is named.
    written, usual = _by_key(cfg, resolve=False), _by_key(plain, resolve=False)
    given = [key for key in changed if written.get(key, ABSENT) != usual.get(key, ABSENT)]
    return [f"{key}={_text(now[key])}" if key in now else f"~{key}" for key in given or changed]


def _is_shown(key: str, own: bool) -> bool:
    """Whether the folder shows a setting; of the user's own files, whether it holds their content against what is there."""
    group = key.partition(".")[0]
    shown = key == "data.name" or group == "method" or (own and group == "data")
    return shown and key not in ("method._target_", "method.delivery")


def plain_config(cfg: DictConfig, hydra: HydraConf) -> DictConfig:
    """The configuration that the names in the run's folder stand for: data set, recipe, method, K, seed, and nothing changed.

    A name that is no choice of its group (``data.name=mine``) stands for the choice that was made (``data=files``).
    """
    choices = hydra.runtime.choices
    sources = [source for source in hydra.runtime.config_sources if source.provider not in ("hydra", "schema")]
    places = tuple(f"{source.schema}://{source.path}" for source in sources)
    names = {group: str(cfg[group].get("name", choices.get(group))) for group in NAMED}
    chosen = {group: name if name in _options(places, group) else choices.get(group) for group, name in names.items()}
    overrides = tuple(f"{group}={name}" for group, name in chosen.items() if name is not None)
    plain = _compose(places, overrides)
    takes, usual = (TAKES.get(str(made.get("model"))) for made in (choices, plain.hydra.runtime.choices))
    if takes not in (None, usual):
        plain = _compose(places, (*overrides, f"model={choices['model']}"))
    plain.K, plain.seed = cfg.K, cfg.seed  # other settings may follow from them
    return plain


@contextmanager
def _loader() -> Iterator[ConfigLoader]:
    """Hydra's loader of configurations: that of the running command, or one of its own where Hydra runs none."""
    running = nullcontext() if GlobalHydra.instance().is_initialized() else initialize_config_dir(str(CONF), version_base="1.3")
    with running:
        yield GlobalHydra.instance().config_loader()


@lru_cache
def _options(places: tuple[str, ...], group: str) -> list[str]:
    with _loader() as loader:
        return loader.get_group_options(group)


@lru_cache
def _compose(places: tuple[str, ...], overrides: tuple[str, ...]) -> DictConfig:
    """Compose a configuration, once: that takes a fifth of a second, and thousands of cells of a grid share a few of them.

    Args:
        places: where the running command looks for configurations (``--config-dir``); another command may look elsewhere.
        overrides: the names.
    """
    with _loader() as loader:
        cfg = loader.load_configuration("train", list(overrides), run_mode=RunMode.RUN)
        return name_method(cfg, cfg.hydra.runtime.choices)


def _by_key(cfg: DictConfig, *, resolve: bool) -> dict[str, Any]:
    parts = {str(name): cfg[name] for name in cfg if name != "hydra"}
    plain = {
        name: OmegaConf.to_container(part, resolve=resolve) if OmegaConf.is_config(part) else part for name, part in parts.items()
    }
    return dict(settings(plain))


def _text(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
