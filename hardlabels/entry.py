"""How every command ends on a mistake: one line, exit code 2, no traceback; also where Hydra is the one who finds it.

``HYDRA_FULL_ERROR=1`` in the environment shows the traceback instead.
"""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from hydra._internal import hydra as hydra_app
from hydra._internal import utils as hydra_utils
from hydra.errors import HydraException, OverrideParseException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from hardlabels.console import complain
from hardlabels.errors import InputError, printable
from hardlabels.runs.targets import locate, targets

MISTAKES = (InputError, HydraException, OmegaConfBaseException, YAMLError, UnicodeError, RecursionError)
"""What is wrong with the input. Composing a configuration raises all but the first."""

LOGGING_CLASS = re.compile(r"(logging|logging\.handlers|colorlog|rich\.logging)\.[A-Z]\w*")


def one_line(error: BaseException) -> str:
    r"""The message of an error, and of what caused it where that says more, as one line.

    >>> one_line(InputError("Could not find 'method/slss'\n\nAvailable options:\n\tsls\n\tsoft"))
    "Could not find 'method/slss' Available options: sls soft"
    """
    text = (str(error) or type(error).__name__).split("\nConfig search path:")[0]  # always the same, and long
    text = re.sub(r"\s*To append to your config use \S+", "", text)  # good advice for a new setting, bad for a misspelt one
    if isinstance(error, OverrideParseException):
        text = f"{error.override!r} is no setting as key=value: {text}"
    if isinstance(error, HydraException) and isinstance(error.__cause__, OmegaConfBaseException):
        text += f" ({error.__cause__})"
    return printable(" ".join(text.split()))


def refuse(error: BaseException) -> NoReturn:
    """End the process as a mistake ends it: one line on standard error, exit code 2."""
    if os.environ.get("HYDRA_FULL_ERROR") == "1":
        traceback.print_exception(error)
    # Our own messages have line ends where they mean them, such as a list of missing files.
    complain(f"error: {error if isinstance(error, InputError) else one_line(error)}")
    sys.exit(2)


def run(launch: Callable[[], Any]) -> None:
    """Call a function that ``hydra.main`` made; a mistake ends in :func:`refuse`, everything else as Hydra ends it.

    Hydra prints its own errors over several lines and exits with 1, the code of a failed run. It does so in one function,
    which is exchanged for the time of the call.
    """
    # The Ray plugin's own schema has the name of our preset; Hydra says so several times a command.
    warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/ray' is validated against")
    with _guarded_hydra():
        try:
            launch()
        except (*MISTAKES, ValueError) as error:  # Hydra's ValueError: contradicting command line flags
            refuse(error)


@contextmanager
def _guarded_hydra() -> Iterator[None]:
    report, compose = hydra_utils.run_and_report, hydra_app.Hydra.compose_config

    def report_mistakes(function: Callable[[], Any]) -> Any:
        def mistakes_first() -> Any:
            try:
                return function()
            except MISTAKES as error:
                refuse(error)

        return report(mistakes_first)

    def compose_checked(self: Any, *arguments: Any, **settings: Any) -> DictConfig:
        try:
            cfg = compose(self, *arguments, **settings)
        except (
            ValueError,
            TypeError,
            AttributeError,
            AssertionError,
        ) as error:  # of what nobody foresaw in a yaml, or an override
            raise InputError(f"the configuration cannot be composed: {one_line(error)}") from error
        refuse_foreign_code(cfg)
        return cfg

    hydra_utils.run_and_report = report_mistakes  # type: ignore[assignment]
    hydra_app.Hydra.compose_config = compose_checked  # type: ignore[method-assign]
    try:
        yield
    finally:
        hydra_utils.run_and_report = report
        hydra_app.Hydra.compose_config = compose  # type: ignore[method-assign]


def refuse_foreign_code(cfg: DictConfig) -> None:
    """Hydra calls what its own part of a configuration names before any of our code runs: hold that to what it is for.

    A yaml in somebody's ``--config-dir`` can write there. Callbacks must be callbacks, loggers must be loggers; launchers and
    sweepers are looked up among the installed plugins by Hydra itself.
    """
    settings: Any = OmegaConf.to_container(cfg.hydra, resolve=False) if cfg.get("hydra") else {}
    for place in targets(settings, "hydra"):
        parts = place.split(".")
        if parts[1] in ("launcher", "sweeper") and len(parts) == 3:
            continue
        name = OmegaConf.select(cfg, place)
        found = locate(place, name) if parts[1] == "callbacks" and len(parts) == 4 else None
        if not isinstance(found, type) or not issubclass(found, Callback):
            raise InputError(f"{place} must be a Hydra callback in hydra.callbacks, got {name!r}")
    for part in ("job_logging", "hydra_logging"):
        for place, name in _called_by_logging(settings.get(part), f"hydra.{part}"):
            if not LOGGING_CLASS.fullmatch(str(name)):
                raise InputError(f"{place} must be a class of Python's logging, got {name!r}")


def _called_by_logging(config: Any, key: str) -> Iterator[tuple[str, Any]]:
    for name, value in config.items() if isinstance(config, dict) else ():
        if name in ("()", "class", "factory"):
            yield f"{key}.{name}", value
        yield from _called_by_logging(value, f"{key}.{name}")
