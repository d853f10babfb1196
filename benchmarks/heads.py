"""A run on the features of a frozen encoder, as a grid makes one after the other in a process, against a bare loop over the same.

Texts: 1,514 items of 1,536 features and three classes, ChaosNLI-snli as the sentence encoder sees it. Images: 10,000 items of
2,560 features and ten classes, CIFAR-10H as the packaged image encoder sees it. Random numbers do for the time. Against the bare
loop both are files of features; the grid of image heads goes the whole way of images, but for the encoding itself.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from torch.nn import functional as F

from benchmarks.ratio import Row, seconds
from hardlabels.configuration import CONF
from hardlabels.learning.encoders import features as encoder_features
from hardlabels.learning.encoders.image_encoder import ImageEncoder
from hardlabels.learning.encoders.images import frozen_encoder
from hardlabels.learning.encoders.preprocess import Preprocessing
from hardlabels.learning.memory import keep_freed_memory
from hardlabels.learning.mlp import MLP
from hardlabels.learning.threads import number_of_threads
from hardlabels.randomness import stream
from hardlabels.runs.data import load_source
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
    """In turns: one whole run (delivery, all metrics on all slices each epoch, checkpoints, records), one bare loop.

    Both on one thread, as a head is trained.
    """
    keep_freed_memory()
    folder, conf = tempfile.TemporaryDirectory(), initialize_config_dir(str(CONF), version_base="1.3")
    with folder as name, conf, number_of_threads(1):
        features, counts, arguments = written(heads, Path(name))
        configs = [compose("train", [*arguments, f"seed={seed}"]) for seed in range(repeats + 1)]
        bare = bare_loop(features, counts / VOTES, heads.train_share, configs[0].recipe)
        ratios = [seconds(lambda cfg=cfg: train(cfg)) / seconds(bare) for cfg in configs]  # type: ignore[misc]
    return Row(f"run of recipe {heads.recipe}, one of many in a process / bare loop", ratios[1:], heads.goal, at_most=True)


def runs_a_minute(heads: Heads, runs: int = 20, repeats: int = 3) -> Row:
    """Runs a minute of one grid through the command that a person types, its start and its summary included.

    Items are images, and the network is the recipe's own, so that a process loads the encoder, hashes the images and reads the
    features of them and of their mirrored selves. Only the encoding is done before.
    """
    data = [f"data.items={heads.items}", f"data.classes={heads.classes}", "data.size=32", f"data.annotators={VOTES}"]
    arguments = ["data=synthetic", *data, f"recipe={heads.recipe}", "run.tag=bench", "method=sls"]
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, {"HARDLABELS_CACHE": f"{name}/cache"}):
        with initialize_config_dir(str(CONF), version_base="1.3"):
            keep_random_features(compose("train", arguments), heads.features)

        def grid(number: int) -> float:
            outputs = Path(name) / str(number)
            command = [sys.executable, "-m", "hardlabels.train", "-m", *arguments, f"seed=range({runs})", f"outputs={outputs}"]
            took = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
            return 60 * len(list(outputs.glob("**/done"))) / took

        kept = set(Path(name).glob("cache/**/*.npy"))
        rates = [grid(number) for number in range(repeats)]
        if set(Path(name).glob("cache/**/*.npy")) != kept:
            raise RuntimeError("the command encoded the images itself: expected it to find the features that were kept for it")
    title = f"runs of recipe {heads.recipe} a minute, a grid of {runs} through the command, images encoded before"
    return Row(title, rates, 20, at_most=False)


class RandomFeatures(torch.nn.Module):
    """Random numbers in place of an encoder's features of a batch: for the time of a run they do."""

    def __init__(self, features: int):
        super().__init__()
        self.features = features

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.randn(len(images), self.features)


def keep_random_features(cfg: DictConfig, features: int) -> None:
    """Fill the cache folder, which is this benchmark's alone, with random features, so that the command need not encode."""
    source = load_source(OmegaConf.to_yaml(cfg.data, resolve=True))
    size = source.inputs.shape[1]
    digest = frozen_encoder(cfg.model.encoder, cfg.model.weights)[1]
    form = Preprocessing(size, size, mean=(0.5,) * 3, std=(0.5,) * 3)  # not resized, which would take the most time
    fast = ImageEncoder("random", RandomFeatures(features), form, features, "none")
    with mock.patch.object(encoder_features, "frozen_encoder", return_value=(fast, digest)):
        encoder_features.encoded_images(source, cfg.model.encoder, cfg.model.weights)
