"""What a configuration may call: ``_target_`` names code, so it is checked before that code is called.

A configuration may come from somebody else. Importing the module that it names is unavoidable (people write methods of their
own); calling what is not a method, a source, a network or an optimizer is not.
"""

import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from hardlabels.errors import InputError

if TYPE_CHECKING:  # torch is loaded when a network or an optimizer is asked for
    import torch

    from hardlabels.delivery import Delivery
    from hardlabels.sources.source import Source

MAY_CALL = ("data", "method", "model", "recipe.optimizer")
"""The places of a configuration that name code; each has a function below that says what it must be."""

DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def locate(key: str, target: Any) -> Any:
    """What a dotted name stands for; refuses what is in Python's own library without importing it.

    >>> locate("method._target_", "hardlabels.delivery.sls.SLS").__name__
    'SLS'
    >>> locate("method._target_", "os.system")
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: method._target_ must not be in Python's standard library, got 'os.system'
    """
    module, *path = check_target(key, target).split(".")
    try:
        found: Any = import_module(module)
        for part in path:
            module = f"{module}.{part}"
            found = getattr(found, part) if hasattr(found, part) else import_module(module)
    except ImportError as error:
        raise InputError(f"{key} must be a name that can be imported, got {target!r}: {error}") from error
    return found


def check_target(key: str, target: Any) -> str:
    """A dotted name outside of Python's standard library; nothing is imported."""
    if not isinstance(target, str) or not DOTTED.fullmatch(target):
        raise InputError(f"{key} must be a name such as package.module.Class, got {target!r}")
    if target.split(".")[0] in sys.stdlib_module_names:
        raise InputError(f"{key} must not be in Python's standard library, got {target!r}")
    return target


def delivery_class(target: Any, key: str = "method._target_") -> "type[Delivery]":
    """A delivery method's class.

    >>> delivery_class("hardlabels.delivery.soft.Soft").__name__
    'Soft'
    """
    from hardlabels.delivery import Delivery  # noqa: PLC0415 - scipy comes with it, and --help need not wait

    return _subclass(key, target, Delivery)


def network_class(target: Any, key: str = "model._target_") -> "type[torch.nn.Module]":
    """A network's class."""
    from torch import nn  # noqa: PLC0415

    return _subclass(key, target, nn.Module)


def optimizer_class(target: Any, key: str = "recipe.optimizer._target_") -> "type[torch.optim.Optimizer]":
    """An optimizer's class."""
    from torch.optim import Optimizer  # noqa: PLC0415

    return _subclass(key, target, Optimizer)


def source_function(target: Any, key: str = "data._target_") -> "Callable[..., Source]":
    """A function that returns a :class:`Source`, and says so: ``def mine(...) -> Source``.

    >>> source_function("hardlabels.sources.synthetic.synthetic").__name__
    'synthetic'
    """
    from hardlabels.sources.source import Source  # noqa: PLC0415

    found = locate(key, target)
    if not inspect.isfunction(found) or not _returns(found, Source):
        raise InputError(
            f"{key} must be a function that is declared to return a Source (def name(...) -> Source), got {target!r}"
        )
    return found


def probe_function(target: Any, key: str = "_target_") -> Callable[..., Iterator[Any]]:
    """A probe: a generator function, which yields names and values."""
    found = locate(key, target)
    if not inspect.isgeneratorfunction(found):
        raise InputError(f"{key} must be a function that yields (name, value), got {target!r}")
    return found


def check_settings(key: str, function: Callable[..., Any], settings: Mapping[str, Any], given: tuple[str, ...] = ()) -> None:
    """Hold settings against the signature of what they will be passed to: names, and the types of plain numbers and texts.

    Args:
        key: where the settings stand in the configuration.
        function: what they are for.
        settings: by name.
        given: names of further arguments that the caller passes.

    >>> from hardlabels.delivery.sls import SLS
    >>> check_settings("method", SLS, {"hold": 5}, ("votes", "seed"))
    >>> check_settings("method", SLS, {"hold": "long"}, ("votes", "seed"))
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: method.hold must be a whole number, got 'long'
    """
    parameters = _parameters(function)
    known = [name for name, p in parameters.items() if name not in given and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name, value in settings.items():
        if name not in known and not anything:
            raise InputError(f"{key}.{name} is no setting of {function.__name__}: expected one of {', '.join(known) or 'none'}")
        if name in known:
            _check_type(f"{key}.{name}", value, parameters[name].annotation)
    for name in known:
        if parameters[name].default is inspect.Parameter.empty and name not in settings:
            raise InputError(f"{key}.{name} is needed by {function.__name__}, got {', '.join(settings) or 'no settings'}")


def targets(config: Any, key: str = "") -> Iterator[str]:
    """The places in a configuration (plain dicts and lists) that name something to call.

    >>> list(targets({"method": {"_target_": "a.b", "x": [{"_target_": "c.d"}]}}))
    ['method._target_', 'method.x.0._target_']
    """
    entries = config.items() if isinstance(config, dict) else enumerate(config) if isinstance(config, list) else ()
    for name, value in entries:
        place = f"{key}.{name}" if key else str(name)
        if name == "_target_":
            yield place
        yield from targets(value, place)


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function, eval_str=True).parameters
    except NameError:  # annotations that are only there for type checkers
        return inspect.signature(function).parameters


def _subclass(key: str, target: Any, base: type) -> Any:
    found = locate(key, target)
    if not inspect.isclass(found) or not issubclass(found, base):
        raise InputError(f"{key} must be a subclass of {base.__module__}.{base.__qualname__}, got {target!r}")
    return found


def _returns(function: Callable[..., Any], kind: type) -> bool:
    try:
        answer = get_type_hints(function).get("return")
    except (NameError, TypeError):
        answer = function.__annotations__.get("return")
    return answer == kind.__name__ or (inspect.isclass(answer) and issubclass(answer, kind))


def _check_type(key: str, value: Any, annotation: Any) -> None:
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    answers = [_is_a(value, kind) for kind in kinds]
    if not any(right for right, _ in answers):
        raise InputError(f"{key} must be {' or '.join(dict.fromkeys(name for _, name in answers))}, got {value!r}")


def _is_a(value: Any, kind: Any) -> tuple[bool, str]:
    """Whether a value of a configuration can be of this type, and the type in words; a type that yaml has no word for can be."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    answers: dict[Any, tuple[bool, str]] = {
        int: (whole, "a whole number"),
        float: (whole or (isinstance(value, float) and not math.isnan(value)), "a number"),
        bool: (isinstance(value, bool), "true or false"),
        str: (isinstance(value, str), "a text"),
        os.PathLike[str]: (isinstance(value, str), "a text"),
        NoneType: (value is None, "null"),
        Sequence[str]: (isinstance(value, list) and all(isinstance(entry, str) for entry in value), "a list of texts"),
    }
    return answers.get(kind, (True, ""))
