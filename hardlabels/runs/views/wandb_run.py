"""Weights & Biases: whether there is a login, how a run is opened, and what of ours goes into one."""

import netrc
import os
import re
from typing import Any
from urllib.parse import urlparse

from hardlabels.console import say
from hardlabels.errors import InputError, printable
from hardlabels.runs.cell import Cell
from hardlabels.runs.quantity import history_column
from hardlabels.runs.spelling import write_votes

WANDB_MODES = ("online", "offline", "disabled")
UPLOAD_SECONDS = 300.0
"""How long the end of a run waits for an upload. What is left stays on disk, for ``wandb sync``."""


def wandb_mode(asked: str, *, logged_in: bool) -> str:
    """Online only with a login: without one W&B would stop a grid and ask.

    >>> wandb_mode("online", logged_in=False)
    'offline'
    """
    if asked not in WANDB_MODES:
        raise InputError(f"logger.mode must be one of {', '.join(WANDB_MODES)}, got {asked!r}")
    return "offline" if asked == "online" and not logged_in else asked


def has_wandb_login() -> bool:
    """Whether W&B would find a key: in the environment, or where ``wandb login`` puts it, the netrc file. Asks nobody."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    host = urlparse(os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    places = [os.environ["NETRC"]] if os.environ.get("NETRC") else ["~/.netrc", "~/_netrc"]
    for place in map(os.path.expanduser, places):
        try:
            if netrc.netrc(place).authenticators(host):
                return True
        except (OSError, netrc.NetrcParseError):
            continue
    return False


def chosen_mode(mode: str, what: str = "this run") -> str:
    """The mode to open a run with; says so where there is no login.

    ``WANDB_MODE`` in the environment wins over ``mode``, as W&B's users expect.
    """
    asked = os.environ.get("WANDB_MODE") or mode
    chosen = wandb_mode(asked, logged_in=asked != "online" or has_wandb_login())
    if chosen != asked:
        say(f"W&B: no login found, so {what} is written offline; `wandb login`, then `wandb sync` sends it")
    return chosen


def check_project(project: Any, name: str = "logger.project") -> None:
    """Refuse a name that W&B refuses, before a grid finds out."""
    if not isinstance(project, str) or not re.fullmatch(r"[^/\\#?%:]{1,128}", project):
        raise InputError(f"{name} must be 1 to 128 characters without / \\ # ? % :, got {project!r}")


def run_config(cell: Cell, run_id: str, config: dict[str, Any]) -> dict[str, Any]:
    """What W&B shows as the run's configuration: the coordinates on top, to group by; the whole of it below ``settings``.

    >>> run_config(Cell("toy", "smoke", "sls", None, 3), "25b3", {"seed": 3})
    {'data': 'toy', 'recipe': 'smoke', 'method': 'sls', 'K': 'all', 'seed': 3, 'fingerprint': '25b3', 'settings': {'seed': 3}}
    """
    return {**coordinates(cell), "fingerprint": run_id, "settings": config}


def coordinates(cell: Cell) -> dict[str, Any]:
    """The coordinates of a run as W&B shows them."""
    return {**cell.written(), "K": write_votes(cell.K) if cell.K is None else cell.K}


def final_metrics(result: dict[str, Any]) -> dict[str, float]:
    """``result.json`` with one name per number; the slice ``full`` has no name of its own, as in ``history.csv``.

    >>> final_metrics({"best": {"epoch": 3, "full": {"soft_nll": 0.5}, "non_unanimous": {"soft_nll": 0.7}}, "items": {"full": 9}})
    {'best/epoch': 3, 'best/soft_nll': 0.5, 'best/non_unanimous/soft_nll': 0.7, 'items/full': 9}
    """
    flat: dict[str, float] = {}
    for part, entries in result.items():
        for name, value in entries.items():
            if isinstance(value, dict):
                flat |= {history_column(part, metric, name): number for metric, number in value.items()}
            else:
                flat[f"{part}/{name}"] = value
    return flat


def open_run(**arguments: Any) -> Any:
    """``wandb.init``, quiet, beside whatever run a notebook may have open."""
    os.environ.setdefault("WANDB_SILENT", "true")
    os.environ.setdefault("WANDB__SERVICE_WAIT", "300")  # seconds for its process to start; a busy node needs more than 30
    import wandb  # noqa: PLC0415 - seconds, and only for those who use it

    # The console is progress bars. A dead network must not hold up the next cell for ever.
    wanted: dict[str, Any] = {"console": "off", "finish_timeout": UPLOAD_SECONDS}
    known = {name: value for name, value in wanted.items() if name in wandb.Settings.model_fields}
    settings = wandb.Settings(**{name: value for name, value in known.items() if f"WANDB_{name.upper()}" not in os.environ})
    run = wandb.init(reinit="create_new", settings=settings, **arguments)
    if run.url:
        say(f"W&B: {run.url}")
    return run


def short_message(error: Exception) -> str:
    r"""An error in one line: its kind, and the first line of what it says.

    >>> short_message(OSError("no space\nleft"))
    'OSError: no space'
    """
    lines = printable(str(error)).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
