"""Run folders to one long table: hand-written folders with known numbers, and two thousand of them."""

import json
import time

import numpy as np
import pytest
from omegaconf import OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.quantity import Quantity
from hardlabels.runs.records import read_records
from hardlabels.runs.records.kept import CACHE
from hardlabels.runs.studies.study import Study


def write_run(outputs, method="sls", k=None, seed=0, soft_nll=0.5, done=True, probes=None):
    cell = Cell("toy", "smoke", method, k, seed)
    folder = outputs / cell.folder
    folder.mkdir(parents=True)
    best = {"epoch": 3, "full": {"soft_nll": soft_nll, "ent_corr": None}, "high_disagreement": {"soft_nll": 2 * soft_nll}}
    last = {"epoch": 5, "full": {"soft_nll": soft_nll + 1}}
    (folder / "result.json").write_text(json.dumps({"best": best, "last": last, "items": {"full": 4}}))
    for name, values in (probes or {}).items():
        (folder / "diagnostics").mkdir(exist_ok=True)
        (folder / "diagnostics" / f"{name}.json").write_text(json.dumps({"probe": name, "values": values}))
    if done:
        (folder / "done").write_text("")
    return folder


@pytest.fixture
def study():
    grid = [{"method": ["soft", "sls"], "K": [5, None], "seed": "range(2)"}]
    return Study.from_config(OmegaConf.create({"name": "toy_study", "data": "toy", "recipe": "smoke", "grid": grid}))


def test_one_row_a_number(tmp_path):
    write_run(
        tmp_path, k=5, seed=7, soft_nll=0.25, probes={"hessian": {"full/lambda_max": 9.0, "weight_norm": 2, "note": "text"}}
    )
    table = read_records([tmp_path]).table
    rows = {(row["slice"], row["checkpoint"], row["name"]): row["value"] for _, row in table.iterrows()}
    assert np.isnan(rows.pop(("full", "best", "ent_corr")))
    assert rows == {
        ("full", "best", "epoch"): 3, ("full", "best", "soft_nll"): 0.25, ("high_disagreement", "best", "soft_nll"): 0.5,
        ("full", "last", "epoch"): 5, ("full", "last", "soft_nll"): 1.25,
        ("full", "best", "hessian/lambda_max"): 9.0, ("full", "best", "hessian/weight_norm"): 2.0,
    }  # fmt: skip
    assert set(zip(table["data"], table["recipe"], table["method"], table["K"], table["seed"], strict=True)) == {
        ("toy", "smoke", "sls", 5.0, 7)
    }


def test_values_are_by_seed_and_all_votes_are_infinite(tmp_path):
    for seed, value in ((2, 0.3), (0, 0.1)):
        write_run(tmp_path, seed=seed, soft_nll=value)
    write_run(tmp_path, k=5, soft_nll=0.9)
    values = read_records([tmp_path]).values("soft_nll", method="sls", K=np.inf)
    assert values.to_dict() == {0: 0.1, 2: 0.3}


def test_what_is_not_in_the_table_is_listed_with_its_reason(tmp_path, study):
    write_run(tmp_path, "soft", 5, 0)
    stopped = write_run(tmp_path, "soft", 5, 1, done=False)
    (stopped / "error.txt").write_text("RuntimeError: boom\n\ntraceback")
    broken = write_run(tmp_path, "sls", 5, 0)
    (broken / "result.json").write_text('{"best": {"epo')
    records = read_records([tmp_path], study)
    assert list(records.folders) == [Cell("toy", "smoke", "soft", 5, 0)]
    reasons = dict(records.unfinished)
    assert "RuntimeError: boom" in reasons[stopped]
    assert "unreadable" in reasons[broken]
    assert len(records.missing) == 5
    assert set(records.table["study"]) == {"toy_study"}


def test_the_cache_is_used_and_follows_every_change(tmp_path):
    folder = write_run(tmp_path, soft_nll=0.1)
    read_records([tmp_path])
    assert (tmp_path / CACHE).is_file()
    # A cached value that no file holds shows that the cache is what was read.
    text = (tmp_path / CACHE).read_text()
    (tmp_path / CACHE).write_text(text.replace(",0.1\n", ",0.125\n"))
    assert read_records([tmp_path]).values("soft_nll")[0] == 0.125
    (folder / "diagnostics").mkdir()
    (folder / "diagnostics/cka.json").write_text('{"values": {"x": 4}}')
    records = read_records([tmp_path])
    assert records.values("soft_nll")[0] == 0.1
    assert records.values("cka/x")[0] == 4
    (tmp_path / CACHE).write_text("garbage")
    assert read_records([tmp_path]).values("cka/x")[0] == 4
    (folder / "done").unlink()
    assert read_records([tmp_path]).table.empty


