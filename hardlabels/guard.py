"""What a configuration may call: ``_target_`` names code, so it is checked before that code is called.

A configuration may come from somebody else. Importing the module that it names is unavoidable (people write methods of their
own); calling what is not a method, a source, a network, an optimizer, a callback or a logger is not. Nothing else in the package
looks names up.
"""

import functools
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hardlabels.errors import InputError

MAY_CALL = ("data", "method", "model", "recipe.optimizer", "recipe.augment", "logger", "trainer", "callbacks.NAME")
"""The places of a configuration that name code to call."""

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


def named_code(key: str, target: Any, kind: type) -> Callable[..., Any]:
    """What a configuration may call at this place: a class of this kind, or a function that is declared to return one.

    Args:
        key: where the name stands in the configuration.
        target: the dotted name.
        kind: the base class, such as ``torch.nn.Module``; or what the function must say that it returns.

    >>> from hardlabels.delivery.base import Delivery
    >>> named_code("method.delivery", "hardlabels.delivery.soft.Soft", Delivery).__name__
    'Soft'
    >>> from hardlabels.sources.source import Source
    >>> named_code("data._target_", "hardlabels.sources.synthetic.synthetic", Source).__name__
    'synthetic'
    """
    found = locate(key, target)
    if inspect.isclass(found) and issubclass(found, kind):
        return found
    if inspect.isfunction(found) and _returns(found, kind):
        return found
    what = f"a subclass of {kind.__module__}.{kind.__qualname__}"
    declared = f"a function that is declared to return a {kind.__name__} (def name(...) -> {kind.__name__})"
    raise InputError(f"{key} must be {what}, or {declared}, got {target!r}")


def build(key: str, config: Mapping[str, Any], kind: type, late: Mapping[str, Any] | None = None) -> Any:
    """What ``hydra.utils.instantiate`` makes of a configuration, once it is known that it may: one line where it cannot.

    Args:
        key: where it stands in the whole configuration.
        config: ``_target_`` and settings, plain values; with ``_partial_: true`` a function that still waits for arguments.
        kind: what ``_target_`` must be: see :func:`named_code`.
        late: arguments that only the run knows. Each is passed where the constructor requires it and no setting gives it.

    >>> from hardlabels import Votes
    >>> from hardlabels.delivery.base import Delivery
    >>> waiting = build("method", {"_target_": "hardlabels.delivery.sls.SLS", "_partial_": True, "hold": 5}, Delivery)
    >>> waiting(Votes.from_counts([[3, 2]]), seed=0).hold
    5
    """
    from hydra.utils import instantiate  # noqa: PLC0415 - Hydra is slow to load, and who only delivers labels need not wait

    function = named_code(f"{key}._target_", config.get("_target_"), kind)
    settings = {name: value for name, value in config.items() if name not in ("_target_", "_partial_")}
    partial = config.get("_partial_") is True
    passed = {name: value for name, value in (late or {}).items() if name in required(function) and name not in settings}
    check_settings(key, function, settings, tuple(passed), partial=partial)
    # As a partial that we call: what only the run knows is no plain value, and what a constructor raises stays what it is.
    waiting = instantiate({**config, "_partial_": True, "_convert_": "all", "_recursive_": False})
    return functools.partial(waiting, **passed) if partial else waiting(**passed)


def required(function: Callable[..., Any]) -> list[str]:
    """The arguments that a function cannot do without.

    >>> required(named_code)
    ['key', 'target', 'kind']
    """
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = _parameters(function).values()
    return [p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind not in kinds]


def probe_function(target: Any, key: str = "_target_") -> Callable[..., Iterator[Any]]:
    """A probe: a generator function, which yields names and values."""
    found = locate(key, target)
    if not inspect.isgeneratorfunction(found):
        raise InputError(f"{key} must be a function that yields (name, value), got {target!r}")
    return found


def check_settings(
    key: str, function: Callable[..., Any], settings: Mapping[str, Any], given: tuple[str, ...] = (), *, partial: bool = False
) -> None:
    """Hold settings against the signature of what they will be passed to: names, and the types of plain numbers and texts.

    Args:
        key: where the settings stand in the configuration.
        function: what they are for.
        settings: by name.
        given: names of further arguments that the caller passes.
        partial: whether others may pass further arguments later.

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
            expected = f"expected one of {', '.join(known)}" if known else f"it has none, and ~{key}.{name} takes this one out"
            raise InputError(f"{key}.{name} is no setting of {function.__name__}: {expected}")
        if name in known:
            _check_type(f"{key}.{name}", value, parameters[name].annotation)
    for name in () if partial else known:
        if parameters[name].default is inspect.Parameter.empty and name not in settings:
            raise InputError(f"{key}.{name} is needed by {function.__name__}, got {', '.join(settings) or 'no settings'}")


@contextmanager
def refusals_of(key: str) -> Iterator[None]:
    """Where settings are passed to somebody else's constructor: what it refuses is the user's mistake, in one line.

    >>> with refusals_of("trainer"):
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
