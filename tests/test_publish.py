"""Published records: the same table as the runs gave, nothing of the machine, and never one run in place of another."""

import json
import lzma
import platform
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from hardlabels.diagnose import main as diagnose
from hardlabels.metrics import score
from hardlabels.publish import main
from hardlabels.runs.archive import FILES, unpacked
from hardlabels.runs.cell import Cell
from hardlabels.runs.compact import STEP, compact_predictions
from hardlabels.runs.derived import derived_numbers
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import read_records

HOST = "host-of-mine"
STUDY = ["study=demo", "study.tag=tiny"]


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command's ``main`` in this process: exit code, standard output, standard error."""

    def run(entry, *arguments):
        monkeypatch.setattr(sys, "argv", [entry.__module__, *arguments])
        try:
            entry()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def outputs(make_config, run_cell, command, tmp_path, monkeypatch):
    """Two trained runs of study demo, with probes of runs and of pairs."""
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(platform, "node", lambda: HOST)
    monkeypatch.setattr(sys, "argv", ["train.py", f"outputs={tmp_path}/outputs", f"data.votes={tmp_path}/votes.csv"])
    for method in ("sls", "soft"):
        run_cell(make_config(f"method={method}"))
    code, _, err = command(diagnose, *STUDY, f"outputs={tmp_path}/outputs", "probe=dynamics,gradient_variance,cka")
    assert code == 0, err
    return tmp_path / "outputs"


def sorted_table(records):
    return records.table.sort_values(list(records.table)).reset_index(drop=True)


@pytest.mark.parametrize("archive", [False, True])
def test_published_records_are_the_runs_and_hold_nothing_of_the_machine(outputs, command, tmp_path, archive):
    before, into = read_records([outputs]), tmp_path / "results"
    arguments = [*STUDY, f"outputs={outputs}", f"into={into}", f"archive={archive}"]
    code, out, err = command(main, *arguments)
    assert (code, err) == (0, "")
    assert "2 of 24 runs published, 2 of them now" in out
    written = {path: path.read_bytes() for path in into.rglob("*") if path.is_file()}
    assert not [path for path in written if path.suffix == ".ckpt"]
    assert command(main, *arguments)[1].startswith("2 of 24 runs published, 0 of them now")
    assert {path: path.read_bytes() for path in into.rglob("*") if path.is_file()} == written

    predictions = {cell: FinishedRun(path).predictions for cell, path in before.folders.items()}
    shutil.rmtree(outputs)
    after = read_records([into])
    assert sorted_table(after).equals(sorted_table(before))
    assert after.pairs.equals(before.pairs)
    assert len(after.pairs)
    for cell, path in after.folders.items():
        run = FinishedRun.open(path)
        assert run.cell == cell
        assert all((run.predictions[name] == array).all() for name, array in predictions[cell].items())
        assert (run.cfg.outputs, run.environment[0]["command"]) == (
            "outputs",
            ["train.py", "outputs=outputs", "data.votes=votes.csv"],
        )
        assert len(run.history) == 2
        assert {file.name for file in path.iterdir()} == {*FILES, "diagnostics"}
        assert (path / "diagnostics/gradient_variance.npz").is_file()
        for file in (file for file in path.rglob("*") if file.is_file()):
            assert str(tmp_path).encode() not in file.read_bytes(), file
            assert HOST.encode() not in file.read_bytes(), file
    for content in written.values():
        assert str(tmp_path).encode() not in content
        assert HOST.encode() not in content