def test_the_cached_table_is_the_read_one_bit_for_bit(tmp_path):
    for seed in range(20):
        write_run(tmp_path, seed=seed, soft_nll=float(np.random.default_rng(seed).normal()))
    first, second = read_records([tmp_path]).table, read_records([tmp_path]).table
    assert first.sort_values(list(first)).reset_index(drop=True).equals(second.sort_values(list(second)).reset_index(drop=True))


def test_a_cell_finished_in_two_places_counts_once_and_the_first_place_wins(tmp_path):
    write_run(tmp_path / "outputs", soft_nll=0.1)
    write_run(tmp_path / "results", soft_nll=0.2)
    write_run(tmp_path / "results", seed=1, soft_nll=0.3)
    records = read_records([tmp_path / "outputs", tmp_path / "results", tmp_path / "absent"])
    assert records.values("soft_nll").to_dict() == {0: 0.1, 1: 0.3}


def test_pairs_keep_the_coordinates_of_both_runs(tmp_path, study):
    for method in ("soft", "sls"):
        write_run(tmp_path, method)
    file = tmp_path / "studies/toy_study/diagnostics/barrier.json"
    file.parent.mkdir(parents=True)
    a, b = (str(Cell("toy", "smoke", method, None, 0).folder) for method in ("sls", "soft"))
    gone = str(Cell("toy", "smoke", "sls", None, 9).folder)
    values = {"full/barrier": 2.5, "curve": [1, 2]}
    file.write_text(json.dumps({"pairs": [{"a": a, "b": b, "values": values}, {"a": a, "b": gone, "values": values}]}))
    [row] = read_records([tmp_path], study).pairs.to_dict("records")
    assert (row["probe"], row["method_a"], row["method_b"], row["K_a"], row["seed_b"]) == ("barrier", "sls", "soft", np.inf, 0)
    assert (row["slice"], row["name"], row["value"]) == ("full", "barrier", 2.5)


def test_two_thousand_runs_are_read_in_one_pass(tmp_path):
    """The issue asks for 10 seconds; the limit here is loose, since the machine is shared. Linear growth is what matters."""
    for seed in range(2000):
        write_run(tmp_path, seed=seed)
    start = time.monotonic()
    records = read_records([tmp_path])
    first = time.monotonic() - start
    start = time.monotonic()
    again = read_records([tmp_path])
    assert len(records.folders) == len(again.folders) == 2000
    assert len(records.table) == len(again.table) == 12_000
    assert first + time.monotonic() - start < 60


def test_records_are_seen_at_one_checkpoint_or_the_other(tmp_path):
    write_run(tmp_path, seed=0, soft_nll=0.25, probes={"dynamics": {"best_epoch": 3}, "hessian": {"lambda_max": 9.0}})
    records = read_records([tmp_path])
    last = records.at("last")
    assert (records.checkpoint, last.checkpoint) == ("best", "last")
    assert [seen.values("soft_nll")[0] for seen in (records, last, last.at("best"))] == [0.25, 1.25, 0.25]
    assert records.values("soft_nll", checkpoint="last")[0] == 1.25
    assert [seen.values("dynamics/best_epoch")[0] for seen in (records, last)] == [3, 3]  # a curve has no checkpoint
    assert [len(seen.values("hessian/lambda_max")) for seen in (records, last)] == [1, 0]
    assert set(last.seen["name"]) == {"epoch", "soft_nll", "dynamics/best_epoch"}
    with pytest.raises(InputError, match="checkpoint must be one of best, last, got 'middle'"):
        records.at("middle")


@pytest.mark.parametrize(
    "quantity", [Quantity("soft_nll"), Quantity("lambda_max", "hessian"), Quantity("svhn/energy/auroc", "ood", "full")]
)
def test_a_quantity_is_read_back_from_its_column(quantity):
    assert Quantity.from_column(quantity.column, quantity.slice) == quantity
