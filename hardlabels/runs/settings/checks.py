"""A cell's whole configuration, checked before any work: refuses impossible numbers and code that must not be called."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF
from hardlabels.delivery import Delivery, methods
from hardlabels.errors import InputError
from hardlabels.guard import MAY_CALL, check_settings, check_target, named_code, targets
from hardlabels.runs.identity import TRAINER
from hardlabels.runs.method import DATAMODULE, Method
from hardlabels.runs.settings.schema import check_types
from hardlabels.runs.settings.unread import refuse_unread
from hardlabels.sources.source import Source

LENGTH = "recipe.epochs says how long a run trains"
ITEMS = "recipe.train_items says how many items it trains on"
SCORED = "all evaluation items are scored once after every epoch"
KEPT = "every run keeps its history and its checkpoints in its folder"
SET_BY_THE_RUN = {
    **dict.fromkeys(("max_epochs", "min_epochs", "max_steps", "min_steps", "max_time", "fast_dev_run"), LENGTH),
    **dict.fromkeys(("limit_train_batches", "overfit_batches"), ITEMS),
    **dict.fromkeys(("limit_val_batches", "val_check_interval", "check_val_every_n_epoch", "num_sanity_val_steps"), SCORED),
    "callbacks": "callbacks.NAME._target_=... adds one",
    **dict.fromkeys(("enable_checkpointing", "barebones", "default_root_dir"), KEPT),
    **dict.fromkeys(("logger", "log_every_n_steps"), "logger=csv, tensorboard or wandb says where a run is shown"),
    **dict.fromkeys(("enable_progress_bar", "enable_model_summary"), "a run has a bar of its own"),
    **dict.fromkeys(
        ("use_distributed_sampler", "sync_batchnorm", "plugins"), "processes share batches and their statistics always"
    ),
}
"""Arguments of Lightning's Trainer that are not the user's, each with what says it instead. All others are passed on."""


def check_config(cfg: DictConfig) -> None:
    """Refuse a configuration that cannot be trained, by the name of the setting: what was expected, what came.

    Needs no torch and loads no data, so that all cells of a grid can be checked before the first one runs. Network and optimizer
    classes are checked when they are made.
    """
    config: Any = OmegaConf.to_container(cfg, resolve=True)
    check_types(config)
    for name in config["trainer"]:
        if name in SET_BY_THE_RUN:
            raise InputError(f"trainer.{name} is set by the run itself: {SET_BY_THE_RUN[name]}")
    check_targets(config)
    check_method(cfg.method, config["seed"])
    check_names(config)
    refuse_unread(cfg)


def check_targets(config: dict[str, Any]) -> None:
    """Every ``_target_`` stands where one may, and the data's and the method's are what they must be."""
    for place in targets({key: value for key, value in config.items() if key != "hydra"}):
        where = place.removesuffix("._target_").split(".")
        if where[:2] == ["recipe", "augment"] and len(where) == 3 and where[2].isdigit():  # one of a list of transforms
            where = where[:2]
        if ".".join(["callbacks", "NAME"] if where[0] == "callbacks" and len(where) == 2 else where) not in MAY_CALL:
            raise InputError(f"{place}: only {', '.join(MAY_CALL)} may name code, and nothing inside of them")
    # By name alone: the classes come with torch, which takes seconds.
    check_target("model._target_", config["model"].get("_target_"))
    check_target("trainer._target_", config["trainer"].get("_target_", TRAINER))
    for name, callback in config["callbacks"].items():
        _expect(isinstance(callback, dict), f"callbacks.{name}", "a group of settings", callback)
        check_target(f"callbacks.{name}._target_", callback.get("_target_"))
    if config["logger"].get("_target_") is None:
        unused = [name for name in config["logger"] if name not in ("_target_", "name")]
        _expect(not unused, "logger._target_", f"there for {', '.join(unused)} (logger=tensorboard or wandb have one)", None)
    else:
        check_target("logger._target_", config["logger"]["_target_"])
    check_target("recipe.optimizer._target_", config["recipe"]["optimizer"].get("_target_"))
    augment = config["recipe"].get("augment")
    for transform in augment if isinstance(augment, list) else [] if augment is None else [augment]:
        _expect(isinstance(transform, dict), "recipe.augment", "a group of settings, or a list of them", transform)
        check_target("recipe.augment._target_", transform.get("_target_"))
    settings = {key: value for key, value in config["data"].items() if key != "_target_"}
    check_settings("data", named_code("data._target_", config["data"].get("_target_"), Source), settings)


def check_names(config: Mapping[str, Any]) -> None:
    """Refuse data and methods of the user that have the name of ours: folders and reports would take them for ours."""
    method, data = Method.from_config(config["method"]), config["data"]
    deliveries = {name: about["delivery"] for name, about in methods().items()}
    named = {"data": (data.get("name"), data.get("_target_"), _sources()), "method": (method.name, method.delivery, deliveries)}
    for group, (name, target, known) in named.items():
        if name in known and known[name] != target and target in known.values():
            raise InputError(f"{group}.name must not be that of another, {group}={name}, which is no {target}, got {name!r}")


@lru_cache
def _sources() -> dict[str, str]:
    """Name to ``_target_`` of the data in ``conf``; read once for all cells of a grid.

    >>> _sources()["lewidi_hs_brexit"]  # its file names it by its defaults: [lewidi, _self_]
    'hardlabels.sources.lewidi.lewidi'
    """
    files: dict[str, Any] = {path.stem: OmegaConf.load(path) for path in (CONF / "data").glob("*.yaml")}

    def target(name: str) -> str:
        own = files[name].get("_target_")
        return str(own) if own is not None else target(next(entry for entry in files[name].defaults if entry in files))

    return {name: target(name) for name in files}


def check_method(method: DictConfig, seed: Any) -> None:
    """The method's settings, by its own constructor: it is built once, for a dozen items."""
    from hardlabels.votes import Votes  # noqa: PLC0415

    chosen = Method.from_config(method)
    key = "method.delivery" if "delivery" in method else "method._target_"
    if chosen.datamodule != DATAMODULE:
        from lightning import LightningDataModule  # noqa: PLC0415 - seconds, which only a datamodule of the user's own costs

        try:
            named_code("method._target_", chosen.datamodule, LightningDataModule)
        except InputError as error:
            raise InputError(f"{error}; a subclass of {Delivery.__module__}.Delivery will do too") from error
    build, settings = named_code(key, chosen.delivery, Delivery), chosen.settings
    check_settings("method", build, settings, ("votes", "seed"))
    # Every annotator votes once per item, so that a method that asks who voted gets an answer.
    labels = [(7 * item + 3 * vote) % 10 for item in range(12) for vote in range(3)]
    votes = Votes.from_labels(labels, range(0, 37, 3), 10, annotators=[0, 1, 2] * 12)
    try:
        build(votes, seed, **settings)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"method {chosen.name!r} refused its settings {settings}: {error}") from error


def _expect(right: bool, key: str, expected: str, value: Any) -> None:
    if not right:
        raise InputError(f"{key} must be {expected}, got {value!r}")