@pytest.mark.parametrize("archive", [False, True])
def test_runs_published_in_brief_keep_every_score(outputs, command, tmp_path, archive):
    before, into = read_records([outputs]), tmp_path / "results"
    arguments = [*STUDY, f"outputs={outputs}", f"into={into}", f"archive={archive}"]
    code, out, err = command(main, *arguments, "brief=true")
    assert (code, err) == (0, "")
    assert "2 of 24 runs published, 2 of them now" in out
    after = read_records([into])
    assert "soft_nll_t" in set(after.table["name"])
    assert sorted_table(after).equals(sorted_table(before))
    for cell, path in after.folders.items():
        assert {file.name for file in path.iterdir()} == {*FILES, "derived.json", "diagnostics"} - {"predictions.npz"}
        history = FinishedRun(path).history
        assert {"epoch", "train/loss", "evaluate/soft_nll"} <= history[0].keys()
        assert "evaluate/hard_acc" in history[0]  # read, since these runs selected their epoch on the evaluation items
        curve, exact = ([row["evaluate/soft_nll"] for row in one] for one in (history, FinishedRun(before.folders[cell]).history))
        assert curve == pytest.approx(exact, rel=1e-4)

    if not archive:  # brief records can be published again, as brief ones
        command(main, *STUDY, f"outputs={into}", f"into={tmp_path / 'again'}")
        assert sorted_table(read_records([tmp_path / "again"])).equals(sorted_table(before))

    assert command(main, *arguments)[1].startswith("2 of 24 runs published, 0 of them now")  # asked for later, they are added
    whole = read_records([into])
    assert sorted_table(whole).equals(sorted_table(before))
    for cell, path in whole.folders.items():
        assert (FinishedRun(path).predictions["logits"] == FinishedRun(before.folders[cell]).predictions["logits"]).all()
    command(main, *arguments, "brief=true")
    assert all((path / "predictions.npz").is_file() for path in read_records([into]).folders.values())  # and never taken away


@pytest.mark.parametrize("archive", [False, True])
@pytest.mark.parametrize("compact", [False, True])
def test_pairs_of_runs_that_are_published_stay_when_others_are_added(outputs, command, tmp_path, archive, compact):
    """As when the networks of the first pairs are gone, and later ones are probed."""
    into = tmp_path / "results"
    arguments = [*STUDY, f"outputs={outputs}", f"into={into}", f"archive={archive}", f"compact={compact}"]
    assert command(main, *arguments)[0] == 0
    file = outputs / "studies/demo/diagnostics/cka.json"
    later = file.read_text().replace("/seed=0", "/seed=1")
    assert later != file.read_text()
    file.write_text(later)
    assert command(main, *arguments)[0] == 0
    published = read_pairs(into)
    assert [(pair["a"][-1], pair["b"][-1]) for pair in published["pairs"]] == [("0", "0"), ("1", "1")]
    assert published["pairs"][0]["values"] == published["pairs"][1]["values"]

    there = {path: path.read_bytes() for path in into.rglob("[!.]*") if path.is_file()}
    content = json.loads(later)
    file.write_text(json.dumps({**content, "settings": {**content["settings"], "chunk": 7}}))
    code, _, err = command(main, *arguments)
    assert code == 2
    assert "was measured with other settings than" in err
    assert {path: path.read_bytes() for path in into.rglob("[!.]*") if path.is_file()} == there


def read_pairs(into):
    """The published pairs of the probe cka."""
    [file] = (into / "studies").rglob("cka.json*")
    content = file.read_bytes()
    return json.loads(lzma.decompress(content) if file.suffix == ".xz" else content)


