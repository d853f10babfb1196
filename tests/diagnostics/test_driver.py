"""Probes over finished runs: skipped when done, measured anew when the run or the settings changed, safe to interrupt."""

import json
import shutil

import numpy as np
import pytest

from hardlabels.diagnostics.driver import run_probes, told_once
from hardlabels.diagnostics.probe import NotApplicableError, Probe, matched_pairs
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import read_records
from hardlabels.runs.spelling import write_pair_array


@pytest.fixture
def folders(tmp_path):
    """Four finished runs that hold nothing but what a driver looks at."""
    found = {}
    for method in ("soft", "sls"):
        for seed in (0, 1):
            cell = Cell("toy", "smoke", method, None, seed)
            path = tmp_path / "outputs" / cell.folder
            path.mkdir(parents=True)
            (path / "fingerprint.json").write_text(json.dumps({"fingerprint": f"{method}{seed}", "data": "d"}))
            (path / "history.csv").write_text("epoch\n0\n")
            (path / "done").write_text("")
            found[cell] = path
    return found


def probe(function, over="run", pairs=(), **settings) -> Probe:
    return Probe("toy", function, over, "history", settings, {}, pairs)


def test_a_probe_of_runs_writes_beside_the_run_and_is_skipped_when_done(folders, tmp_path):
    seen = []

    def measure(run, *, factor, device):
        seen.append(run.cell)
        yield "full/answer", np.float64(factor * run.cell.seed)
        yield "picture", np.eye(2)

    tally = run_probes([probe(measure, factor=3)], folders, tmp_path / "study", device="cpu")
    assert (tally.computed, tally.skipped) == (4, 0)
    path = folders[Cell("toy", "smoke", "sls", None, 1)] / "diagnostics/toy.json"
    saved = json.loads(path.read_text())
    assert saved["values"] == {"full/answer": 3.0}
    assert saved["settings"] == {"factor": 3}
    assert saved["fingerprint"] == "sls1"
    with np.load(path.with_suffix(".npz")) as arrays:
        np.testing.assert_array_equal(arrays["picture"], np.eye(2))

    assert run_probes([probe(measure, factor=3)], folders, tmp_path / "study", device="cpu").skipped == 4
    assert run_probes([probe(measure, factor=4)], folders, tmp_path / "study", device="cpu").computed == 4
    (path.parent.parent / "fingerprint.json").write_text(json.dumps({"fingerprint": "trained anew", "data": "d"}))
    tally = run_probes([probe(measure, factor=4)], folders, tmp_path / "study", device="cpu")
    assert (tally.computed, tally.skipped) == (1, 3)
    assert len(seen) == 9


def test_pairs_are_kept_one_by_one_so_that_an_interruption_loses_nothing(folders, tmp_path):
    wanted = ({"methods": ["sls", "soft"], "seeds": "same"}, {"methods": ["sls", "sls"], "seeds": "cross"})
    calls = []

    def measure(a, b, *, device):
        calls.append((a.cell, b.cell))
        if len(calls) == 2:
            raise KeyboardInterrupt
        yield "full/distance", a.cell.seed + b.cell.seed

    with pytest.raises(KeyboardInterrupt):
        run_probes([probe(measure, "pairs", wanted)], folders, tmp_path / "study", device="cpu")
    tally = run_probes([probe(measure, "pairs", wanted)], folders, tmp_path / "study", device="cpu")
    assert (tally.computed, tally.skipped) == (2, 1)
    saved = json.loads((tmp_path / "study/diagnostics/toy.json").read_text())
    kept = {(str(Cell.from_folder(e["a"])), str(Cell.from_folder(e["b"]))): e["values"]["full/distance"] for e in saved["pairs"]}
    assert kept == {
        ("sls K=all seed=0", "sls K=all seed=1"): 1,
        ("sls K=all seed=0", "soft K=all seed=0"): 0,
        ("sls K=all seed=1", "soft K=all seed=1"): 2,
    }


