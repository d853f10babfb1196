"""The sweeper of ``python -m hardlabels.train -m``: Hydra looks for plugins in a package of this name, and nowhere else."""

from typing import Any

from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class GridSweeper(Sweeper):
    """Checks every cell of a grid before the first one runs, hands all of them to the launcher, and sums up what came of them.

    Hydra imports this file for every Hydra program on the machine, so what it needs is imported when it is used.

    Args:
        max_batch_size: cells that the launcher gets at once; None for all of them.
        params: further overrides by name, as ``hydra.sweeper.params`` of Hydra's own sweeper.
    """

    def __init__(self, max_batch_size: int | None = None, params: dict[str, Any] | None = None):
        self.max_batch_size, self.params = max_batch_size, params or {}
        self.config: DictConfig | None = None
        self.launcher: Launcher | None = None
        self.hydra_context: HydraContext | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Called by Hydra before :meth:`sweep`; the launcher gets a loader that keeps what it has composed."""
        from hardlabels.runs.settings.jobs import ComposedOnce  # noqa: PLC0415

        loader: Any = ComposedOnce(hydra_context.config_loader)
        self.config, self.hydra_context = config, HydraContext(config_loader=loader, callbacks=hydra_context.callbacks)
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=self.hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Run the grid that these overrides make; returns what the launcher returns, batch by batch."""
        from hardlabels.grid import run_grid  # noqa: PLC0415

        assert self.config is not None
        assert self.launcher is not None
        assert self.hydra_context is not None
        overrides = [*(f"{name}={value}" for name, value in self.params.items()), *arguments]
        return run_grid(self.config, overrides, self.hydra_context.config_loader, self.launcher, self.max_batch_size)
