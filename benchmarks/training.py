"""The training loop, its data, and what an epoch costs beside training. Width 16, images of 32 x 32 pixels, batches of 128."""

import logging
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import torch
from lightning import Callback, LightningModule, Trainer
from torch.nn import functional as F

from benchmarks.conventional import Tutorial, loader
from benchmarks.ratio import Row, alternate, seconds
from hardlabels.delivery.sls import SLS
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.learning.memory import keep_freed_memory
from hardlabels.learning.module import Classifier
from hardlabels.learning.resnet import ResNet18
from hardlabels.metrics.accumulate import Scores
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.keeper import Keeper
from hardlabels.sources.source import Source
from hardlabels.sources.synthetic import synthetic

WIDTH, BATCH = 16, 128
make_optimizer = partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=5e-4)


@lru_cache(maxsize=1)
def source() -> Source:
    """As many images as CIFAR-10H has, of the same size, with ten classes."""
    return synthetic(items=10_000, classes=10, size=32)


class Stopwatch(Callback):
    """When training and evaluation of each epoch began; calls ``between`` after each epoch, outside the measured time."""

    def __init__(self, between: Callable[[], object] = lambda: None):
        self.between = between
        self.starts: list[float] = []
        self.trained: list[float] = []
        self.ends: list[float] = []

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.starts.append(time.perf_counter())

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.trained.append(time.perf_counter())

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.ends.append(time.perf_counter())
        self.between()

    def epochs(self) -> list[float]:
        """Seconds of each epoch but the first, which warms up."""
        return [end - start for start, end in zip(self.starts, self.ends, strict=True)][1:]


def trainer(epochs: int, *callbacks: Callback, **settings: object) -> Trainer:
    """Lightning without what it prints."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False, "num_sanity_val_steps": 0}
    return Trainer(accelerator="cpu", max_epochs=epochs, callbacks=list(callbacks), **(quiet | settings))  # type: ignore[arg-type]


def ours(train_items: int | None, epochs: int, stopwatch: Callback, *callbacks: Callback, evaluate: bool) -> None:
    """Our own pieces, put together as a run does."""
    data = DeliveryDataModule(source(), SLS, seed=0, batch_size=BATCH, train_items=train_items)
    scores = {part: Scores(data.views) for part in data.parts}
    module = Classifier(ResNet18(10, WIDTH), make_optimizer, epochs=epochs, scores=scores)
    limit = 1.0 if evaluate else 0
    with tempfile.TemporaryDirectory() as folder:
        keeper = [Keeper(RunDirectory(Path(folder)), "evaluate/soft_nll")] if evaluate else []
        plugins = [one.writer for one in keeper]
        settings = {
            "limit_val_batches": limit,
            "enable_checkpointing": evaluate,
            "use_distributed_sampler": False,
            "plugins": plugins,
        }
        trainer(epochs, stopwatch, *callbacks, *keeper, **settings).fit(module, datamodule=data)


def bare_loop(steps: int) -> Callable[[], None]:
    """Forward, backward, step on one fixed batch: the same network, batch and memory format, and nothing else."""
    network = ResNet18(10, WIDTH)
    optimizer = make_optimizer(network.parameters())
    inputs = torch.randn(BATCH, 3, 32, 32).contiguous(memory_format=network.memory_format)
    target = torch.randint(10, (BATCH,))

    def run() -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            F.cross_entropy(network(inputs), target).backward()
            optimizer.step()

    run()
    return run


def epoch_against_bare_loop(steps: int = 4, repeats: int = 12) -> Row:
    """Our epoch and a bare loop take turns inside one fit: after each of our epochs the bare loop makes as many steps."""
    keep_freed_memory()
    bare, bare_times = bare_loop(steps), []
    stopwatch = Stopwatch(lambda: bare_times.append(seconds(bare)))
    ours(steps * BATCH, repeats + 1, stopwatch, evaluate=False)
    ratios = [a / b for a, b in zip(stopwatch.epochs(), bare_times[1:], strict=True)]
    return Row("our training epoch / bare forward-backward-step loop", ratios, 1.03, at_most=True)


def time_ours(steps: int) -> float:
    """Seconds of our training epoch, as a run makes it; the better of two after a warm-up."""
    keep_freed_memory()
    stopwatch = Stopwatch()
    ours(steps * BATCH, 3, stopwatch, evaluate=False)
    return min(stopwatch.epochs())


def time_conventional(steps: int) -> float:
    """Seconds of the conventional epoch on the same network and items, NCHW."""
    network = ResNet18(10, WIDTH)
    network.memory_format = torch.contiguous_format
    network.to(memory_format=torch.contiguous_format)
    items = DeliveryDataModule(source(), SLS, seed=0, train_items=steps * BATCH).split.train
    stopwatch, settings = Stopwatch(), {"logger": True, "log_every_n_steps": 1, "enable_checkpointing": False}
    with tempfile.TemporaryDirectory() as folder:
        fit = trainer(3, stopwatch, default_root_dir=folder, **settings)
        fit.fit(Tutorial(network, 10), loader(source(), items, BATCH))
    return min(stopwatch.epochs())


def conventional_against_epoch(steps: int = 8, repeats: int = 3) -> Row:
    """The two epochs back to back, each in a process of its own: what we tell the allocator must not help the other."""

    def measured(function: str) -> float:
        code = f"from benchmarks.training import {function}; print({function}({steps}))"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        return float(done.stdout.splitlines()[-1])

    ratios = [measured("time_conventional") / measured("time_ours") for _ in range(repeats)]
    return Row("conventional Lightning epoch / our training epoch", ratios, 1.3, at_most=False)


def batches_against_dataloader(repeats: int = 4) -> Row:
    """All batches of an epoch, ready for the network: cropped, flipped, normalised, with their targets."""
    data = DeliveryDataModule(source(), SLS, seed=0, batch_size=BATCH)
    data.setup("fit")
    batches = loader(source(), data.split.train, BATCH)

    def ready() -> None:
        for epoch in range(10):  # one takes a few hundredths of a second: too short to be timed by itself
            data.start_epoch(epoch)
            for batch in data.train_dataloader():  # type: ignore[attr-defined]
                data.on_after_batch_transfer(batch, 0)

    def loaded() -> None:
        for _ in batches:
            pass

    ready()
    loaded()
    ratios = [10 * ratio for ratio in alternate(loaded, ready, repeats)]
    return Row("DataLoader with 2 workers / our batches, time per epoch", ratios, 25, at_most=False)


def share_beside_training(repeats: int = 2) -> Row:
    """The share of an epoch that is no training: metrics on all slices, checkpoint and history, of 8,000 and 2,000 items."""
    stopwatch = Stopwatch()
    ours(None, repeats + 1, stopwatch, evaluate=True)
    begins = zip(stopwatch.starts, stopwatch.trained, stopwatch.starts[1:], strict=False)
    shares = [(after - trained) / (after - start) for start, trained, after in begins]
    return Row("evaluation, checkpoint and logging / whole epoch, width 16", shares, 0.12, at_most=True)
