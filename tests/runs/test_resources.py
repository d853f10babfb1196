"""What a plan says that runs will take, against torch's own counts."""

import subprocess
import sys

import pytest
import torch
from omegaconf import OmegaConf
from torch.utils.flop_counter import FlopCounterMode

from hardlabels.learning.mlp import MLP
from hardlabels.learning.resnet import ResNet18
from hardlabels.runs.cell import Cell
from hardlabels.runs.studies.resources import Items, Resources, cell_resources, data_size, perceptron, resnet18, shares

SIZES = [(10, 64, 1, 32), (10, 64, 2, 32), (6, 8, 1, 16), (3, 5, 2, 13)]
"""Classes, width, stride, side: the recipes' own, and one where no half is whole."""


def weights_and_buffers(network: torch.nn.Module) -> tuple[int, int]:
    buffers = sum(buffer.numel() * buffer.element_size() for buffer in network.buffers())
    return sum(parameter.numel() for parameter in network.parameters()), buffers


@pytest.mark.parametrize(("classes", "width", "stride", "side"), SIZES)
def test_resnet_18_has_the_work_that_torch_counts(classes, width, stride, side):
    """Forward: the same number. Training: three times that, but for the gradient of the images, which nobody asks for."""
    counted = resnet18(classes, width, stride, side)
    with torch.device("meta"):
        network, images = ResNet18(classes, width, stride), torch.empty(2, 3, side, side)
    assert weights_and_buffers(network) == (counted.parameters, counted.buffer_bytes)
    with FlopCounterMode(display=False) as forward:
        logits = network(images)
    assert forward.get_total_flops() == 2 * 2 * counted.multiply_adds
    with FlopCounterMode(display=False) as backward:
        logits.sum().backward()
    stem = 27 * width * (-(-side // stride)) ** 2
    assert backward.get_total_flops() == 2 * 2 * (2 * counted.multiply_adds - stem)


def test_the_memory_of_a_step_is_about_what_autograd_keeps():
    kept: dict[int, int] = {}

    def keep(tensor):
        kept[id(tensor.untyped_storage())] = tensor.untyped_storage().nbytes()
        held.append(tensor)  # so that no number of a freed one comes again
        return tensor

    held: list[torch.Tensor] = []
    with torch.device("meta"):
        network, images = ResNet18(10, 64), torch.empty(8, 3, 32, 32)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        network(images)
    weights = sum(4 * parameter.numel() for parameter in network.parameters())
    assert 4 * 8 * resnet18(10, 64, 1, 32).kept == pytest.approx(sum(kept.values()) - weights, rel=0.2)


def test_the_perceptron_has_the_work_that_torch_counts():
    counted = perceptron(classes=3, features=7, width=2, depth=3)
    with torch.device("meta"):
        network, vectors = MLP(3, 7, 2, 3), torch.empty(1, 7)
    assert weights_and_buffers(network) == (counted.parameters, counted.buffer_bytes)
    with FlopCounterMode(display=False) as forward:
        network(vectors)
    assert forward.get_total_flops() == 2 * counted.multiply_adds


def test_a_trained_cell_takes_the_disk_that_was_said(make_config, run_cell):
    path = run_cell(make_config("recipe.width=16"))
    words = ["data.items=120", "data.classes=3", "data.size=12", "recipe.width=16", "recipe.epochs=2", "recipe.train_items=null"]
    said = cell_resources(Cell.from_folder(path), words)
    assert (said.trained, said.scored) == (2 * 96, 2 * 24)
    assert sum(file.stat().st_size for file in path.rglob("*")) == pytest.approx(said.disk, rel=0.05)


def test_the_papers_recipe_by_hand():
    """160 runs of 200 epochs over 8,000 images, each 3 x 2 x 555,422,720 FLOPs, and over 2,000 for a third of that."""
    run = cell_resources(Cell("cifar10h", "paper", "sls", None, 0))
    assert run.flops == 200 * 2 * 555_422_720 * (3 * 8000 + 2000)
    assert sum([run] * 160, Resources()).hours(sustained_tflops=10) == pytest.approx(25.67, abs=0.01)
    assert run.hours(images_per_second=8000) == pytest.approx(200 / 3600)
    assert run.hours() is None


def test_an_example_a_vote_is_counted_where_the_votes_are():
    one, five = (cell_resources(Cell("cifar10h", "paper", method, 5, 0)) for method in ("sls", "repeated"))
    assert five.trained == 5 * one.trained
    assert cell_resources(Cell("cifar10h", "paper", "repeated", None, 0)) == "repeated: as many examples as votes"


@pytest.mark.parametrize(
    ("cell", "train", "reason"),
    [
        (Cell("mine", "paper", "sls", None, 0), ["data=files", "data.votes=v.csv"], "its size is known when it is loaded"),
        (Cell("nowhere", "paper", "sls", None, 0), [], "nowhere"),
        (Cell("cifar10h", "text_finetune", "sls", None, 0), [], "its network is not counted"),
        (Cell("cifar10h", "paper", "sls", None, 0), ["model=mlp", "model.depth=deep"], "its network is not counted"),
        (Cell("cifar10h", "paper", "sls", None, 0), ["recipe.split=none"], "recipe.split must be one of"),
        (Cell("cifar10h", "paper", "sls", None, 0), ["recipe.epochs=few"], "recipe.epochs must be a whole number"),
    ],
)
def test_what_cannot_be_counted_is_said(cell, train, reason):
    assert reason in cell_resources(cell, train)


def test_texts_are_counted_only_where_they_are_at_hand(tmp_path, monkeypatch):
    target = "hardlabels.sources.chaosnli.chaosnli"
    settings = OmegaConf.create({"_target_": target, "root": str(tmp_path), "subset": "snli", "url": "https://example.invalid"})
    assert data_size(settings) is None
    monkeypatch.setattr("hardlabels.runs.studies.resources.data_size", lambda data: Items(1514, 3, (2,)))
    words = ["recipe.epochs=30", "recipe.width=32", "model.depth=1"]
    pairs = cell_resources(Cell("chaosnli_snli", "text_head", "sls", None, 0, tag="count"), words)
    train, scored = shares(1514, OmegaConf.create({"split": "paper", "train_items": None}))
    assert pairs.flops == 2 * (4 * 384 * 256 + 256 * 3) * 30 * (3 * train + scored)


def test_a_plan_needs_no_torch():
    code = "import sys; import hardlabels.reproduce; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
