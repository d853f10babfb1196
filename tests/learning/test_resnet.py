import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from hardlabels.learning.resnet import ResNet18


def parameters(network: nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())


def test_width_64_has_the_papers_number_of_parameters():
    assert parameters(ResNet18(10)) == 11_173_962


@pytest.mark.parametrize("width", [2, 16])
def test_width_scales_every_stage(width):
    network = ResNet18(7, width=width)
    assert [network.get_submodule(f"layer{i}")[1].conv2.out_channels for i in (1, 2, 3, 4)] == [
        width,
        2 * width,
        4 * width,
        8 * width,
    ]
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 7)
    assert network.features(torch.zeros(2, 3, 16, 16)).shape == (2, 8 * width)


@pytest.mark.parametrize(("width", "last"), [(2, False), (15, False), (16, True), (64, True)])
def test_memory_is_channels_last_only_where_that_is_safe(width, last):
    network, seen = ResNet18(3, width=width), []
    network.layer2[0].downsample[0].register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    network(torch.zeros(2, 16, 16, 3).permute(0, 3, 1, 2))
    assert seen[0].is_contiguous(memory_format=torch.channels_last) == last
    assert network.layer2[0].conv1.weight.is_contiguous(memory_format=torch.channels_last) == last


def test_is_torchvisions_network_but_for_the_stem():
    torch.manual_seed(0)
    ours, theirs = ResNet18(10).eval(), resnet18(num_classes=10)
    theirs.conv1, theirs.maxpool = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.Identity()
    theirs.load_state_dict(ours.state_dict())
    images = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(ours(images), theirs.eval()(images))
