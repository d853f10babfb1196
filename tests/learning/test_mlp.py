"""The perceptron for vectors, and which network takes which items."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from hardlabels.delivery.soft import Soft
from hardlabels.errors import InputError
from hardlabels.learning.augment import normalise
from hardlabels.learning.datamodule import DeliveryDataModule
from hardlabels.learning.mlp import MLP
from hardlabels.learning.predict import predict
from hardlabels.learning.resnet import ResNet18
from hardlabels.runs.training.compose import make_network


@pytest.fixture
def vectors(tiny_source):
    """120 items of 7 features on scales from a thousandth to a thousand, one of them constant."""
    x = np.random.default_rng(0).normal(size=(120, 7)) * 10.0 ** np.arange(-3, 4) + 5
    x[:, 3] = 2.5
    std = tuple(np.where(x.std(0) > 0, x.std(0), 1.0))
    return replace(tiny_source, inputs=x.astype(np.float32), mean=tuple(x.mean(0)), std=std, crop_padding=0, flip=False)


@pytest.mark.parametrize("depth", [1, 3])
def test_features_are_penultimate_and_as_many_as_a_resnets(depth):
    network, x = MLP(5, in_features=7, width=2, depth=depth).double(), torch.randn(4, 7, dtype=torch.float64)
    assert network.features(x).shape == (4, 16) == ResNet18(5, width=2).features(torch.zeros(4, 3, 16, 16)).shape
    torch.testing.assert_close(network(x), nn.functional.linear(network.features(x), network.fc.weight, network.fc.bias))
    by_hand = x
    for layer, norm, _ in network.hidden:
        by_hand = by_hand @ layer.weight.T
        by_hand = (by_hand - by_hand.mean(1, keepdim=True)) / (by_hand.var(1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        by_hand = by_hand.clamp(min=0)  # LayerNorm starts with weight 1 and bias 0
    torch.testing.assert_close(network.features(x), by_hand)


def test_a_batch_of_one_trains_like_any_other():
    """The last batch of an epoch, or a process's share, may be a single item: with batch norm that would raise."""
    network, x = MLP(3, in_features=7, width=1).train(), torch.randn(6, 7)
    torch.testing.assert_close(torch.cat([network(row[None]) for row in x]), network(x))


@pytest.mark.parametrize("setting", ["width", "depth"])
def test_refuses_sizes_that_cannot_be(setting):
    with pytest.raises(InputError, match=f"model.{setting} must be a whole number of at least 1, got 0"):
        MLP(3, in_features=7, **{setting: 0})


def test_vectors_are_standardised_per_feature_and_never_cropped(vectors):
    data = DeliveryDataModule(vectors, Soft, seed=0, batch_size=96)
    data.setup("fit")
    data.start_epoch(0)
    [loaded] = list(data.train_dataloader())
    batch = data.on_after_batch_transfer(loaded, 0)
    x = vectors.inputs[data.split.train[loaded.position.numpy()]].astype(np.float64)
    np.testing.assert_allclose(batch.inputs.numpy(), (x - vectors.mean) / vectors.std, atol=1e-3)  # 5 in float32, over 1e-3
    every = normalise(torch.from_numpy(vectors.inputs), torch.tensor(vectors.mean), torch.tensor(vectors.std))
    np.testing.assert_allclose(every.mean(0), np.zeros(7), atol=1e-3)
    np.testing.assert_allclose(every.std(0, unbiased=False), [1, 1, 1, 0, 1, 1, 1], atol=1e-3)


def test_workers_fetch_the_same_vectors(vectors):
    batches = []
    for workers in (0, 1):
        data = DeliveryDataModule(vectors, Soft, seed=0, batch_size=50, workers=workers)
        data.setup("fit")
        data.start_epoch(0)
        batches.append([data.on_after_batch_transfer(batch, 0).inputs for batch in data.train_dataloader()])
    assert all(torch.equal(a, b) for a, b in zip(*batches, strict=True))


def test_predict_takes_vectors(vectors):
    torch.manual_seed(0)
    network = MLP(3, in_features=7, width=1)
    items = np.array([5, 0, 119])
    x = normalise(torch.from_numpy(vectors.inputs[items]), torch.tensor(vectors.mean), torch.tensor(vectors.std))
    np.testing.assert_allclose(predict(network, vectors, items, batch_size=2), network(x).detach().numpy(), atol=1e-6)


def test_every_network_takes_its_own_kind_of_items(make_config, tiny_source, vectors):
    mlp, resnet = make_config("model=mlp"), make_config()
    assert make_network(mlp, vectors).hidden[0][0].in_features == 7
    assert isinstance(make_network(resnet, tiny_source), ResNet18)
    with pytest.raises(InputError, match=r"ResNet18 takes images, .* are vectors: use model=mlp"):
        make_network(resnet, vectors)
    with pytest.raises(InputError, match=r"MLP takes vectors, .* are images: use model=resnet18"):
        make_network(mlp, tiny_source)
    grey = replace(tiny_source, inputs=tiny_source.inputs[..., :1], mean=(0.5,), std=(0.2,))
    with pytest.raises(InputError, match="ResNet18 takes images of 3 channels, those of 'synthetic' have 1"):
        make_network(resnet, grey)


def test_weights_of_a_seed_are_the_same(make_config, vectors):
    first, again, other = (make_network(make_config("model=mlp", f"seed={seed}"), vectors).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["fc.weight"], other["fc.weight"])