@pytest.mark.parametrize("archive", [False, True])
def test_new_runs_and_new_probes_are_added_and_a_changed_run_is_refused(outputs, command, tmp_path, archive):
    into = tmp_path / "results"
    arguments = [*STUDY, f"outputs={outputs}", f"into={into}", f"archive={archive}"]
    soft, sls = (outputs / Cell("synthetic", "smoke", method, None, 0, tag="tiny").folder for method in ("soft", "sls"))
    (soft / "done").unlink()
    assert "1 of 24 runs published, 1 of them now" in command(main, *arguments)[1]
    (soft / "done").touch()
    (sls / "diagnostics/later.json").write_text('{"values": {"x": 4}}')
    assert "2 of 24 runs published, 1 of them now" in command(main, *arguments)[1]
    assert read_records([into]).values("later/x").to_dict() == {0: 4}

    there = {path: path.read_bytes() for path in into.rglob("[!.]*") if path.is_file()}
    identity = json.loads((sls / "fingerprint.json").read_text())
    (sls / "fingerprint.json").write_text(json.dumps({**identity, "fingerprint": "0" * 64}))
    (soft / "diagnostics/later.json").write_text('{"values": {"x": 5}}')
    code, _, err = command(main, *arguments)
    assert code == 2
    assert "synthetic/smoke,tag=tiny/sls/K=all/seed=0 is published in" in err
    assert len(err.strip().splitlines()) == 1
    assert {path: path.read_bytes() for path in into.rglob("[!.]*") if path.is_file()} == there


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["into=results"], "no finished run of study 'demo'"),
        (["into=results", "study=demo,main"], "no finished run of study 'demo'"),
        ([], "into"),
        (["into=outputs/copies"], "outside of outputs"),
        (["into=results", "archive=7"], "archive must be true or false"),
        (["into=results", "brief=some"], "brief must be true or false"),
        (["into=results", "study=nothing"], "nothing"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(command, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = command(main, "study=demo", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_compact_records_keep_the_scores():
    """On committed runs of real networks: all metrics of the rounded logits, against those that the run itself wrote."""
    # Near ties move an item or two of 2,000 to another class or bin, and entropies that are nearly equal to other ranks.
    counted = {"hard_acc", "ece_eqmass", "smooth_ece", "brier_reliability", "brier_resolution", "ent_corr"}
    folder = unpacked(Path(__file__).parents[1] / "results/pocket/cifar10h/pocket.tar.xz") / "cifar10h/pocket"
    runs = sorted(file.parent for file in folder.glob("*/K=*/seed=0/predictions.npz"))  # others have scores alone
    assert len(runs) > 5
    for path in runs:
        run = FinishedRun.open(path)
        for name, checkpoint in (("logits", "best"), ("logits_last", "last")):
            logits, exact = run.predictions[name], run.result[checkpoint]["full"]
            assert logits.dtype == np.float16
            assert not logits[:, -1].any()
            for metric, value in score(logits, run.predictions["p"], exact).items():
                assert value == pytest.approx(exact[metric], abs=3e-3 if metric in counted else 1e-4), (path, metric)


def test_compact_predictions_keep_probabilities_and_temperatures(tmp_path):
    rng = np.random.default_rng(0)
    logits, p = rng.normal(0, 3, (400, 5)).astype(np.float32), rng.dirichlet(np.ones(5), 400)
    saved = {"logits": logits[:200], "p": p[:200], "index": np.arange(200), "select_logits": logits[200:], "select_p": p[200:]}
    kept = compact_predictions({**saved, "select_index": np.arange(200)})
    assert set(kept) == {"logits", "p", "index", "select_temperature_logits"}
    np.testing.assert_allclose(softmax(kept["logits"].astype(float), 1), softmax(saved["logits"], 1), atol=STEP)
    result = {"best": {}, "last": {}, "items": {"full": 200}, "prior": {}, "oracle": {}}
    tempered = []
    for number, arrays in enumerate((saved, kept)):
        doubled = {f"{name}_last": array for name, array in arrays.items() if name.endswith("logits")}
        np.savez(tmp_path / f"{number}.npz", **arrays, **doubled)
        found = {(part, name): value for part, _, name, value in derived_numbers(result, tmp_path / f"{number}.npz")}
        tempered.append(found["full", "soft_nll_t"])
    assert tempered[1] == pytest.approx(tempered[0], abs=1e-4)


def test_logits_that_float16_cannot_hold_stay_as_they_are():
    logits = np.array([[1e6, 0.0]], dtype=np.float32)
    np.testing.assert_array_equal(compact_predictions({"logits": logits, "p": np.array([[1.0, 0.0]])})["logits"], logits)
