"""How every command ends on a mistake: one line, exit code 2, no traceback; also where Hydra is the one who finds it.

``HYDRA_FULL_ERROR=1`` in the environment shows the traceback instead.
"""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn

from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError

from hardlabels.configuration import CONF
from hardlabels.console import complain
from hardlabels.errors import InputError, printable
from hardlabels.stopping import ReaderGone

MISTAKES = (InputError, HydraException, OmegaConfBaseException, YAMLError, UnicodeError, RecursionError)
"""What is wrong with the input. Composing a configuration raises all but the first."""

FULL_ERROR = "HYDRA_FULL_ERROR"
SWEEP = re.compile(r"object_type=\w*Sweep\b")
"""What OmegaConf says of an override that Hydra read as a sweep, where there can be none."""

_set_by_user: dict[str, str | None] = {}
"""What ``run`` changed in the environment, as it was before; empty once Hydra has composed the configuration."""


def one_line(error: BaseException) -> str:
    r"""The message of an error, and of what caused it where that says more, as one line.

    >>> one_line(InputError("Could not find 'method/slss'\n\nAvailable options:\n\tsls\n\tsoft"))
    "Could not find 'method/slss' Available options: sls soft"
    """
    text = (str(error) or type(error).__name__).split("\nConfig search path:")[0]  # always the same, and long
    # Good advice for a new setting, bad for a misspelt one.
    text = re.sub(r"\s*To append to your (config|default list) use \S+", "", text)
    if isinstance(error, OverrideParseException):
        text = f"{error.override!r} is no setting as key=value: {text}"
    if isinstance(error.__cause__, ConfigKeyError | ConfigAttributeError):
        return printable(unknown_setting(error.__cause__))
    if isinstance(error.__cause__, OmegaConfBaseException) and SWEEP.search(str(error.__cause__)):
        return printable(f"{' '.join(text.split())}: a sweep such as range(5) inside a list or a dictionary is written in quotes")
    if isinstance(error.__cause__, (HydraException, OmegaConfBaseException)):
        cause = re.sub(r"\s+full_key: \S*\s+object_type=\S+", "", str(error.__cause__))
        text += f" ({cause})"
    return printable(" ".join(text.split()))


def unknown_setting(error: OmegaConfBaseException) -> str:
    """What to say of a name that the configuration does not have: the name that was meant, and those that there are.

    >>> from omegaconf import OmegaConf
    >>> cfg = OmegaConf.create({"recipe": {"epochs": 3, "width": 8}})
    >>> OmegaConf.set_struct(cfg, True)
    >>> try:
    ...     cfg.recipe.epoch = 5
    ... except ConfigAttributeError as error:
    ...     print(unknown_setting(error))
    recipe.epoch is no setting: did you mean recipe.epochs? Expected one of recipe.epochs, recipe.width

    A class of somebody else may take more arguments than the configuration has settings:

    >>> cfg = OmegaConf.create({"trainer": {"_target_": "lightning.Trainer", "precision": "32-true"}})
    >>> OmegaConf.set_struct(cfg, True)
    >>> try:
    ...     cfg.trainer.gradient_clip_val = 1
    ... except ConfigAttributeError as error:
    ...     print(unknown_setting(error).partition("; ")[2])
    +trainer.gradient_clip_val=... gives lightning.Trainer a further argument
    """
    name = str(error.full_key)
    group, _, last = name.rpartition(".")
    parent = error.parent_node
    others = [str(other) for other in parent if other not in ("hydra", "_target_")] if isinstance(parent, DictConfig) else []
    known = [f"{group}.{other}" if group else other for other in others]
    there = f"Expected one of {', '.join(known)}" if known else f"{group} has no settings of its own"
    files = sorted((CONF / group).glob("*.yaml")) if group else []
    having = [file.stem for file in files if re.search(rf"^{re.escape(last)}:", file.read_text(), re.MULTILINE)]
    elsewhere = f"; {group}s that have it: {', '.join(having)}" if having else ""
    near = [] if having else get_close_matches(last, others, n=1)  # not of the whole names, which have their beginning in common
    guess = f": did you mean {known[others.index(near[0])]}?" if near else "."
    target = str(parent.get("_target_", "hardlabels.")) if isinstance(parent, DictConfig) else "hardlabels."
    more = "" if near or target.startswith("hardlabels.") else f"; +{name}=... gives {target} a further argument"
    return f"{name} is no setting{guess} {there}{elsewhere}{more}"


def refuse(error: BaseException) -> NoReturn:
    """End the process as a mistake ends it: one line on standard error, exit code 2."""
    hydra_is_done()
    if os.environ.get(FULL_ERROR) == "1":
        traceback.print_exception(error)
    # Our own messages have line ends where they mean them, such as a list of missing files.
    complain(f"error: {error if isinstance(error, InputError) else one_line(error)}")
    sys.exit(2)


def run(launch: Callable[[], Any]) -> None:
    """Call a function that ``hydra.main`` made; a mistake ends in :func:`refuse`, everything else as Hydra ends it.

    Hydra prints its own errors over several lines and exits with 1, the code of a failed run, unless ``HYDRA_FULL_ERROR`` is
    set: then it raises them. So it is set while Hydra composes the configuration, and :func:`hydra_is_done` puts back what the
    user had set.
    """
    # The Ray plugin's own schema has the name of our preset; Hydra says so several times per command.
    warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/ray' is validated against")
    _set_by_user[FULL_ERROR] = os.environ.get(FULL_ERROR)
    os.environ[FULL_ERROR] = "1"
    try:
        launch()
    except MISTAKES as error:
        refuse(error)
    except BrokenPipeError as error:
        if not hydra_is_done():
            raise
        raise ReaderGone from error  # of the help that Hydra prints
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        # While it composes: of what nobody foresaw in a yaml, an override or a flag. Later: a fault of ours.
        if not hydra_is_done():
            raise
        refuse(InputError(f"the configuration cannot be composed: {one_line(error)}"))
    finally:
        hydra_is_done()


def hydra_is_done() -> bool:
    """The configuration is composed, and our own code runs: Hydra may end errors from here on as the user has asked for.

    Returns:
        Whether this is the first time that it is said.
    """
    for name, value in _set_by_user.items():
        os.environ.pop(name, None)
        os.environ.update({} if value is None else {name: value})
    first = bool(_set_by_user)
    _set_by_user.clear()
    return first
