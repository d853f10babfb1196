"""Views of a run elsewhere: W&B, TensorBoard. The run's folder stays the source of truth."""

import netrc
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell

WANDB_MODES = ("online", "offline", "disabled")


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


def wandb_logger(folder: Path, cell: Cell, run_id: str, config: dict[str, Any], *, project: str, mode: str) -> WandbLogger:
    """A W&B run whose id is the run's fingerprint, so that a resumed run continues there.

    ``WANDB_MODE`` in the environment wins over ``mode``, as W&B's users expect.
    """
    asked = os.environ.get("WANDB_MODE") or mode
    chosen = wandb_mode(asked, logged_in=asked != "online" or has_wandb_login())
    if chosen != asked:
        say("W&B: no login found, so this run is written offline; `wandb login`, then `wandb sync` sends it")
    os.environ.setdefault("WANDB_SILENT", "true")
    return WandbLogger(
        name=str(cell),
        save_dir=folder,
        project=project,
        id=run_id[:32],
        resume="allow",
        group=f"{cell.data}/{cell.recipe}",
        tags=[cell.method, f"K={'all' if cell.K is None else cell.K}"],
        config=config,
        mode=chosen,
    )


def tensorboard_logger(folder: Path, cell: Cell, run_id: str, config: dict[str, Any]) -> TensorBoardLogger:
    """TensorBoard event files in the run's own folder: ``tensorboard --logdir outputs``."""
    return TensorBoardLogger(folder, name="", version="tensorboard")


def make_loggers(settings: dict[str, Any], folder: Path, cell: Cell, run_id: str, config: dict[str, Any]) -> list[Logger]:
    """The loggers that ``logger=...`` asks for, beside the CSV that every run writes."""
    makers = {"csv": None, "wandb": wandb_logger, "tensorboard": tensorboard_logger}
    name = settings.get("name")
    if name not in makers:
        raise InputError(f"logger must be one of {', '.join(makers)}, got {name!r}")
    maker = makers[name]
    options = {key: value for key, value in settings.items() if key != "name"}
    return [] if maker is None else [maker(folder, cell, run_id, config, **options)]


def close_loggers(loggers: list[Logger], result: dict[str, Any]) -> None:
    """Log the metrics of the best checkpoint (where there are any) and end each logger's run.

    W&B keeps one run open a process, and the next cell of a grid would go on writing into it.
    """
    for logger in loggers:
        if result:
            logger.log_metrics({f"best/{name}": value for name, value in result["best"]["full"].items()})
        logger.finalize("success" if result else "failed")
        if isinstance(logger, WandbLogger):
            logger.experiment.finish(exit_code=0 if result else 1)
