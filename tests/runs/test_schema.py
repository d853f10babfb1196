"""Every setting that has a type and a range here: what is inside is taken, what is outside is refused by its name."""

from collections.abc import Iterator
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import BaseModel

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.settings.schema import RunSettings, check_types


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("train", ["data=synthetic", "recipe=smoke"]), resolve=True)


def with_setting(config: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    first, _, rest = key.partition(".")
    return {**config, first: with_setting(config[first], rest, value) if rest else value}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recipe.epochs", 1),
        ("recipe.epochs", 2**31 - 1),
        ("recipe.stride", 3),
        ("recipe.train_items", None),
        ("recipe.train_items", 7),
        ("recipe.split", "three_way"),
        ("recipe.optimizer.lr", 1),
        ("recipe.optimizer.lr", 1e-9),
        ("recipe.optimizer.momentum", 0),
        ("recipe.optimizer.weight_decay", 0),
        ("recipe.optimizer.nesterov", True),
        ("recipe.optimizer.betas", [0.9, 0.99]),
        ("trainer.precision", "bf16-mixed"),
        ("trainer.precision", None),
        ("trainer.gradient_clip_val", 0.5),
        ("trainer.devices", "auto"),
        ("model.width", 4096),
        ("model.head_epochs", 0),
        ("model.head_epochs", 3),
        ("model.compile", True),
        ("model.compile", "eager"),
        ("workers", 0),
        ("workers", 256),
    ],
)
def test_what_is_inside_its_range_is_taken(config, key, value):
    check_types(with_setting(config, key, value))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("recipe.epochs", 0, "a whole number 1 .. 2147483647"),
        ("recipe.epochs", True, "a whole number 1 .. 2147483647"),
        ("recipe.epochs", 2.0, "a whole number 1 .. 2147483647"),
        ("recipe.epochs", "2", "a whole number 1 .. 2147483647"),
        ("recipe.epochs", None, "a whole number 1 .. 2147483647"),
        ("recipe.batch_size", 2**31, "a whole number 1 .. 2147483647"),
        ("recipe.width", 5000, "a whole number 1 .. 4096"),
        ("recipe.stride", 4, "a whole number 1 .. 3"),
        ("recipe.train_items", 0, "a whole number 1 .. 2147483647 (or null for all)"),
        ("recipe.split", "halves", "one of paper, three_way"),
        ("recipe.split", 3, "one of paper, three_way"),
        ("recipe.optimizer", 3, "a group of settings"),
        ("recipe.optimizer._partial_", False, "true"),
        ("recipe.optimizer.lr", 0, "a finite number greater than 0"),
        ("recipe.optimizer.lr", float("nan"), "a finite number greater than 0"),
        ("recipe.optimizer.lr", float("inf"), "a finite number greater than 0"),
        ("recipe.optimizer.lr", "0.1", "a finite number greater than 0"),
        ("recipe.optimizer.lr", True, "a finite number greater than 0"),
        ("recipe.optimizer.momentum", 1, "a number in [0, 1)"),
        ("recipe.optimizer.weight_decay", -1, "a finite number, at least 0"),
        ("recipe.optimizer.nesterov", 1, "true or false"),
        ("trainer.precision", "64-true", "one of 32-true, 16-mixed, bf16-mixed (batches are made in 32 bits)"),
        ("trainer.gradient_clip_val", 0, "a finite number greater than 0"),
        ("trainer.accumulate_grad_batches", 0, "a whole number 1 .. 2147483647"),
        ("model.width", 0, "a whole number 1 .. 4096"),
        ("model.head_epochs", 0.5, "a whole number 0 .. 2147483647"),
        ("model.head_epochs", -1, "a whole number 0 .. 2147483647"),
        ("model.head_epochs", True, "a whole number 0 .. 2147483647"),
        ("model.compile", 3, "true, false or the name of a backend"),
        ("model", None, "a group of settings"),
        ("data", "cifar", "a group of settings"),
        ("run", None, "a group of settings"),
        ("workers", -1, "a whole number 0 .. 256"),
        ("outputs", "", "the name of a folder"),
        ("outputs", 3, "the name of a folder"),
    ],
)
def test_what_is_outside_is_refused_by_its_name(config, key, value, expected):
    with pytest.raises(InputError) as refused:
        check_types(with_setting(config, key, value))
    assert str(refused.value) == f"{key} must be {expected}, got {value!r}"


def test_a_setting_that_is_missing_is_named(config):
    recipe = {name: value for name, value in config["recipe"].items() if name != "epochs"}
    with pytest.raises(InputError, match=r"recipe\.epochs must be a whole number .*, got None"):
        check_types({**config, "recipe": recipe})


def fields(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        yield f"{above}{name}", field
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, f"{above}{name}.")


def test_every_setting_says_what_it_must_be():
    assert [key for key, field in fields(RunSettings) if not field.description] == []
