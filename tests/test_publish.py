"""Published records: the same table as the runs gave, nothing of the machine, and never one run in place of another."""

import json
import platform
import shutil
import sys

import pytest

from hardlabels.diagnose import main as diagnose
from hardlabels.publish import main
from hardlabels.runs.archive import FILES
from hardlabels.runs.cell import Cell
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
def test_new_runs_and_new_probes_are_added_and_a_changed_run_is_refused(outputs, command, tmp_path, archive):
    into = tmp_path / "results"
    arguments = [*STUDY, f"outputs={outputs}", f"into={into}", f"archive={archive}"]
    soft, sls = (outputs / Cell("synthetic", "smoke,tag=tiny", method, None, 0).folder for method in ("soft", "sls"))
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
        (["into=results"], "has no finished run of demo"),
        (["into=results", "study=demo,main"], "has no finished run of demo, main"),
        ([], "into"),
        (["into=outputs/copies"], "outside of outputs"),
        (["into=results", "archive=7"], "archive must be true or false"),
        (["into=results", "study=nothing"], "nothing"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(command, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = command(main, "study=demo", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
