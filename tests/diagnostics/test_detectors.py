"""Every detector against its formula, written out, and against other people's code. Higher = more outlier."""

import math

import numpy as np
import pytest
import torch
from pytorch_ood.detector import KNN, ODIN, Entropy
from sklearn.neighbors import NearestNeighbors
from torch import nn

from hardlabels.diagnostics import detectors
from hardlabels.diagnostics.detectors import (
    DETECTORS,
    LOGIT_DETECTORS,
    energy,
    knn,
    logit_margin,
    msp,
    odin,
    predictive_entropy,
)
from hardlabels.errors import InputError
from hardlabels.learning.resnet import ResNet18
from hardlabels.randomness import stream

LOGITS = [[2.0, -1.0, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0], [30.0, -30.0, 3.0, 29.0], [-4.0, -3.0, -2.0, -1.0]]


def softmax(row: list[float], temperature: float = 1.0) -> list[float]:
    powers = [math.exp(z / temperature) for z in row]
    return [power / sum(powers) for power in powers]


FORMULAS = {
    "energy": lambda row: -math.log(sum(math.exp(z) for z in row)),
    "msp": lambda row: -max(softmax(row)),
    "entropy": lambda row: -sum(q * math.log(q) for q in softmax(row)),
    "logit_margin": lambda row: -(sorted(row)[-1] - sorted(row)[-2]),
}


