"""A run on the features of texts, as a grid makes one after the other in a process, against a bare loop over the same features.

1,514 items of 1,536 features and three classes: ChaosNLI-snli as the frozen encoder sees it. Random numbers do for the time.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

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

ITEMS, FEATURES, CLASSES, VOTES = 1514, 1536, 3, 100
SETTINGS = ["data=files", "data.name=heads", "recipe=text_head", "model=mlp", "model.depth=1", "run.tag=bench", "method=sls"]


def bare_loop(features: np.ndarray, p: np.ndarray, epochs: int, batch: int, width: int) -> Callable[[], None]:
    """Train and, after each epoch, predict the evaluation items and take their loss; nothing is drawn, scored or kept."""
    inputs, target = torch.from_numpy(features), torch.from_numpy(p).float()
    cut = len(features) * 4 // 5

    def run() -> None:
        network = MLP(CLASSES, FEATURES, width, depth=1)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
        for _ in range(epochs):
            for at in torch.randperm(cut).split(batch):
                optimizer.zero_grad()
                F.cross_entropy(network(inputs[at]), target[at]).backward()
                optimizer.step()
            with torch.no_grad():
                F.cross_entropy(network(inputs[cut:]), target[cut:])

    return run


def run_against_bare_loop(repeats: int = 5) -> Row:
    """In turns: one whole run (delivery, all metrics on all slices each epoch, checkpoints, records), one bare loop."""
    keep_freed_memory()
    rng = stream(0, "benchmark heads")
    features = rng.standard_normal((ITEMS, FEATURES)).astype(np.float32)
    counts = rng.multinomial(VOTES, rng.dirichlet(np.ones(CLASSES), ITEMS))
    with tempfile.TemporaryDirectory() as name, initialize_config_dir(str(CONF), version_base="1.3"):
        folder = Path(name)
        np.save(folder / "features.npy", features)
        np.save(folder / "counts.npy", counts)
        where = [f"data.votes={folder / 'counts.npy'}", f"data.items={folder / 'features.npy'}", f"outputs={folder / 'outputs'}"]
        configs = [compose("train", [*SETTINGS, *where, f"seed={seed}"]) for seed in range(repeats + 1)]
        recipe = configs[0].recipe
        bare = bare_loop(features, counts / VOTES, recipe.epochs, recipe.batch_size, recipe.width)
        ratios = [seconds(lambda cfg=cfg: train(cfg, SETTINGS)) / seconds(bare) for cfg in configs]  # type: ignore[misc]
    return Row("run of a text head, one of many in a process / bare loop", ratios[1:], 5, at_most=True)
