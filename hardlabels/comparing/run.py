"""From a request to finished runs: the data are read and checked, the training is planned, the grid is trained."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from PIL import Image

from hardlabels.comparing.plan import FEWEST_ITEMS, plan_training, with_plan
from hardlabels.comparing.request import Request
from hardlabels.configuration import CONF
from hardlabels.console import say
from hardlabels.errors import InputError
from hardlabels.learning.encoders.images import frozen_encoder
from hardlabels.runs.cell import Cell
from hardlabels.runs.data import SAID_BEFORE, content_of_own_files, identify_encoder, load_source
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.identity import training_config
from hardlabels.runs.settings.checks import check_config
from hardlabels.sources.files import find_own
from hardlabels.sources.folder import image_names
from hardlabels.sources.source import Source
from hardlabels.votes.summary import Summary, summarise

ENCODED_SIDE, SMALLEST_SIDE = 160, 32
LOOKED_AT = 20
RARE = 5


@dataclass(frozen=True)
class Prepared:
    """A comparison that can be trained.

    Attributes:
        request: what was asked for.
        words: all settings of ``hardlabels.train`` but method and seed, by name.
        cfg: the configuration of the first method.
        source: the data.
        summary: of their votes.
        folders: method to the folders of its seeds.
    """

    request: Request
    words: dict[str, str]
    cfg: DictConfig
    source: Source
    summary: Summary
    folders: dict[str, list[Path]]

    @property
    def methods(self) -> tuple[str, ...]:
        """To train."""
        return tuple(self.folders)

    @property
    def place(self) -> Path:
        """The folder of the page: beside the methods."""
        return next(iter(self.folders.values()))[0].parents[2] / "compare"

    @property
    def doubts(self) -> list[str]:
        """What about the data makes any answer less sure."""
        source, found = self.source, []
        evaluate = len(source.split(seed=0, protocol="three_way").evaluate)
        if evaluate < 50:
            found.append(f"Only {evaluate} items evaluate a run: scores of single runs vary a lot.")
        counts = np.bincount(source.labels, minlength=len(source.class_names))
        if rare := [name for name, count in zip(source.class_names, counts, strict=True) if count < RARE]:
            found.append(f"Fewer than {RARE} items have the majority label {', '.join(rare[:10])}.")
        if self.summary.per_item is not None and self.summary.per_item.median < 2:
            found.append("Most items have a single vote: soft labels, drawn labels and the majority are then the same target.")
        if self.summary.unanimous > 0.95:
            found.append(f"{self.summary.unanimous:.0%} of the items are unanimous: the methods hardly differ in what they show.")
        return found


def prepare(request: Request) -> Prepared:
    """Read the data, plan the training and check every setting; nothing is written.

    Raises:
        InputError: what is wrong with the files or the settings, in one line.
    """
    settings = dict(request.settings)
    cfg = composed_data(settings)
    if "data.size" not in settings and settings.get("data") == "files":
        folder = find_own("items", cfg.data["items"])
        settings |= image_size(folder, encoded_side(settings)) if folder.is_dir() else {}
        cfg = composed_data(settings)
    source = load_source(OmegaConf.to_yaml(cfg.data, resolve=True))
    if len(source) < FEWEST_ITEMS:
        raise InputError(f"{cfg.data.name}: a comparison needs at least {FEWEST_ITEMS} items with votes, got {len(source)}")
    split = source.split(seed=0, protocol="three_way")
    words = with_plan(settings, plan_training(source.kind, len(split.train)))
    methods = request.methods
    if not source.votes.has_votes and not request.chose_methods:
        methods = tuple(name for name in methods if name != "multipass")
        say("only probabilities are known: multipass, which shows single votes, is left out")
    configs = {method: composed((*words.items(), ("method", method))) for method in methods}
    folders = {method: [_checked(configs[method], seed) for seed in range(request.seeds)] for method in methods}
    return Prepared(request, words, configs[methods[0]], source, summarise(source.votes), folders)


def encoded_side(settings: Mapping[str, str]) -> int:
    """The pixels a side of what the encoder cuts the middle out of; the user may have chosen another one than the default."""
    if "model.encoder" not in settings:
        return ENCODED_SIDE
    name, weights = (settings.get(f"model.{one}", "null").strip("\"'") for one in ("encoder", "weights"))
    return frozen_encoder(name, None if weights == "null" else weights)[0].form.resize


def image_size(items: Path, largest: int = ENCODED_SIDE) -> dict[str, str]:
    """The size that images are read at: that of the encoder, or smaller where the images are.

    Args:
        items: the folder of the images.
        largest: pixels a side.
    """
    sides = []
    for name in islice(image_names(items), LOOKED_AT):
        try:
            with Image.open(items / name) as image:
                sides.append(min(image.size))
        except OSError:
            continue  # the reader of all images says which one is none
    usual = int(np.median(sides)) if sides else largest
    return {"data.size": str(min(max(usual, SMALLEST_SIDE), largest))}


def composed_data(settings: Mapping[str, str]) -> DictConfig:
    """The configuration of ``hardlabels.train`` with the settings of the data alone."""
    return composed(tuple((name, value) for name, value in settings.items() if name == "data" or name.startswith("data.")))


@lru_cache(maxsize=64)
def composed(words: tuple[tuple[str, str], ...]) -> DictConfig:
    """The configuration of ``hardlabels.train`` with these settings; not to be changed, as it is kept."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", [f"{name}={value}" for name, value in words if not name.startswith("hydra")])


def train(prepared: Prepared) -> int:
    """Train what is not finished, by the command that trains any grid: with any launcher, resumable. Returns its exit code."""
    runs = [RunDirectory(folder) for folders in prepared.folders.values() for folder in folders]
    done = sum(run.has_result() for run in runs)
    if done == len(runs):
        say(f"all {len(runs)} runs are finished already")
        return 0
    if "hydra/launcher" not in prepared.words:  # other machines may have what this one has not
        identify_encoder(prepared.cfg.model)  # or every run would fail for want of its weights or its package
    words = [f"{name}={value}" for name, value in prepared.words.items()]
    grid = [f"method={','.join(prepared.methods)}", f"seed=range({prepared.request.seeds})"]
    command = [sys.executable, "-m", "hardlabels.train", "-m", *words, *grid]
    return subprocess.run(command, check=False, env={**os.environ, SAID_BEFORE: "1"}).returncode


def _checked(plain: DictConfig, seed: int) -> Path:
    """The folder of one run, after its settings and what may be in it already were checked."""
    cfg = plain.copy()
    cfg.seed = seed
    check_config(cfg)
    directory = RunDirectory(Path(cfg.outputs) / Cell.from_config(cfg).folder)
    directory.check(training_config(cfg), content_of_own_files(cfg))
    return directory.path
