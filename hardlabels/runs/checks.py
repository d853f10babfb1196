"""A cell's whole configuration, checked before any work: a number that cannot be, code that must not be called."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.cell import method_settings
from hardlabels.runs.targets import MAY_CALL, check_settings, check_target, delivery_class, source_function, targets

WIDEST, MOST_WORKERS = 4096, 256  # a mistyped number must not fill the memory, or the machine with processes
LONGEST_STRIDE = 3  # of a 3x3 stem; more would leave pixels unseen
LARGEST = 2**31 - 1


def check_config(cfg: DictConfig) -> None:
    """Refuse a configuration that cannot be trained, by the name of the setting: what was expected, what came.

    Needs no torch and loads no data, so that all cells of a grid can be checked before the first one runs. Network and optimizer
    classes are checked when they are made.
    """
    config: Any = OmegaConf.to_container(cfg, resolve=True)
    for part in ("data", "method", "recipe", "model", "trainer", "logger", "run"):
        _expect(isinstance(config.get(part), dict), part, "a group of settings", config.get(part))
    _expect(isinstance(config["outputs"], str) and config["outputs"] != "", "outputs", "the name of a folder", config["outputs"])
    _whole("workers", config["workers"], 0, MOST_WORKERS)
    check_recipe(config["recipe"])
    check_targets(config)
    check_method(cfg.method, config["seed"])
    if "width" in config["model"]:
        _whole("model.width", config["model"]["width"], 1, WIDEST)
    compiled = config["model"].get("compile", False)
    _expect(isinstance(compiled, (bool, str)), "model.compile", "true, false or the name of a backend", compiled)


def check_recipe(recipe: Mapping[str, Any]) -> None:
    """The training settings, each by its range."""
    from hardlabels.votes.split import SPLITS  # noqa: PLC0415 - scipy comes with it, and --help need not wait

    for name, most in (("epochs", LARGEST), ("batch_size", LARGEST), ("width", WIDEST)):
        _whole(f"recipe.{name}", recipe.get(name), 1, most)
    if "stride" in recipe:
        _whole("recipe.stride", recipe["stride"], 1, LONGEST_STRIDE)
    if recipe.get("train_items") is not None:
        _whole("recipe.train_items", recipe["train_items"], 1, LARGEST, " (or null for all)")
    split = recipe.get("split")
    _expect(isinstance(split, str) and split in SPLITS, "recipe.split", f"one of {', '.join(SPLITS)}", split)
    optimizer = recipe.get("optimizer")
    if not isinstance(optimizer, dict):
        raise InputError(f"recipe.optimizer must be a group of settings, got {optimizer!r}")
    _expect(optimizer.get("_partial_") is True, "recipe.optimizer._partial_", "true", optimizer.get("_partial_"))
    ranges = {
        "lr": (lambda x: 0 < x < math.inf, "a finite number greater than 0"),
        "momentum": (lambda x: 0 <= x < 1, "a number in [0, 1)"),
        "weight_decay": (lambda x: 0 <= x < math.inf, "a finite number, at least 0"),
        "nesterov": (lambda x: True, "true or false"),
    }
    for name, (holds, expected) in ranges.items():
        if name in optimizer:
            value = optimizer[name]
            kind = (
                isinstance(value, bool) if name == "nesterov" else isinstance(value, (int, float)) and not isinstance(value, bool)
            )
            _expect(kind and holds(value), f"recipe.optimizer.{name}", expected, value)


def check_targets(config: dict[str, Any]) -> None:
    """Every ``_target_`` stands where one may, and the data's and the method's are what they must be."""
    for place in targets({key: value for key, value in config.items() if key != "hydra"}):
        if place.removesuffix("._target_") not in MAY_CALL:
            raise InputError(f"{place}: only {', '.join(MAY_CALL)} may name code, and nothing inside of them")
    check_target("model._target_", config["model"].get("_target_"))  # by name: the classes come with torch, which takes seconds
    check_target("recipe.optimizer._target_", config["recipe"]["optimizer"].get("_target_"))
    settings = {key: value for key, value in config["data"].items() if key != "_target_"}
    check_settings("data", source_function(config["data"].get("_target_")), settings)


def check_method(method: DictConfig, seed: Any) -> None:
    """The method's settings, by its own constructor: it is built once, for a dozen items."""
    from hardlabels.votes import Votes  # noqa: PLC0415

    build, settings = delivery_class(method.get("_target_")), method_settings(method)
    check_settings("method", build, settings, ("votes", "seed"))
    # Every annotator once an item, so that a method that asks who voted is answered.
    labels = [(7 * item + 3 * vote) % 10 for item in range(12) for vote in range(3)]
    votes = Votes.from_labels(labels, range(0, 37, 3), 10, annotators=[0, 1, 2] * 12)
    try:
        build(votes, seed, **settings)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"method {method.name!r} refused its settings {settings}: {error}") from error


@contextmanager
def settings_of(key: str) -> Iterator[None]:
    """Where settings are passed to somebody else's constructor: what it refuses is the user's mistake, in one line.

    >>> with settings_of("trainer"):
    ...     int("many")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: the settings of trainer were refused: invalid literal for int() with base 10: 'many'
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        # Lightning's own type is no ValueError; by name, since this module must not load Lightning.
        if isinstance(error, (TypeError, ValueError)) or type(error).__name__ == "MisconfigurationException":
            raise InputError(f"the settings of {key} were refused: {' '.join(str(error).split())[:300]}") from error
        raise


def _whole(key: str, value: Any, low: int, high: int, more: str = "") -> None:
    right = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    _expect(right, key, f"a whole number {low} .. {high}{more}", value)


def _expect(right: bool, key: str, expected: str, value: Any) -> None:
    if not right:
        raise InputError(f"{key} must be {expected}, got {value!r}")