@pytest.mark.parametrize("over", ["run", "pairs"])
def test_a_run_that_was_trained_again_with_other_numbers_is_measured_again(folders, tmp_path, over):
    """Its fingerprint is that of its settings and data, which are the same; a bug was mended, say, or it is another machine."""
    seen = []

    def measure(*runs, device):
        seen.append(runs)
        yield "full/answer", len(seen)

    for path in folders.values():
        (path / "result.json").write_text(json.dumps({"best": {"epoch": 3}}))
    wanted = ({"methods": ["sls", "soft"], "seeds": "same"},)
    everything = 4 if over == "run" else 2
    assert run_probes([probe(measure, over, wanted)], folders, tmp_path / "study", device="cpu").computed == everything
    assert run_probes([probe(measure, over, wanted)], folders, tmp_path / "study", device="cpu").skipped == everything
    (folders[Cell("toy", "smoke", "sls", None, 1)] / "result.json").write_text(json.dumps({"best": {"epoch": 4}}))
    tally = run_probes([probe(measure, over, wanted)], folders, tmp_path / "study", device="cpu")
    assert (tally.computed, tally.skipped) == (1, everything - 1)
    assert {str(run.cell) for run in seen[-1]} >= {"sls K=all seed=1"}


def test_files_from_before_results_were_noted_are_not_measured_again(folders, tmp_path):
    def measure(*runs, device):
        yield "full/answer", 1

    wanted = ({"methods": ["sls", "soft"], "seeds": "same"},)
    both = [probe(measure), probe(measure, "pairs", wanted)]
    assert run_probes(both, folders, tmp_path / "study", device="cpu").computed == 6
    for file in [*tmp_path.rglob("outputs/**/toy.json"), tmp_path / "study/diagnostics/toy.json"]:
        saved = json.loads(file.read_text())
        for entry in (saved, *saved.get("pairs", ())):
            entry.pop("result", None)
            entry.pop("results", None)
        file.write_text(json.dumps(saved))
    assert run_probes(both, folders, tmp_path / "study", device="cpu").skipped == 6


def test_arrays_of_other_settings_do_not_stay_beside_new_numbers(folders, tmp_path):
    """A pair that is measured no more, since one of its runs has gone, would keep a picture of what was measured otherwise."""
    wanted = ({"methods": ["sls", "soft"], "seeds": "same"},)

    def measure(a, b, *, factor, device):
        yield "full/distance", factor
        yield "picture", np.full(2, factor)

    run_probes([probe(measure, "pairs", wanted, factor=1)], folders, tmp_path / "study", device="cpu")
    del folders[Cell("toy", "smoke", "soft", None, 1)]
    run_probes([probe(measure, "pairs", wanted, factor=2)], folders, tmp_path / "study", device="cpu")
    saved = json.loads((tmp_path / "study/diagnostics/toy.json").read_text())
    with np.load(tmp_path / "study/diagnostics/toy.npz") as arrays:
        assert {name: array.tolist() for name, array in arrays.items()} == {
            write_pair_array(pair["a"], pair["b"], "picture"): [2.0, 2.0] for pair in saved["pairs"]
        }


def test_a_failure_is_noted_and_the_others_go_on(folders, tmp_path):
    def measure(run, *, device):
        if run.cell.seed:
            raise InputError("seed 1 is not for us")
        yield "x", 1

    shutil.move(folders[Cell("toy", "smoke", "soft", None, 0)] / "history.csv", tmp_path / "elsewhere")
    tally = run_probes([probe(measure)], folders, tmp_path / "study", device="cpu")
    assert tally.computed == 1
    assert len(tally.failed) == 2
    assert "seed 1 is not for us" in tally.failed[0]
    assert tally.lacking == {"toy: history.csv is not there": ["soft K=all seed=0"]}


