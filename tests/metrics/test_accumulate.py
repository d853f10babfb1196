"""The torchmetrics classes: any batches and any processes give what ``score`` gives on all rows."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hardlabels.metrics import METRICS, score
from hardlabels.metrics.accumulate import PredictionMetric, PredictionMetrics, Scores, SoftNLL


def fill(metric, logits, p, sizes):
    for batch in zip(torch.from_numpy(logits).split(sizes), torch.from_numpy(p).split(sizes), strict=True):
        metric.update(*batch)
    return metric


def test_every_metric_has_one_class_which_knows_its_direction():
    classes = {metric.name: metric for metric in PredictionMetric.__subclasses__()}
    assert list(classes) == list(METRICS)
    assert all(classes[name].higher_is_better is spec.higher_is_better for name, spec in METRICS.items())


@pytest.mark.parametrize("metric", PredictionMetric.__subclasses__())
def test_each_class_alone_is_its_function(predictions, metric):
    logits, p = predictions(100)
    value = fill(metric(), logits, p, [64, 36]).compute()
    assert value.dtype == torch.float64
    assert value.item() == score(logits, p)[metric.name]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any))
@settings(deadline=None, max_examples=30)
def test_uneven_batches_give_the_same_as_one(sizes):
    rng = np.random.default_rng(sum(sizes))
    logits, p = 3 * rng.normal(size=(sum(sizes), 4)), rng.multinomial(5, np.full(4, 0.25), size=sum(sizes)) / 5
    values = {name: value.item() for name, value in fill(PredictionMetrics(), logits, p, sizes).compute().items()}
    assert values == pytest.approx(score(logits, p), abs=1e-12, nan_ok=True)


def test_the_collection_updates_one_state_from_the_first_batch_on(predictions, monkeypatch):
    logits, p = predictions(30)
    calls, keep = [], PredictionMetric.update

    def counted(self, logits, p):
        calls.append(self.name)
        keep(self, logits, p)

    # Metric.__init__ wraps update for each instance, so the class is patched before the collection is made.
    monkeypatch.setattr(PredictionMetric, "update", counted)
    metrics = fill(PredictionMetrics(), logits, p, [20, 10])
    assert calls == ["soft_nll"] * 2
    states = {id(metric.logits) for metric in metrics.values(copy_state=False)}
    assert len(states) == 1


def test_the_collection_is_its_members(predictions):
    logits, p = predictions(50)
    metrics = fill(PredictionMetrics("val/"), logits, p, [25, 25])
    values = metrics.compute()
    assert list(values) == [f"val/{name}" for name in METRICS]
    assert all(torch.equal(values[key], metric.compute()) for key, metric in metrics.items())


def test_reset_and_clone_start_afresh(predictions):
    first, second = predictions(20, seed=1), predictions(30, seed=2)
    metrics = fill(PredictionMetrics(), *first, [20])
    metrics.compute()
    clone = metrics.clone(prefix="test/")
    metrics.reset()
    assert fill(metrics, *second, [30]).compute()["soft_nll"].item() == score(*second)["soft_nll"]
    assert clone.compute()["test/soft_nll"].item() == score(*first)["soft_nll"]


def test_values_follow_rows_added_after_a_compute(predictions):
    logits, p = predictions(20)
    metrics = fill(PredictionMetrics(), logits[:10], p[:10], [10])
    metrics.compute()
    fill(metrics, logits[10:], p[10:], [10])
    assert metrics.compute()["ece_eqmass"].item() == score(logits, p)["ece_eqmass"]


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric")
def test_no_rows_have_no_value():
    untouched, empty = PredictionMetrics(), PredictionMetrics()
    empty.update(torch.zeros(0, 3), torch.zeros(0, 3))
    for metrics in (untouched, empty):
        assert all(math.isnan(value) for value in metrics.compute().values())
    assert math.isnan(SoftNLL().compute())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_low_precision_logits_are_scored_in_float64(predictions, dtype):
    logits, p = predictions(40)
    rounded = torch.from_numpy(logits).to(dtype)
    metric = SoftNLL()
    metric.update(rounded, torch.from_numpy(p))
    assert metric.compute().item() == score(rounded.double().numpy(), p)["soft_nll"]


def test_nothing_keeps_the_graph_alive():
    metric = SoftNLL()
    metric.update(torch.zeros(2, 2, requires_grad=True) * 1, torch.full((2, 2), 0.5))
    assert not metric.logits[0].requires_grad


def slices_of(p):
    """As a run has them: everything, the disputed items, and a slice that is empty."""
    return {"full": (np.ones(len(p), dtype=bool), p), "disputed": (p.max(1) < 1, p), "none": (np.zeros(len(p), dtype=bool), p)}


def test_scores_of_slices_are_those_of_their_rows_epoch_after_epoch(predictions):
    """Whatever the batches and the order of items, which may change; a prediction that is none spoils only its slices."""
    _, p = predictions(60, classes=4, votes=3)
    p = p.astype(np.float32).astype(np.float64)
    scores, rng = Scores(slices_of(p)), np.random.default_rng(0)
    for epoch, order in enumerate([np.arange(40), np.arange(40), rng.permutation(60), np.arange(40)]):
        logits = rng.normal(size=(len(order), 4)).astype(np.float32)
        if epoch == 3:
            logits[p[order].max(1) == 1] = np.nan
        for rows in np.array_split(np.arange(len(order)), 3):
            scores.update(torch.from_numpy(logits[rows]), torch.from_numpy(order[rows]))
        values, expected = dict(zip(scores.names, scores.compute().tolist(), strict=True)), {}
        for name, (inside, target) in slices_of(p).items():
            rows = inside[order]
            prefix = "" if name == "full" else f"{name}/"
            expected |= {f"{prefix}{metric}": value for metric, value in score(logits[rows], target[order][rows]).items()}
        assert values == pytest.approx(expected, rel=0, abs=0, nan_ok=True)
        assert math.isnan(values["soft_nll"]) == (epoch == 3)
        assert not math.isnan(values["disputed/soft_nll"])
        scores.reset()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_rows_on_a_gpu(predictions):
    logits, p = predictions(40)
    metrics = PredictionMetrics().to("cuda")
    metrics.update(torch.from_numpy(logits).cuda(), torch.from_numpy(p).cuda())
    assert metrics.compute()["soft_nll"].item() == pytest.approx(score(logits, p)["soft_nll"], abs=1e-12)


def test_two_processes_with_uneven_shards(predictions, tmp_path):
    """5 and 3 rows, then 8 and none: every process gets the values of the 8 rows, from each of the classes."""
    logits, p = predictions(8, classes=4, votes=5)
    np.savez(tmp_path / "rows.npz", logits=logits, p=p, cut_uneven=5, cut_empty=8)
    script = Path(__file__).with_name("two_processes.py")
    commands = ([sys.executable, script, str(rank), tmp_path / "rows.npz", tmp_path] for rank in (0, 1))
    processes = [subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}) for command in commands]
    try:
        assert [process.wait(timeout=120) for process in processes] == [0, 0]
    finally:
        for process in processes:
            process.kill()
    expected = score(logits, p)
    expected["single"] = expected["smooth_ece"]
    p = p.astype(np.float32).astype(np.float64)
    slices = [value for half in (slice(None), slice(4, None)) for value in score(logits[half], p[half]).values()]
    for rank in (0, 1):
        for case, values in json.loads((tmp_path / f"{rank}.json").read_text()).items():
            kept = values.pop("kept")
            assert values.pop("slices") == pytest.approx(slices, abs=1e-12), (rank, case)
            assert values == pytest.approx(expected, abs=1e-12), (rank, case)
            assert kept == {"uneven": (3, 2), "empty": (4, 1)}[case][rank]  # batches of its own, no longer those gathered
