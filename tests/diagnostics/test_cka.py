"""CKA against explicit Gram matrices, against ckatorch, and by its invariances."""

import math
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from ckatorch.core import cka_base, cka_batch

from hardlabels.diagnostics.cka import cka, debiased_cka, hsic_1, linear_cka
from hardlabels.diagnostics.items import shared_items
from hardlabels.errors import InputError


def features(n=30, d=5, e=7, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + 3
    return x, np.maximum(x @ rng.normal(size=(d, e)) + rng.normal(size=(n, e)), 0)


def loop_hsic_1(x, y):
    """Song et al. 2012, equation 5, entry by entry."""
    n = len(x)
    k = [[float(x[i] @ x[j]) if i != j else 0.0 for j in range(n)] for i in range(n)]
    m = [[float(y[i] @ y[j]) if i != j else 0.0 for j in range(n)] for i in range(n)]
    product = [[sum(k[i][r] * m[r][j] for r in range(n)) for j in range(n)] for i in range(n)]
    trace = sum(product[i][i] for i in range(n))
    middle = sum(map(sum, k)) * sum(map(sum, m)) / ((n - 1) * (n - 2))
    return (trace + middle - 2 / (n - 2) * sum(map(sum, product))) / (n * (n - 3))


def test_plain_cka_is_that_of_centred_gram_matrices():
    x, y = features()
    centre = np.eye(30) - 1 / 30
    k, m = centre @ (x @ x.T) @ centre, centre @ (y @ y.T) @ centre
    expected = (k * m).sum() / math.sqrt((k * k).sum() * (m * m).sum())
    assert linear_cka(x, y) == pytest.approx(expected, rel=1e-12)


def test_hsic_1_is_that_of_an_explicit_loop():
    x, y = features(n=12)
    assert hsic_1(x, y) == pytest.approx(loop_hsic_1(x, y), rel=1e-10)
    expected = loop_hsic_1(x, y) / math.sqrt(loop_hsic_1(x, x) * loop_hsic_1(y, y))
    assert debiased_cka(x, y) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_both_agree_with_ckatorch(seed):
    x, y = features(n=50, seed=seed)
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    assert linear_cka(x, y) == pytest.approx(cka_base(tx, ty, unbiased=False).item(), rel=1e-10)
    assert debiased_cka(x, y) == pytest.approx(cka_base(tx, ty, unbiased=True).item(), rel=1e-10)
    assert debiased_cka(x, y) == pytest.approx(cka_batch(tx[None], ty[None]).item(), rel=1e-10)


@pytest.mark.parametrize("measure", [linear_cka, debiased_cka])
def test_rotation_scale_and_shift_do_not_matter_but_other_linear_maps_do(measure):
    x, y = features()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    assert measure(4.2 * x @ rotation - 9, y) == pytest.approx(measure(x, y), rel=1e-10)
    assert measure(x, x @ rotation) == pytest.approx(1.0)
    assert measure(x, y) == pytest.approx(measure(y, x), rel=1e-12)
    assert abs(measure(x * [100, 1, 1, 1, 1], y) - measure(x, y)) > 0.01


def test_a_large_mean_costs_few_digits():
    x, y = features()
    assert debiased_cka(x + 1e4, y) == pytest.approx(debiased_cka(x, y), rel=1e-9)


def test_unrelated_features_are_alike_only_to_the_biased_estimate():
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(size=(60, 100)), rng.normal(size=(60, 100))) for _ in range(40)]
    debiased = np.array([debiased_cka(x, y) for x, y in pairs])
    assert abs(debiased.mean()) < 4 * debiased.std(ddof=1) / math.sqrt(40)
    assert np.mean([linear_cka(x, y) for x, y in pairs]) > 0.5


def test_memory_is_that_of_features_not_of_pairs_of_items():
    x, y = features(n=20_000, d=4, e=4)
    tracemalloc.start()
    value = debiased_cka(x, y), linear_cka(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(0 < v <= 1 for v in value)
    assert peak < 20e6  # 20,000 x 20,000 would be 3,200 MB


def test_features_that_do_not_vary_have_no_cka():
    constant = np.ones((6, 3))
    assert math.isnan(linear_cka(constant, features(n=6)[0]))
    assert math.isnan(debiased_cka(constant, features(n=6)[0]))
    assert math.isnan(debiased_cka(*features(n=3)))


def test_the_probe_compares_penultimate_features_of_the_shared_images(finished, device):
    a, b = finished("sls", 0), finished("soft", 1)
    values = dict(cka(a, b, checkpoint="best", chunk=5, device=device))
    items = sorted(set(a.split.evaluate) & set(b.split.evaluate))
    outputs = []
    for run in (a, b):
        network, seen = run.network(), []
        network.fc.register_forward_hook(lambda module, inputs, output, seen=seen: seen.append(inputs[0].detach().double()))
        network(run.inputs(np.array(items)))
        outputs.append(seen[0])
    assert values["full/items"] == len(items)
    assert values["features"] == [16, 16]
    assert values["full/cka"] == pytest.approx(cka_base(*outputs).item(), abs=1e-4)
    assert values["full/cka_debiased"] == pytest.approx(cka_base(*outputs, unbiased=True).item(), abs=1e-3)


def test_a_run_is_like_itself(finished):
    run = finished("sls")
    values = dict(cka(run, run, checkpoint="best", chunk=50, device="cpu"))
    assert values["full/items"] == len(run.split.evaluate)
    for name in ("full", "non_unanimous", "high_disagreement"):
        assert values[f"{name}/cka"] == pytest.approx(1.0)


def test_runs_without_a_common_image_are_refused(finished):
    run = finished("sls")
    apart = SimpleNamespace(source=run.source, path="there", split=SimpleNamespace(evaluate=run.split.train))
    with pytest.raises(InputError, match="no item is in the evaluation split of both"):
        list(cka(run, apart, checkpoint="best", chunk=50, device="cpu"))
    other = SimpleNamespace(source=SimpleNamespace(fingerprint="another"), path="there")
    with pytest.raises(InputError, match="same data"):
        shared_items(run, other)


def test_the_probe_leaves_the_runs_as_they_were(finished, contents):
    runs = finished("sls", 0), finished("soft", 1)
    before = contents(*runs)
    list(cka(*runs, checkpoint="best", chunk=50, device="cpu"))
    assert contents(*runs) == before
