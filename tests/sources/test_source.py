"""The Source object: what it refuses, and what its fingerprint sees."""

import ast
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_object
from omegaconf import OmegaConf

import hardlabels.sources
from hardlabels.configuration import CONF
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
        ({"crop": 5}, "crop must be 1 .. 4, the side of its images, got 5"),
        ({"scale": (0.5, 1.5)}, r"scale must be two shares of the area, 0 < smallest <= largest <= 1, got \(0.5, 1.5\)"),
        ({"inputs": np.zeros((3, 4, 6, 2), np.uint8), "crop": 3}, r"crop and scale are for square images, got \(4, 6\)"),
        ({"inputs": np.zeros((3, 2), np.float32), "crop": 3}, "crop and scale are for images and must be None for vectors"),
        ({"inputs": np.zeros((3, 32), np.uint8)}, r"inputs must be float32 for vectors, got shape \(3, 32\), type uint8"),
        ({"inputs": np.zeros((3, 2), np.float64)}, "inputs must be float32 for vectors, .* type float64"),
        ({"inputs": np.array([[0, 1], [2, np.nan], [3, 4]], np.float32)}, "inputs must be finite"),
        (
            {"inputs": np.zeros(3, np.uint8)},
            r"inputs must be images \(N, H, W, channels\), vectors \(N, d\), texts \(N, parts\) .* or tokens .*, got shape",
        ),
        ({"inputs": np.zeros((3, 2, 2), np.uint8)}, r"inputs must be int32 for tokens, got shape \(3, 2, 2\), type uint8"),
        ({"inputs": np.array([["a"], ["b"], ["c"]])}, r"inputs must be object for texts, got shape \(3, 1\), type <U1"),
        ({"inputs": np.array([["a"], ["b"], ["c"]], object)}, "mean must have 0 entries, got 2"),
        ({"inputs": np.zeros((3, 1, 8), np.int32)}, "mean must have 0 entries, got 2"),
        ({"inputs": np.array([["a"] * 3] * 3, object)}, r"inputs must be texts \(N, parts\) of 1 or 2 parts, got shape \(3, 3\)"),
        ({"inputs": np.zeros((3, 3, 8), np.int32)}, r"inputs must be tokens .* of 1 or 2 parts, got shape \(3, 3, 8\)"),
        ({"inputs": np.array([["a"], [" "], ["c"]], object)}, "item 1 must be a text that is not empty, got ' '"),
        ({"inputs": np.array([["a", "b"], ["c", "d"], ["e", 5]], object)}, "item 2, part 1 must be a text .*, got 5"),
        ({"inputs": np.array([["a"], ["b"], ["\ud83d"]], object)}, r"item 2 must be whole characters .*, got '\\ud83d'"),
        ({"inputs": np.array([["a"]] * 3, object), "flip": True}, "only images are cropped and flipped; for texts .* 0 and True"),
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


def test_items_are_of_four_kinds(toy):
    vectors = replace(toy, inputs=np.array([[0, 1], [2, 3], [4, 5]], np.float32))
    texts = replace(toy, inputs=np.array([["a", "b"]] * 3, object), mean=(), std=())
    tokens = replace(texts, inputs=np.zeros((3, 2, 8), np.int32))
    sources = (toy, vectors, texts, tokens)
    assert [source.kind for source in sources] == ["images", "vectors", "texts", "tokens"]
    assert [source.has_images for source in sources] == [True, False, False, False]
    assert [source.has_vectors for source in sources] == [False, True, False, False]
    assert [source.has_texts for source in sources] == [False, False, True, False]
    assert len({source.fingerprint for source in sources}) == 4
    assert vectors.fingerprint != replace(vectors, inputs=vectors.inputs + np.float32(1)).fingerprint


def test_fingerprints_stay_what_they_were(toy):
    """Runs on disk are known by them."""
    assert toy.fingerprint.startswith("d9210b18")
    assert replace(toy, inputs=np.array([[0, 1], [2, 3], [4, 5]], np.float32)).fingerprint.startswith("639a8615")


def test_fingerprint_sees_texts_not_where_they_are_kept(toy):
    def fingerprint(*rows):
        return replace(toy, inputs=np.array(rows, object), mean=(), std=()).fingerprint

    pairs = (["ab", "c"], ["d", "é"], ["f", "g"])
    assert fingerprint(*pairs) == fingerprint(*[["".join(list(text)) for text in row] for row in pairs])
    variants = [
        fingerprint(*pairs),
        fingerprint(["a", "bc"], *pairs[1:]),
        fingerprint(["a", "b1:c"], *pairs[1:]),
        fingerprint(["c", "ab"], *pairs[1:]),
        fingerprint(["ab", "c"], ["d", "e\u0301"], ["f", "g"]),
        fingerprint(["abc"], ["dé"], ["fg"]),
    ]
    assert len(set(variants)) == len(variants)


def test_fingerprint_sees_values_not_memory_layout(toy):
    in_columns = np.asfortranarray(toy.inputs)
    assert not in_columns.flags.c_contiguous
    assert replace(toy, inputs=in_columns).fingerprint == toy.fingerprint


def test_load_finds_sources_by_module_name():
    assert load("synthetic", items=12, name="mine").name == "mine"
    with pytest.raises(InputError, match=r"must be one of .*cifar10h, .*synthetic.*, got 'download'"):
        load("download")


CONFIGS = sorted((CONF / "data").glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_is_the_whole_call(path, monkeypatch):
    """Every argument is in the yaml, under its own name, and none with another value than the code's own default.

    ``root`` and ``mirrors`` are the exceptions: the one is the user's, the others live in the config only; and so is ``subset``
    where a yaml is there to choose it. A name that follows from the subset does so in the code as well.
    """
    monkeypatch.delenv("HARDLABELS_DATA", raising=False)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = OmegaConf.to_container(compose(f"data/{path.stem}").data, resolve=True)
    defaults = {name: p.default for name, p in inspect.signature(get_object(config.pop("_target_"))).parameters.items()}
    assert config.keys() == defaults.keys()
    if "subset" in config:
        grouped = f"_by_{config['group']}" if config.get("group") else ""  # another split: it needs a name of its own
        official = "_official" if config.get("split") == "official" else ""  # likewise
        assert config["name"] == f"{path.stem.split('_')[0]}_{config['subset']}{grouped}{official}"
        assert path.stem == config["name"] or config["subset"] == defaults["subset"]
        defaults |= {name: config[name] for name in ("name", "subset", "group", "split") if name in config}
    assert config["name"] == path.stem or "subset" in config
    for name in defaults.keys() - {"root", "mirrors"}:
        assert config[name] == (list(defaults[name]) if isinstance(defaults[name], tuple) else defaults[name]), name


def test_sources_do_without_torch():
    """Votes and sources serve people who use another framework: importing them must not cost a second and 2 GB."""
    for file in Path(hardlabels.sources.__path__[0]).glob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not {name.split(".")[0] for name in imported} & {"torch", "torchvision", "lightning", "torchmetrics"}, file
