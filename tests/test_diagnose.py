"""The commands diagnose and reproduce, on tiny runs."""

import json
import os
import re
import subprocess
import sys

import pytest

from hardlabels import diagnose, reproduce
from hardlabels.configuration import CONF, compose_command
from hardlabels.diagnostics.probe import Probe

SMALL = ["study=demo", "study.tag=tiny"]


def run(module, monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", [module.__name__, *arguments])
    try:
        module.main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def two_runs(make_config, run_cell, tmp_path):
    for method in ("sls", "soft"):
        run_cell(make_config(f"method={method}"))
    return tmp_path / "outputs"


def test_probes_run_on_what_is_finished_and_only_once(two_runs, monkeypatch, capsys):
    arguments = [*SMALL, f"outputs={two_runs}", "probe=dynamics,cka,gradient_variance"]
    code, out, _ = run(diagnose, monkeypatch, capsys, *arguments)
    assert code == 0
    assert "on 2 of 24 runs" in out
    [file] = two_runs.glob("synthetic/*/sls/K=all/seed=0/diagnostics/dynamics.json")
    assert json.loads(file.read_text())["values"]
    code, out, _ = run(diagnose, monkeypatch, capsys, *arguments)
    assert out.count("0 measured, ") == 1


def test_a_probes_setting_is_given_under_its_name_and_shows_in_the_files_name(two_runs, monkeypatch, capsys):
    code, _, _ = run(diagnose, monkeypatch, capsys, *SMALL, f"outputs={two_runs}", "probe=dynamics", "dynamics.within=0.1")
    assert code == 0
    assert len(list(two_runs.rglob("dynamics,within=0.1.json"))) == 2


def test_both_checkpoints_are_measured_unless_one_is_asked_for(two_runs, monkeypatch, capsys):
    def names(*words):
        for file in two_runs.rglob("diagnostics/*"):
            file.unlink()
        code, _, _ = run(
            diagnose, monkeypatch, capsys, *SMALL, f"outputs={two_runs}", "probe=gradient_variance,cka,dynamics", *words
        )
        assert code == 0
        return sorted(file.stem for file in two_runs.glob("studies/*/diagnostics/*.json")), sorted(
            file.stem for file in two_runs.glob("synthetic/*/sls/K=all/seed=0/diagnostics/*.json")
        )

    both = ["gradient_variance", "gradient_variance,checkpoint=last"]
    assert names() == (["cka", "cka,checkpoint=last"], ["dynamics", *both])
    assert names("checkpoint=last") == (["cka,checkpoint=last"], ["dynamics", both[1]])
    assert names("checkpoint=best") == (["cka"], ["dynamics", both[0]])
    assert names("gradient_variance.checkpoint=last") == (["cka", "cka,checkpoint=last"], ["dynamics", both[1]])


def test_a_grid_chooses_the_runs(two_runs, monkeypatch, capsys):
    grid = "study.grid=[{method:[sls],K:[null],seed:[0]}]"
    code, out, _ = run(diagnose, monkeypatch, capsys, *SMALL, f"outputs={two_runs}", "probe=dynamics", grid)
    assert code == 0
    assert "on 1 of 1 runs" in out
    assert len(list(two_runs.rglob("dynamics.json"))) == 1


def test_what_cannot_be_measured_is_one_line_a_probe_and_no_failure(two_runs, monkeypatch, capsys):
    for file in two_runs.rglob("best.ckpt"):
        file.unlink()
    code, out, _ = run(diagnose, monkeypatch, capsys, *SMALL, f"outputs={two_runs}", "probe=gradient_variance,sparse_target")
    assert code == 0
    assert "2 measured, 0 measured already, 0 failed" in out
    assert out.count("not measured: gradient_variance: best.ckpt is not there (soft K=all seed=0 and 1 more)") == 1
    assert out.count("not applicable: sparse_target: with all votes the target is p itself") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["probe=nothing"], "probe must be one of barrier, cka"),
        (["probe=cka", "checkpoint=first"], "probe cka: checkpoint must be one of best, last, got 'first'"),
        (["probe=cka", "checkpoint=null"], "checkpoint must be best, last or best,last, got none"),
        (["study=nothing"], "nothing"),
        (["sturdy=main"], "sturdy"),
        (["device=abacus"], "device must be a device that torch can use here"),
        (["probe=cka", "cka.nothing=1"], "nothing"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(two_runs, monkeypatch, capsys, arguments, message):
    code, _, err = run(diagnose, monkeypatch, capsys, *SMALL, f"outputs={two_runs}", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("module", [diagnose, reproduce])
def test_help_shows_the_settings_with_their_meaning_and_the_choices(module, monkeypatch, capsys):
    code, out, err = run(module, monkeypatch, capsys, "--help")
    assert (code, err) == (0, "")
    assert f"python -m {module.__name__} study=" in out
    assert "probe: barrier, cka" in out


def test_without_a_finished_run_it_says_what_to_train(tmp_path, monkeypatch, capsys):
    code, _, err = run(diagnose, monkeypatch, capsys, "study=demo", f"outputs={tmp_path}")
    assert code == 2
    assert "first: python -m hardlabels.train -m data=synthetic recipe=smoke method=soft,sls" in err


@pytest.mark.parametrize("name", sorted(file.stem for file in (CONF / "diagnostic").glob("*.yaml")))
def test_every_probe_says_what_it_is_and_how_to_run_it(name):
    text = (CONF / "diagnostic" / f"{name}.yaml").read_text()
    assert text.startswith("#")
    assert f"probe={name}" in text
    probe = Probe.from_config(compose_command("diagnose", [])[name])
    assert probe.name == name
    assert probe.over == "run" or probe.pairs


def test_a_dry_run_prints_the_cells_and_what_is_done(two_runs, monkeypatch, capsys):
    code, out, _ = run(reproduce, monkeypatch, capsys, *SMALL, f"outputs={two_runs}", "--dry-run")
    assert code == 0
    assert "24 cells, 2 done, 22 to train" in out
    code, out, _ = run(reproduce, monkeypatch, capsys, "study=main,family", f"outputs={two_runs}", "--dry-run")
    assert "65 cells, 0 done, 65 to train" in out  # 50 + 25, of which 10 are shared
    assert "0 of 5 (5 shared)" in out
    # What is left to train: 65 x 200 epochs of 8,000 images, the shared cells once.
    assert re.search(r"all .* 65 .* 104,000,000 .* 26,000,000 .* 375 .* 10\.4 ", out)
    assert "10 is assumed, not measured" in out
    _, out, _ = run(reproduce, monkeypatch, capsys, "study=main", "images_per_second=1000", f"outputs={two_runs}", "--dry-run")
    assert re.search(r"all .* 22\.2 ", out)  # 80 million / 1000 / 3600
    code, _, err = run(reproduce, monkeypatch, capsys, "study=main", "images_per_second=fast", "--dry-run")
    assert (code, err) == (2, "error: images_per_second must be a number above 0, or null where it is not known, got 'fast'\n")


def test_processes_share_the_seeds_and_the_cores(tmp_path, tiny, monkeypatch):
    """Two real training commands at once; probes and report are told nothing of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    steps = []
    monkeypatch.setattr(reproduce, "_step", lambda module, words: steps.append((module, words)) or False)
    words = ["study=demo", "study.tag=tiny", "processes=2", "study.grid=[{method:[soft],K:[null],seed:[3,5]}]"]
    train = [word for word in tiny if not word.startswith(("data=", "recipe=", "run.tag="))]
    assert reproduce.reproduce([compose_command("reproduce", words)], [words], train) == 0
    environments = sorted(tmp_path.rglob("environment.json"))
    assert [path.parent.name for path in environments if (path.parent / "done").is_file()] == ["seed=3", "seed=5"]
    assert [json.loads(path.read_text())[0]["threads"] for path in environments] == [1, 1]
    assert "seed=5" in (tmp_path / "outputs/.sweeps/share_1.log").read_text()
    assert [module for module, _ in steps] == ["hardlabels.diagnose", "hardlabels.report"]
    assert all("processes=2" not in given and "study.tag=tiny" in given for _, given in steps)


def test_a_study_is_reproduced_and_repeated_until_whole(tmp_path, tiny):
    """Grid, probes, report in one command; a failing cell is listed, the next call trains only that one."""
    study = [
        "study=demo", f"outputs={tmp_path}/outputs", "study.tag=tiny", "study.probes=[dynamics]",
        "study.grid=[{method:[soft,sls],K:[null],seed:[0]}]",
    ]  # fmt: skip
    train = [word for word in tiny if not word.startswith(("data=", "recipe=", "run.tag="))]

    def call(*more):
        command = [sys.executable, "-m", "hardlabels.reproduce", *study, "--", *train, *more]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)

    folder = tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=all/seed=0"
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    first = call()
    assert first.returncode == 1, first.stdout + first.stderr
    assert "1 of 2 cells did not finish" in first.stderr
    folder.unlink()
    second = call()
    assert second.returncode == 0, second.stdout + second.stderr
    assert "1 finished already" in second.stdout
    assert (tmp_path / "outputs/studies/demo/report_tiny/index.html").is_file()
    assert len(list(tmp_path.rglob("dynamics.json"))) == 2
    third = call()
    assert third.returncode == 0
    assert "hardlabels.train" not in third.stdout
