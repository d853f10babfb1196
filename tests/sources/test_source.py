"""The Source object: what it refuses, and what its fingerprint sees."""

import ast
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import get_object
from omegaconf import OmegaConf

import hardlabels.sources
from hardlabels.errors import InputError
from hardlabels.sources import Source, load
from hardlabels.votes import Votes


@pytest.fixture
def toy() -> Source:
    return Source(
        name="toy",
        inputs=np.arange(3 * 2 * 4 * 4, dtype=np.uint8).reshape(3, 4, 4, 2),
        votes=Votes.from_counts([[2, 1], [0, 3], [4, 0]]),
        labels=np.array([0, 1, 0]),
        class_names=("cat", "dog"),
        mean=(0.5, 0.4),
        std=(0.2, 0.3),
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"inputs": np.zeros((2, 4, 4, 2), np.uint8)}, "inputs must be 3 items"),
        ({"inputs": np.zeros((3, 4, 4, 2), np.float32)}, "inputs must be uint8"),
        ({"inputs": np.zeros((3, 32), np.uint8)}, r"inputs must be float32 for vectors, got shape \(3, 32\), type uint8"),
        ({"inputs": np.zeros((3, 2), np.float64)}, "inputs must be float32 for vectors, .* type float64"),
        ({"inputs": np.array([[0, 1], [2, np.nan], [3, 4]], np.float32)}, "inputs must be finite"),
        (
            {"inputs": np.zeros((3, 2, 2), np.uint8)},
            r"inputs must be images \(N, H, W, channels\) or vectors \(N, d\), got shape",
        ),
        ({"inputs": np.zeros((3, 5), np.float32)}, "mean must have 5 entries, got 2"),
        ({"inputs": np.zeros((3, 2), np.float32), "flip": True}, "only images are cropped and flipped; .* got 0 and True"),
        ({"inputs": np.zeros((3, 2), np.float32), "crop_padding": 4}, "only images are cropped and flipped; .* got 4 and False"),
        ({"labels": np.array([0, 1])}, r"labels must be shape \(3,\), one an item, got shape \(2,\)"),
        ({"labels": np.array([0.0, 1.0, 0.0])}, "labels must be whole numbers"),
        ({"labels": np.array([0, 2, 0])}, "label 1 must be a class 0 .. 1, got 2"),
        ({"class_names": ("cat",)}, "class_names must have 2 entries, got 1"),
        ({"mean": (0.5,)}, "mean must have 2 entries, got 1"),
        ({"std": (0.5, 0.5, 0.5)}, "std must have 2 entries, got 3"),
        ({"truth": np.ones((3, 3)) / 3}, r"truth must be shape \(3, 2\)"),
    ],
)
def test_refuses_parts_that_do_not_fit_together(toy, changed, said):
    with pytest.raises(InputError, match=f"source 'toy': {said}"):
        replace(toy, **changed)


def test_fingerprint_sees_every_part_but_the_name(toy):
    truth = np.array([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    variants = [
        toy,
        replace(toy, inputs=toy.inputs + np.uint8(1)),
        replace(toy, inputs=toy.inputs.reshape(3, 2, 8, 2)),
        replace(toy, votes=Votes.from_counts([[1, 2], [0, 3], [4, 0]])),
        replace(toy, votes=Votes.from_counts([[2, 1], [0, 3], [5, 0]])),
        replace(toy, votes=Votes.from_probabilities(toy.votes.p)),
        replace(toy, labels=np.array([0, 1, 1])),
        replace(toy, class_names=("dog", "cat")),
        replace(toy, mean=(0.5, 0.5)),
        replace(toy, std=(0.2, 0.2)),
        replace(toy, truth=truth),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)
    assert replace(toy, name="other").fingerprint == toy.fingerprint


def test_vectors_are_items_too(toy):
    vectors = replace(toy, inputs=np.array([[0, 1], [2, 3], [4, 5]], np.float32))
    assert (toy.has_images, vectors.has_images) == (True, False)
    assert len(vectors) == 3
    assert vectors.fingerprint != replace(vectors, inputs=vectors.inputs + np.float32(1)).fingerprint


def test_fingerprint_sees_values_not_memory_layout(toy):
    in_columns = np.asfortranarray(toy.inputs)
    assert not in_columns.flags.c_contiguous
    assert replace(toy, inputs=in_columns).fingerprint == toy.fingerprint


def test_load_finds_sources_by_module_name():
    assert load("synthetic", items=12, name="mine").name == "mine"
    with pytest.raises(InputError, match=r"must be one of cifar10h, .*synthetic.*, got 'download'"):
        load("download")


CONFIGS = sorted((Path(__file__).parents[2] / "conf" / "data").glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_is_the_whole_call(path, monkeypatch):
    """Every argument is in the yaml, under its own name, and none with another value than the code's own default.

    ``root`` and ``mirrors`` are the exceptions: the one is the user's, the others live in the config only.
    """
    monkeypatch.delenv("HARDLABELS_DATA", raising=False)
    config = OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    defaults = {name: p.default for name, p in inspect.signature(get_object(config.pop("_target_"))).parameters.items()}
    assert config.keys() == defaults.keys()
    assert config["name"] == path.stem
    for name in defaults.keys() - {"root", "mirrors"}:
        assert config[name] == (list(defaults[name]) if isinstance(defaults[name], tuple) else defaults[name]), name


def test_sources_do_without_torch():
    """Votes and sources serve people who use another framework: importing them must not cost a second and 2 GB."""
    for file in Path(hardlabels.sources.__path__[0]).glob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not {name.split(".")[0] for name in imported} & {"torch", "torchvision", "lightning", "torchmetrics"}, file