@pytest.mark.parametrize("name", sorted(LOGIT_DETECTORS))
def test_a_logit_detector_is_its_formula(name):
    scores = LOGIT_DETECTORS[name](torch.tensor(LOGITS, dtype=torch.float64))
    assert scores.tolist() == pytest.approx([FORMULAS[name](row) for row in LOGITS], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", sorted(LOGIT_DETECTORS))
def test_the_less_sure_image_scores_higher(name):
    sure, unsure = LOGIT_DETECTORS[name](torch.tensor([[9.0, 0.0, 0.0], [1.0, 0.5, 0.0]], dtype=torch.float64))
    assert unsure > sure


def test_the_list_of_detectors_is_whole():
    assert set(DETECTORS) == {*LOGIT_DETECTORS, "odin", "knn"}
    assert set(FORMULAS) == set(LOGIT_DETECTORS)


def test_two_confident_images_are_still_told_apart():
    """In float32 both have a maximum softmax of exactly 1."""
    logits = torch.tensor([[20.0, 0.0], [25.0, 0.0]])
    assert len(set(msp(logits).tolist())) == 1
    for detector in (energy, msp, predictive_entropy, logit_margin):
        first, second = detector(logits.double())
        assert first > second, detector.__name__


def test_the_entropy_is_pytorch_oods_but_for_its_clipping():
    logits = torch.from_numpy(stream(0, "test logits").normal(0, 2, (50, 5)))
    torch.testing.assert_close(predictive_entropy(logits), Entropy.score(logits), rtol=1e-12, atol=1e-12)
    confident = torch.tensor([[30.0, 0.0, 0.0], [40.0, 0.0, 0.0]], dtype=torch.float64)
    assert predictive_entropy(confident)[0] > predictive_entropy(confident)[1]
    assert Entropy.score(confident)[0] == pytest.approx(Entropy.score(confident)[1].item(), abs=1e-11)  # clipped alike


# ---- ODIN ----

STD = (0.25, 0.5)


@pytest.fixture
def linear():
    """z = W x + b of two pixels (as a 2-channel 1 x 1 image) and three classes: the gradients are known in closed form."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(2, 3)).double()
    rng = stream(0, "test weights")
    network[1].weight.data = torch.from_numpy(rng.normal(size=(3, 2)))
    network[1].bias.data = torch.from_numpy(rng.normal(size=3))
    return network


def explicit_odin(weights, b, x, temperature, epsilon, formula):
    """One image at a time, one class at a time."""
    z = [sum(weights[c][j] * x[j] for j in range(2)) + b[c] for c in range(3)]
    top = z.index(max(z))
    s = softmax(z, temperature)
    moved = []
    for j in range(2):
        slope = weights[top][j] - (sum(s[c] * weights[c][j] for c in range(3)) if formula == "liang2018" else 0.0)
        moved.append(x[j] + epsilon / STD[j] * math.copysign(1.0, slope))
    z = [sum(weights[c][j] * moved[j] for j in range(2)) + b[c] for c in range(3)]
    return -max(softmax(z, temperature if formula == "liang2018" else 1.0))


@pytest.mark.parametrize("formula", ["liang2018", "raw_logit"])
@pytest.mark.parametrize(("temperature", "epsilon"), [(1000.0, 0.0014), (1.0, 0.3), (10.0, 0.05)])
def test_odin_is_its_formula(linear, temperature, epsilon, formula):
    x = stream(1, "test pixels").normal(size=(40, 2))
    settings = {"temperature": temperature, "epsilon": epsilon, "formula": formula}
    scores = odin(linear, torch.from_numpy(x).view(40, 2, 1, 1), std=STD, **settings)
    weights, b = linear[1].weight.tolist(), linear[1].bias.tolist()
    expected = [explicit_odin(weights, b, pixels.tolist(), **settings) for pixels in x]
    assert scores.tolist() == pytest.approx(expected, rel=1e-10)


def test_the_two_formulas_are_two(linear):
    x = torch.from_numpy(stream(1, "test pixels").normal(size=(40, 2, 1, 1)))
    liang, raw = (odin(linear, x, std=STD, temperature=1.0, epsilon=0.3, formula=name) for name in ("liang2018", "raw_logit"))
    assert (liang - raw).abs().max() > 0.01


def test_odin_is_pytorch_oods_on_a_real_network():
    torch.manual_seed(0)
    network = ResNet18(4, width=2).double().eval()
    x = torch.randn(6, 3, 12, 12, dtype=torch.float64)
    theirs = ODIN(network, eps=0.002, temperature=100.0, norm_std=[0.2, 0.3, 0.4]).predict(x)
    ours = odin(network, x, std=(0.2, 0.3, 0.4), epsilon=0.002, temperature=100.0)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)


def test_odin_without_step_and_temperature_is_msp(linear):
    x = torch.from_numpy(stream(2, "test pixels").normal(size=(10, 2, 1, 1)))
    torch.testing.assert_close(odin(linear, x, std=STD, temperature=1.0, epsilon=0.0), msp(linear(x).detach()))


def test_odin_leaves_the_network_alone_and_needs_no_gradient_of_it(linear):
    before = [parameter.clone() for parameter in linear.parameters()]
    x = torch.from_numpy(stream(2, "test pixels").normal(size=(10, 2, 1, 1)))
    with_gradients = odin(linear, x, std=STD)
    assert all(parameter.grad is None for parameter in linear.parameters())
    torch.testing.assert_close(odin(linear.requires_grad_(False), x, std=STD), with_gradients, rtol=0, atol=0)
    assert all(torch.equal(old, new) for old, new in zip(before, linear.parameters(), strict=True))
    with torch.no_grad():  # its gradient is its own business
        torch.testing.assert_close(odin(linear, x, std=STD), with_gradients, rtol=0, atol=0)


def test_an_images_odin_score_does_not_depend_on_its_batch(linear):
    x = torch.from_numpy(stream(3, "test pixels").normal(size=(9, 2, 1, 1)))
    alone = torch.cat([odin(linear, image[None], std=STD) for image in x])
    torch.testing.assert_close(odin(linear, x, std=STD), alone, rtol=1e-12, atol=0)


@pytest.mark.parametrize("settings", [{"formula": "mine"}, {"temperature": 0.0}, {"epsilon": -0.1}])
def test_odin_refuses_settings_that_mean_nothing(linear, settings):
    with pytest.raises(InputError, match="odin"):
        odin(linear, torch.zeros(1, 2, 1, 1, dtype=torch.float64), std=STD, **settings)


# ---- KNN ----


@pytest.fixture
def features():
    rng = stream(0, "test features")
    return torch.from_numpy(rng.normal(size=(30, 7)) ** 2), torch.from_numpy(rng.normal(size=(40, 7)) ** 2)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_knn_is_the_kth_distance_of_an_explicit_loop_and_of_scikit_learn(features, k):
    test, train = features
    unit = [row / np.sqrt((row**2).sum()) for row in train.numpy()]
    expected = []
    for row in test.numpy():
        u = row / np.sqrt((row**2).sum())
        expected.append(sorted(float(np.sqrt(((u - v) ** 2).sum())) for v in unit)[k - 1])
    scores = knn(test, train, k=k)
    assert scores.tolist() == pytest.approx(expected, rel=1e-9)
    search = NearestNeighbors(n_neighbors=k, n_jobs=1).fit(np.array(unit))
    distances, _ = search.kneighbors(nn.functional.normalize(test).numpy())
    np.testing.assert_allclose(scores, distances[:, -1], rtol=1e-9)


def test_knn_is_pytorch_oods(features):
    test, train = features
    theirs = KNN(None, k=3).fit_features(train, torch.zeros(len(train))).predict_features(test)
    torch.testing.assert_close(knn(test, train, k=3), theirs, rtol=1e-9, atol=0)


def test_knn_in_small_chunks_is_the_same(features, monkeypatch):
    test, train = features
    whole = knn(test, train, k=4)
    for distances in (1, 100, 130):
        monkeypatch.setattr(detectors, "MAX_DISTANCES", distances)
        torch.testing.assert_close(knn(test, train, k=4), whole, rtol=1e-7, atol=1e-9)


def test_knn_looks_at_directions_only(features):
    test, train = features
    torch.testing.assert_close(knn(5 * test, 0.1 * train, k=2), knn(test, train, k=2))


def test_knn_of_a_training_image_is_zero_and_a_dead_feature_vector_has_a_score(features):
    _, train = features
    assert knn(train, train, k=1).max() < 1e-7
    assert knn(torch.zeros(1, 7), train, k=1).item() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [0, 41])
def test_k_must_be_a_neighbour_that_exists(features, k):
    with pytest.raises(InputError, match=r"knn_k must be 1 \.\. 40"):
        knn(*features, k=k)
