"""The type and range of each setting, beside its name. What is not listed here is passed on to the code that it is for.

A setting's description is what an error says was expected: ``recipe.epochs must be a whole number 1 .. 2147483647, got 0``.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictStr, ValidationError
from pydantic_core import PydanticCustomError

from hardlabels.errors import InputError

LARGEST = 2**31 - 1
WIDEST, MOST_WORKERS = 4096, 256  # a mistyped number must not fill the memory, or the machine with processes
LONGEST_STRIDE = 3  # of a 3x3 stem; more would leave pixels unseen
UNKNOWN = "unknown_name"
"""The kind of error whose own message says what was expected."""


def _whole(low: int, high: int, more: str = "") -> Any:
    return Field(strict=True, ge=low, le=high, description=f"a whole number {low} .. {high}{more}")


def _known_split(name: Any) -> Any:
    from hardlabels.votes.split import SPLITS  # noqa: PLC0415 - scipy comes with it, and --help need not wait

    if not isinstance(name, str) or name not in SPLITS:
        raise PydanticCustomError(UNKNOWN, "one of {known}", {"known": ", ".join(SPLITS)})
    return name


Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False, description="a finite number greater than 0")]
Group = Annotated[dict[Any, Any], Field(description="a group of settings")]


class Optimizer(BaseModel):
    """``recipe.optimizer``: the settings that most optimizers share. Others are checked by the optimizer itself."""

    partial: Literal[True] = Field(alias="_partial_", description="true")
    lr: Positive = 0.1
    momentum: float = Field(0.0, strict=True, ge=0, lt=1, description="a number in [0, 1)")
    weight_decay: float = Field(0.0, strict=True, ge=0, allow_inf_nan=False, description="a finite number, at least 0")
    nesterov: StrictBool = Field(False, description="true or false")


class Recipe(BaseModel):
    """``recipe``: the training settings."""

    epochs: int = _whole(1, LARGEST)
    batch_size: int = _whole(1, LARGEST)
    width: int = _whole(1, WIDEST)
    stride: Annotated[int, _whole(1, LONGEST_STRIDE)] = 1
    train_items: Annotated[int, Field(strict=True, ge=1, le=LARGEST)] | None = Field(
        None, description=f"a whole number 1 .. {LARGEST} (or null for all)"
    )
    split: Annotated[Any, AfterValidator(_known_split)] = Field(description="the name of a split")
    optimizer: Optimizer = Field(description="a group of settings")


class TrainerArguments(BaseModel):
    """``trainer``: those arguments of Lightning's Trainer that it takes in more ways than can be meant here."""

    precision: Literal["32-true", "16-mixed", "bf16-mixed"] | None = Field(
        None, description="one of 32-true, 16-mixed, bf16-mixed (batches are made in 32 bits)"
    )
    gradient_clip_val: Positive | None = Field(None, description="a finite number greater than 0")
    accumulate_grad_batches: Annotated[int, _whole(1, LARGEST)] = 1


class Network(BaseModel):
    """``model``: what every network of ours may have."""

    width: Annotated[int, _whole(1, WIDEST)] = 1
    head_epochs: Annotated[int, _whole(0, LARGEST)] = 0
    compile: StrictBool | StrictStr = Field(False, description="true, false or the name of a backend")


class RunSettings(BaseModel):
    """The whole configuration of a run. Groups without a class are checked by the code that is built from them."""

    data: Group
    method: Group
    callbacks: Group
    logger: Group
    run: Group
    outputs: StrictStr = Field(min_length=1, description="the name of a folder")
    workers: int = _whole(0, MOST_WORKERS)
    trainer: TrainerArguments = Field(description="a group of settings")
    recipe: Recipe = Field(description="a group of settings")
    model: Network = Field(description="a group of settings")


def check_types(config: dict[str, Any]) -> None:
    """Refuse the first setting that is not of its type or out of its range.

    Args:
        config: the whole configuration, as plain values.

    >>> check_types({"data": {}, "method": {}, "callbacks": {}, "logger": {}, "run": {}, "outputs": "outputs", "workers": -1})
    Traceback (most recent call last):
        ...
    hardlabels.errors.InputError: workers must be a whole number 0 .. 256, got -1
    """
    try:
        RunSettings.model_validate(config)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, expected = _described(first["loc"])
        found = None if first["type"] == "missing" else first["input"]
        raise InputError(f"{key} must be {first['msg'] if first['type'] == UNKNOWN else expected}, got {found!r}") from error


def _described(place: tuple[int | str, ...]) -> tuple[str, str]:
    """The dotted key of a setting and what it must be. A place may go on below the setting, as that of a union does."""
    model: Any = RunSettings
    names, expected = [], ""
    for word in map(str, place):
        fields = {field.alias or name: field for name, field in model.model_fields.items()} if model is not None else {}
        if word not in fields:
            break
        names.append(word)
        expected = fields[word].description or ""
        kind = fields[word].annotation
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return ".".join(names), expected
