"""Grad-CAM maps against an explicit backward pass; stability by its laws; memory that does not grow."""

import gc
import math

import numpy as np
import pytest
import torch
from torch import nn

from hardlabels.diagnostics import gradcam as module
from hardlabels.diagnostics.correlation import CONSTANT, pearson
from hardlabels.diagnostics.gradcam import example_places, grad_cam, gradcam
from hardlabels.errors import InputError
from hardlabels.learning.resnet import ResNet18

SETTINGS = {"checkpoint": "best", "layer": "layer4", "target": "majority", "chunk": 100, "examples": 3}


def hooks(network: nn.Module) -> int:
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return sum(len(getattr(layer, kind)) for layer in network.modules() for kind in kinds)


def live_tensors() -> int:
    gc.collect()
    return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())


def test_maps_are_those_of_an_explicit_backward_pass():
    torch.manual_seed(0)
    network, inputs, classes = ResNet18(4, width=2).eval(), torch.randn(6, 3, 24, 24), torch.tensor([0, 1, 2, 3, 0, 1])
    maps = grad_cam(network, "layer4", inputs, classes)
    for i in range(6):
        x = network.relu(network.bn1(network.conv1(inputs[i : i + 1])))
        activation = network.layer4(network.layer3(network.layer2(network.layer1(x)))).detach().requires_grad_()
        network.fc(activation.mean((2, 3)))[0, classes[i]].backward()
        expected = sum(activation.grad[0, k].mean() * activation[0, k] for k in range(16)).clamp(min=0)
        np.testing.assert_allclose(maps[i], expected.detach().numpy(), rtol=1e-4, atol=1e-7)
    assert maps.shape == (6, 3, 3)
    assert (maps > 0).any()


def test_hooks_are_gone_and_tensors_do_not_pile_up(finished, monkeypatch):
    a, b = finished("sls", 0), finished("soft", 0)
    counts, networks = [], []

    def counting(*args, **kwargs):
        counts.append(live_tensors())
        return pearson(*args, **kwargs)

    original = type(a).network
    monkeypatch.setattr(type(a), "network", lambda *args: networks.append(original(*args)) or networks[-1])
    monkeypatch.setattr(module, "pearson", counting)
    list(gradcam(a, b, **{**SETTINGS, "chunk": 12}, device="cpu"))
    assert len(counts) >= 5  # chunks
    assert len(set(counts[1:])) == 1
    assert [hooks(network) for network in networks] == [0, 0]
    assert all(parameter.grad is None for network in networks for parameter in network.parameters())


@pytest.mark.parametrize("target", ["majority", "predicted"])
def test_a_run_agrees_with_itself_where_there_is_a_map(finished, target, device):
    run = finished("sls")
    values = dict(gradcam(run, run, **{**SETTINGS, "target": target}, device=device))
    assert values["full/items"] == len(run.split.evaluate)
    assert values["full/constant"] < values["full/items"]
    assert values["full/correlation"] == pytest.approx(1.0)


def test_the_mean_is_over_the_shared_images_with_two_maps(finished):
    a, b = finished("sls", 0), finished("sls", 1)
    values = dict(gradcam(a, b, **{**SETTINGS, "chunk": 5}, device="cpu"))
    items = np.array(sorted(set(a.split.evaluate) & set(b.split.evaluate)))
    votes, networks, correlations = a.source.votes, (a.network(), b.network()), []
    for item in items:
        image, label = a.inputs(np.array([item])), torch.from_numpy(votes.majority[[item]])
        one = [grad_cam(network, "layer4", image, label).ravel() for network in networks]
        flat = any(np.ptp(m) <= CONSTANT * np.abs(m).max() for m in one)
        correlations.append(math.nan if flat else np.corrcoef(*one)[0, 1])
    assert values["full/items"] == len(items)
    assert values["full/constant"] == int(np.isnan(correlations).sum())
    assert values["full/correlation"] == pytest.approx(np.nanmean(correlations), abs=1e-3)
    high = votes.entropy[items] >= np.quantile(votes.entropy, 0.9)
    assert values["high_disagreement/items"] == int(high.sum())


def test_examples_go_from_agreement_to_dispute_and_hold_their_own_maps(finished):
    a, b = finished("sls", 0), finished("soft", 0)
    values = dict(gradcam(a, b, **{**SETTINGS, "chunk": 7}, device="cpu"))
    position, votes = values["example_position"], a.source.votes
    assert len(position) == 3
    shared = votes.entropy[a.split.evaluate]
    assert votes.entropy[position[[0, 2]]].tolist() == [shared.min(), shared.max()]
    np.testing.assert_array_equal(values["example_image"], a.source.inputs[position])
    for run, key in ((a, "example_map_a"), (b, "example_map_b")):
        expected = grad_cam(run.network(), "layer4", run.inputs(position), torch.from_numpy(votes.majority[position]))
        np.testing.assert_allclose(values[key], expected, rtol=1e-3, atol=1e-6)
        assert values[key].base is None or len(values[key].base) == 3  # nothing larger is kept alive


def test_more_examples_than_images_are_all_images_and_none_is_none(finished):
    assert sorted(example_places(np.array([0.2, 0.1]), 8)) == [0, 1]
    a, b = finished("sls", 0), finished("soft", 0)
    assert not any(name.startswith("example") for name, _ in gradcam(a, b, **{**SETTINGS, "examples": 0}, device="cpu"))


@pytest.mark.parametrize(("change", "message"), [({"target": "best"}, "target must be one of"), ({"layer": "stage5"}, "layer4")])
def test_settings_that_make_no_sense_are_refused(finished, change, message):
    with pytest.raises(InputError, match=message):
        list(gradcam(finished("sls"), finished("soft"), **{**SETTINGS, **change}, device="cpu"))


def test_the_probe_leaves_the_runs_as_they_were(finished, contents):
    runs = finished("sls"), finished("soft")
    before = contents(*runs)
    list(gradcam(*runs, **SETTINGS, device="cpu"))
    assert contents(*runs) == before