def test_what_makes_no_sense_is_told_once_and_is_no_failure(folders, tmp_path):
    def measure(run, *, checkpoint, device):
        raise NotApplicableError("it is about images, and these are texts")
        yield

    both = [probe(measure, checkpoint=checkpoint) for checkpoint in ("best", "last")]
    tally = run_probes(both, folders, tmp_path / "study", device="cpu")
    assert (tally.computed, tally.failed) == (0, [])
    assert told_once(tally.not_applicable) == ["toy: it is about images, and these are texts (soft K=all seed=0 and 3 more)"]
    assert not list(tmp_path.rglob("toy*.json"))


@pytest.mark.parametrize("over", ["run", "pairs"])
def test_each_checkpoint_has_a_file_of_its_own_and_both_say_which(folders, tmp_path, over):
    def measure(*runs, checkpoint, device):
        yield "full/answer", {"best": 1, "last": 2}[checkpoint]

    wanted = ({"methods": ["sls", "soft"], "seeds": "same"},)
    both = [probe(measure, over, wanted, checkpoint=checkpoint) for checkpoint in ("best", "last")]
    n = 2 * (4 if over == "run" else 2)
    outputs = tmp_path / "outputs"
    assert run_probes(both, folders, outputs / "studies/toy", device="cpu").computed == n
    assert run_probes(both, folders, outputs / "studies/toy", device="cpu").skipped == n
    assert {file.name for file in outputs.rglob("diagnostics/*")} == {"toy.json", "toy,checkpoint=last.json"}
    for path in folders.values():
        metrics = {"epoch": 0, "full": {}}
        (path / "result.json").write_text(json.dumps({"best": metrics, "last": metrics}))
    records = read_records([outputs])
    table = records.pairs if over == "pairs" else records.table[records.table["name"] == "toy/answer"]
    assert set(zip(table["checkpoint"], table["value"], strict=True)) == {("best", 1), ("last", 2)}
    assert len(table) == n
    assert set(records.pairs["probe"]) <= {"toy"}


def test_a_file_from_before_there_were_two_checkpoints_is_of_the_best_one(folders, tmp_path):
    def measure(run, *, checkpoint, factor, device):
        yield "x", factor

    run_probes([probe(measure, checkpoint="best", factor=3)], folders, tmp_path, device="cpu")
    for path in folders.values():
        file = path / "diagnostics/toy.json"
        saved = json.loads(file.read_text())
        del saved["settings"]["checkpoint"]
        file.write_text(json.dumps(saved))
    assert run_probes([probe(measure, checkpoint="best", factor=3)], folders, tmp_path, device="cpu").skipped == 4
    assert run_probes([probe(measure, checkpoint="last", factor=3)], folders, tmp_path, device="cpu").computed == 4
    assert run_probes([probe(measure, checkpoint="best", factor=4)], folders, tmp_path, device="cpu").computed == 4


def test_what_a_probe_needs_is_checked_before_any_run_is_touched(folders, tmp_path):
    def measure(run, *, device):
        yield "x", 1

    def before(**settings):
        raise InputError("no such file")

    refusing = Probe("late", measure, "run", "history", {}, {}, (), before)
    with pytest.raises(InputError, match="no such file"):
        run_probes([probe(measure), refusing], folders, tmp_path / "study", device="cpu")
    assert not list(tmp_path.rglob("toy.json"))


def test_cross_pairs_of_two_methods_join_all_different_seeds():
    cells = [Cell("d", "r", method, k, seed) for method in ("soft", "sls") for k in (5, None) for seed in range(3)]
    pairs = list(matched_pairs(cells, [{"methods": ["sls", "soft"], "seeds": "cross"}]))
    assert len(pairs) == 2 * 6
    assert all(a.K == b.K and a.seed != b.seed and (a.method, b.method) == ("sls", "soft") for a, b in pairs)
    with pytest.raises(InputError, match="seeds must be one of same, cross"):
        list(matched_pairs(cells, [{"methods": ["sls", "soft"], "seeds": "any"}]))
