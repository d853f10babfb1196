"""The one place that touches what Lightning does not promise: counters of its loop, its data fetcher, DDP's settings.

``tests/test_lightning_internals.py`` and ``tests/faults/test_ddp.py`` hold them to what is expected, and
``pyproject.toml`` bounds the version.
"""

from lightning import Trainer
from lightning.pytorch.strategies import DDPStrategy


def set_finished_epochs(trainer: Trainer, epochs: int, steps: int) -> None:
    """Make a trainer that has not started yet begin as if it had trained this many epochs.

    Lightning's own way, ``fit(ckpt_path=...)``, restores the state of its loops as it was when the checkpoint was taken: inside
    the epoch's end, with an iterator of that epoch and a scheduler one step behind. Between two epochs there is no such state.

    Args:
        trainer: in ``on_fit_start`` or before.
        epochs: that are finished: ``trainer.current_epoch`` is this number.
        steps: of the optimizer: ``trainer.global_step`` is this number, and loggers go on from it.
    """
    loop = trainer.fit_loop
    for progress in (loop.epoch_progress.current, loop.epoch_progress.total):
        progress.ready = progress.started = progress.processed = progress.completed = epochs  # type: ignore[attr-defined]
    loop.epoch_loop._batches_that_stepped = steps  # the step that loggers see
    loop.epoch_loop.automatic_optimization.optim_progress.optimizer.step.total.completed = steps  # trainer.global_step


def draw_batches_anew(trainer: Trainer) -> None:
    """Make the iterator of the training batches again, and drop what the one before it has fetched.

    Lightning makes it before ``on_train_start``, where a resumed fit first knows its epoch.

    Args:
        trainer: in ``on_train_start``.
    """
    iter(trainer.fit_loop._data_fetcher)  # type: ignore[arg-type]


def find_unused_parameters(trainer: Trainer) -> None:
    """Make DDP look in every step which parameters have a gradient; without it, DDP fails where one has none.

    Nothing happens where the strategy is another one, or where the user has said what DDP shall do.

    Args:
        trainer: that has not started yet.
    """
    if isinstance(trainer.strategy, DDPStrategy):
        trainer.strategy._ddp_kwargs.setdefault("find_unused_parameters", True)
