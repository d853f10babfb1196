"""Trained runs on files as people have them: 60 images, 60 rows of features."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from PIL import Image

from hardlabels.configuration import CONF
from hardlabels.sources.synthetic import synthetic

N = 60


def write_votes(path: Path, source, names) -> None:
    """The votes of a source as a long table with words for classes."""
    offsets = source.votes.offsets
    rows = [
        {"task": names[i], "worker": f"w{j}", "label": f"class {vote}"}
        for i in range(len(source))
        for j, vote in enumerate(source.votes.labels[offsets[i] : offsets[i + 1]])
    ]
    pd.DataFrame(rows).to_csv(path, index=False)


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Folder with votes.csv, images/, features.csv, and runs on both: of two seeds on features, of one on images."""
    from hardlabels.train import train

    place, before = tmp_path_factory.mktemp("trained"), Path.cwd()
    source = synthetic(items=N, classes=3, size=12, annotators=5)
    names = [f"item_{i}" for i in range(N)]
    write_votes(place / "votes.csv", source, names)
    (place / "images").mkdir()
    for name, image in zip(names, source.inputs, strict=True):
        Image.fromarray(image).resize((18, 14)).save(place / "images" / f"{name}.png")  # no squares: how they become some counts
    features = np.concatenate([source.truth, np.random.default_rng(0).normal(3, 2, (N, 4))], 1).astype(np.float32)
    pd.DataFrame(features, index=pd.Index(names, name="id")).to_csv(place / "features.csv")
    np.save(place / "features.npy", features)
    os.chdir(place)
    tiny = ["recipe=smoke", "recipe.width=2", "recipe.epochs=2", "recipe.batch_size=16", "recipe.split=three_way", "run.tag=t"]
    common = ["data=files", "data.votes=votes.csv", "method=soft", "trainer.accelerator=cpu", "outputs=outputs", *tiny]
    cells = [
        ["data.items=features.csv", "data.name=rows", "model=mlp", "seed=0"],
        ["data.items=features.csv", "data.name=rows", "model=mlp", "seed=1"],
        ["data.items=images", "data.name=pictures", "data.size=12"],
    ]
    try:
        for cell in cells:
            with initialize_config_dir(str(CONF), version_base="1.3"):
                cfg = compose("train", [*common, *cell])
            train(cfg)
    finally:
        os.chdir(before)
    return place


@pytest.fixture
def rows(trained) -> Path:
    """The folder of the two seeds on features."""
    return trained / "outputs/rows/smoke,tag=t/soft/K=all"


@pytest.fixture
def pictures(trained) -> Path:
    """The folder of the run on images."""
    return trained / "outputs/pictures/smoke,tag=t/soft/K=all/seed=0"
