"""A run on the features of a frozen encoder, as a grid makes one after the other in a process, against a bare loop over the same.

Texts: 1,514 items of 1,536 features and three classes, ChaosNLI-snli as the sentence encoder sees it. Images: 10,000 items of
2,560 features and ten classes, CIFAR-10H as the packaged image encoder sees it. Random numbers do for the time.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from hydra import compose, initialize_config_dir
from torch.nn import functional as F

from benchmarks.ratio import Row, seconds
from hardlabels.configuration import CONF
from hardlabels.learning.memory import keep_freed_memory
from hardlabels.learning.mlp import MLP
from hardlabels.randomness import stream
from hardlabels.train import train


class Heads(NamedTuple):
    """What is trained, and the goal."""

    recipe: str
    items: int
    features: int
    classes: int
    train_share: float
    goal: float


TEXTS = Heads("text_head", 1514, 1536, 3, 0.7, goal=2)
IMAGES = Heads("image_head", 10_000, 2560, 10, 0.7, goal=2)
VOTES = 50
"""Own files are split in three: 70 % are trained on, and both other parts are scored in every epoch."""


def bare_loop(features: np.ndarray, p: np.ndarray, train_share: float, recipe) -> Callable[[], None]:  # type: ignore[no-untyped-def]
    """Train and, after each epoch, predict the other items and take their loss; nothing is drawn, scored or kept."""
    inputs, target = torch.from_numpy(features), torch.from_numpy(p).float()
    cut = round(len(features) * train_share)

    def run() -> None:
        network = MLP(p.shape[1], features.shape[1], recipe.width, depth=1)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
        for _ in range(recipe.epochs):
            for at in torch.randperm(cut).split(recipe.batch_size):
                optimizer.zero_grad()
                F.cross_entropy(network(inputs[at]), target[at]).backward()
                optimizer.step()
            with torch.no_grad():
                F.cross_entropy(network(inputs[cut:]), target[cut:])

    return run


def written(heads: Heads, folder: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Features, votes, and the arguments of the command that trains heads on the files of both."""
    rng = stream(0, "benchmark heads")
    features = rng.standard_normal((heads.items, heads.features), dtype=np.float32)
    counts = rng.multinomial(VOTES, rng.dirichlet(np.ones(heads.classes), heads.items))
    np.save(folder / "features.npy", features)
    np.save(folder / "counts.npy", counts)
    what = [
        "data=files",
        "data.name=heads",
        f"recipe={heads.recipe}",
        "model=mlp",
        "model.depth=1",
        "run.tag=bench",
        "method=sls",
    ]
    where = [f"data.votes={folder / 'counts.npy'}", f"data.items={folder / 'features.npy'}", f"outputs={folder / 'outputs'}"]
    return features, counts, [*what, *where]


def run_against_bare_loop(heads: Heads, repeats: int = 5) -> Row:
    """In turns: one whole run (delivery, all metrics on all slices each epoch, checkpoints, records), one bare loop."""
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as name, initialize_config_dir(str(CONF), version_base="1.3"):
        features, counts, arguments = written(heads, Path(name))
        configs = [compose("train", [*arguments, f"seed={seed}"]) for seed in range(repeats + 1)]
        bare = bare_loop(features, counts / VOTES, heads.train_share, configs[0].recipe)
        ratios = [seconds(lambda cfg=cfg: train(cfg)) / seconds(bare) for cfg in configs]  # type: ignore[misc]
    return Row(f"run of recipe {heads.recipe}, one of many in a process / bare loop", ratios[1:], heads.goal, at_most=True)


def runs_a_minute(heads: Heads, runs: int = 20) -> Row:
    """Runs a minute of one grid through the command that a person types, its start and its summary included."""
    with tempfile.TemporaryDirectory() as name:
        *_, arguments = written(heads, Path(name))
        command = [sys.executable, "-m", "hardlabels.train", "-m", *arguments, f"seed=range({runs})"]
        took = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
        finished = len(list(Path(name).glob("outputs/**/done")))
    return Row(
        f"runs of recipe {heads.recipe} a minute, a grid of {runs} through the command", [60 * finished / took], 20, at_most=False
    )
