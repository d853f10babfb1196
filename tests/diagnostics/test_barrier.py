"""The loss barrier, on lines whose loss is known in closed form."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import update_bn

from hardlabels.diagnostics import barrier as module
from hardlabels.diagnostics.barrier import CURVES, barrier, barrier_height, common_items, interpolate, reestimate_batch_norm
from hardlabels.diagnostics.items import chunks, shared_items
from hardlabels.errors import InputError
from hardlabels.learning.resnet import ResNet18
from hardlabels.votes import Split, split_items

SETTINGS = {"checkpoint": "best", "points": 5, "chunk": 100, "max_items": None, "max_bn_items": None}
ALPHA = np.linspace(0, 1, 25)


def losses(network, a, b, inputs, p):
    """Soft cross-entropy at every point of ALPHA, by the plainest loop."""
    values = []
    for alpha in ALPHA:
        network.load_state_dict(interpolate(a, b, float(alpha)))
        values.append(F.cross_entropy(network(inputs), p).item())
    return np.array(values)


def test_a_convex_model_has_no_barrier():
    torch.manual_seed(0)
    a, b = nn.Linear(6, 4).double(), nn.Linear(6, 4).double()
    inputs, p = torch.randn(40, 6).double(), torch.rand(40, 4).double().softmax(1)
    height, _ = barrier_height(ALPHA, losses(nn.Linear(6, 4).double(), a.state_dict(), b.state_dict(), inputs, p))
    assert height == 0.0


def test_two_signs_of_one_product_have_the_barrier_of_the_empty_network_between_them():
    """z = u v x with (u, v) = (1, 1) and (-1, -1): the same function, and at the middle no function at all."""

    class Product(nn.Module):
        def __init__(self, sign):
            super().__init__()
            self.u, self.v = nn.Parameter(torch.tensor([sign]).double()), nn.Parameter(torch.tensor([sign]).double())

        def forward(self, x):
            return torch.stack([self.u * self.v * x, torch.zeros_like(x)], dim=1)

    x = torch.tensor([3.0]).double()
    ends = Product(1.0).state_dict(), Product(-1.0).state_dict()
    height, at = barrier_height(ALPHA, losses(Product(0.0), *ends, x, torch.tensor([[1.0, 0.0]]).double()))
    assert at == 0.5
    assert height == pytest.approx(math.log(2) - math.log1p(math.exp(-3.0)))


def test_statistics_averaged_like_weights_make_a_barrier_that_reestimation_removes():
    """Weights w and 10 w with their own statistics are one function, and so is every network between them, once its statistics
    fit: mean and variance must be those of (1 + 9 alpha) w. The variance of the ends, interpolated, is another one."""
    torch.manual_seed(0)
    x = torch.randn(200, 1).double()

    def end(scale):
        net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1, eps=1e-12)).double()
        nn.init.constant_(net[0].weight, scale)
        net[1].running_mean[:], net[1].running_var[:] = scale * x.mean(), scale**2 * x.var()
        return net.eval()

    network, ends, unit = end(1.0), (end(1.0).state_dict(), end(10.0).state_dict()), (x - x.mean()) / x.std()
    for alpha in ALPHA:
        network.load_state_dict(interpolate(*ends, float(alpha)))
        shrunk = (1 + 9 * alpha) / math.sqrt(1 + 99 * alpha)
        torch.testing.assert_close(network(x), unit * shrunk)
        reestimate_batch_norm(network, [x])
        torch.testing.assert_close(network(x), unit)


def test_reestimation_is_the_average_over_batches_of_an_explicit_loop_and_of_torch():
    torch.manual_seed(0)
    ours, theirs = ResNet18(3, width=2), ResNet18(3, width=2)
    theirs.load_state_dict(ours.state_dict())
    batches = list(torch.randn(4, 8, 3, 12, 12))
    reestimate_batch_norm(ours, iter(batches))
    update_bn(batches, theirs)
    first = [ours.conv1(batch) for batch in batches]
    torch.testing.assert_close(ours.bn1.running_mean, torch.stack([z.mean((0, 2, 3)) for z in first]).mean(0))
    torch.testing.assert_close(ours.bn1.running_var, torch.stack([z.var((0, 2, 3)) for z in first]).mean(0))
    for name, value in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], value)
    assert int(ours.bn1.num_batches_tracked) == 4


def test_reestimation_touches_nothing_else_and_ends_in_eval_mode():
    seen = []
    network = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, momentum=0.3), nn.Dropout(0.5)).train()
    network[2].register_forward_hook(lambda module, inputs, output: seen.append(torch.equal(inputs[0], output)))
    before = {name: p.clone() for name, p in network.named_parameters()}
    reestimate_batch_norm(network, [torch.randn(5, 3), torch.randn(5, 3)])
    assert seen == [True, True]  # dropout was off
    assert not any(module.training for module in network.modules())
    assert network[1].momentum == 0.3
    assert all(torch.equal(p, before[name]) for name, p in network.named_parameters())


def test_the_ends_of_the_line_are_exact_and_counters_are_not_averaged():
    torch.manual_seed(0)
    a, b = ResNet18(3, width=2).state_dict(), ResNet18(3, width=2).state_dict()
    a["bn1.num_batches_tracked"] += 7
    for alpha, end in ((0.0, a), (1.0, b)):
        state = interpolate(a, b, alpha)
        assert all(torch.equal(state[name], end[name]) for name in end if end[name].is_floating_point())
    middle = interpolate(a, b, 0.5)["bn1.num_batches_tracked"]
    assert middle.dtype == torch.int64
    assert int(middle) == 7


def test_networks_of_different_width_have_no_line():
    with pytest.raises(InputError, match=r"no line between networks of different shape: conv1.weight"):
        interpolate(ResNet18(3, width=2).state_dict(), ResNet18(3, width=4).state_dict(), 0.5)


def test_an_undefined_loss_gives_an_undefined_barrier():
    assert math.isnan(barrier_height(np.array([0, 0.5, 1]), np.array([1.0, np.nan, 1.0]))[0])


def test_chunks_of_a_reestimation_have_nearly_one_size():
    sizes = [len(part) for part in chunks(np.arange(1001), 500)]
    assert sizes == [334, 334, 333]  # not 500, 500, 1: every batch counts the same


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_the_ends_are_the_runs_own_saved_results(finished, device, checkpoint):
    a, b = finished("sls"), finished("soft")
    values = dict(barrier(a, b, **{**SETTINGS, "checkpoint": checkpoint}, device=device))
    for name in ("full", "non_unanimous", "high_disagreement"):
        for metric in CURVES if name == "full" else CURVES[:1]:
            curve = values[f"{name}/{metric}_interpolated_bn"]
            saved = [run.result[checkpoint][name][metric] for run in (a, b)]
            assert [curve[0], curve[-1]] == pytest.approx(saved, abs=1e-4)
            assert len(curve) == len(values["alpha"]) == 5
        excess = np.array(values[f"{name}/soft_nll_interpolated_bn"])
        line = np.linspace(excess[0], excess[-1], 5)
        assert values[f"{name}/barrier_interpolated_bn"] == pytest.approx((excess - line).max())
    assert values["full/items"] == len(a.split.evaluate)


def test_a_run_and_itself_have_no_barrier_and_repeat_to_the_bit(finished):
    run = finished("sls")
    first, second = (dict(barrier(run, run, **SETTINGS, device="cpu")) for _ in range(2))
    assert first == second
    for variant in ("interpolated_bn", "reestimated_bn"):
        assert first[f"full/barrier_{variant}"] == pytest.approx(0.0, abs=1e-9)
        assert np.ptp(first[f"full/soft_nll_{variant}"]) == pytest.approx(0.0, abs=1e-9)


def test_runs_of_two_seeds_meet_on_what_neither_trained_on(finished):
    a, b = finished("sls", 0), finished("sls", 1)
    items = shared_items(a, b)
    assert set(items) == {i for i in range(300) if i not in set(a.split.train) | set(b.split.train)}
    values = dict(barrier(a, b, **SETTINGS, device="cpu"))
    assert values["full/items"] == len(items) < len(a.split.evaluate)
    fewer = dict(barrier(a, b, **{**SETTINGS, "max_items": 5, "max_bn_items": 30}, device="cpu"))
    assert (fewer["full/items"], fewer["bn_items"]) == (5, 30)


@pytest.mark.parametrize("recipe", [[], ["recipe.split=three_way", "run.tag=three"], ["recipe.train_items=40", "run.tag=few"]])
def test_pairs_of_one_seed_and_of_two_reestimate_on_equally_many_items(finished, monkeypatch, recipe):
    """With 40 training items, runs of two seeds have about 5 of them in common: that is what the number once was."""
    seen = []

    def reestimate(network, batches):
        seen.append(sum(map(len, batches)))

    monkeypatch.setattr(module, "reestimate_batch_norm", reestimate)
    a, b, c = finished("sls", 0, *recipe), finished("soft", 0, *recipe), finished("sls", 1, *recipe)
    held_out = len(a.split.evaluate) + (len(a.split.select) if "recipe.split=three_way" in recipe else 0)
    for pair in ((a, b), (a, c)):
        assert dict(barrier(*pair, **SETTINGS, device="cpu"))["bn_items"] == 300 - 2 * held_out
    assert set(seen) == {300 - 2 * held_out}


@pytest.mark.parametrize("protocol", ["paper", "three_way"])
def test_any_two_splits_have_as_many_items_in_common_as_every_pair_is_promised(protocol):
    labels = np.random.default_rng(0).integers(0, 7, 500)
    splits = [split_items(labels, seed=seed, protocol=protocol, train_items=50) for seed in range(12)]
    numbers = set()
    for a in splits:
        for b in splits:
            items, number = common_items(a, b, 500)
            numbers.add(number)
            assert len(items) >= number
            for held_out in (a.select, a.evaluate, b.select, b.evaluate):
                assert not np.intersect1d(items, held_out).size
    assert len(numbers) == 1
    assert min(numbers) > 0.3 * 500


def test_the_probe_leaves_the_runs_as_they_were(finished, contents):
    runs = finished("sls"), finished("soft")
    before = contents(*runs)
    list(barrier(*runs, **SETTINGS, device="cpu"))
    assert contents(*runs) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [({"points": 2}, "points"), ({"chunk": 0}, "chunk"), ({"max_items": 0}, "items"), ({"max_bn_items": 1}, "max_bn_items")],
)
def test_settings_that_make_no_sense_are_refused(finished, change, message):
    with pytest.raises(InputError, match=message):
        list(barrier(finished("sls"), finished("soft"), **{**SETTINGS, **change}, device="cpu"))


def test_runs_without_an_item_that_both_may_see_are_refused(finished):
    run = finished("sls")
    everything = Split(np.array([]), run.split.evaluate, np.arange(300))
    apart = SimpleNamespace(source=run.source, path="b", split=everything)
    with pytest.raises(InputError, match="share 0 items to see; BN statistics need at least 2"):
        list(barrier(run, apart, **SETTINGS, device="cpu"))
