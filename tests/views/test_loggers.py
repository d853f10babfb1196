"""W&B, read back from the files that it writes offline: the same id, the same numbers, and never in the way of a run."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy
from lightning import Callback
from omegaconf import OmegaConf

from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.training.compose import make_loggers
from hardlabels.runs.views.loggers import wandb_logger
from hardlabels.runs.views.wandb_run import chosen_mode, has_wandb_login, wandb_mode
from hardlabels.sources import load

CELL = Cell("d", "r", "sls", None, 0)


def test_what_wandb_has_is_what_the_folder_has(make_config, run_cell, written, capsys):
    settings = ["method=sls", "K=5", "seed=3", "recipe.epochs=3", "logger.checkpoint=true", "logger.predictions=7"]
    cfg = make_config("logger=wandb", *settings)
    folder = run_cell(cfg)
    [part] = folder.glob("wandb/offline-run-*")
    assert f"W&B: `wandb sync {part}` sends this run" in capsys.readouterr().out
    [run], directory = written(folder), RunDirectory(folder)

    identity = json.loads(directory.identity.read_text())["fingerprint"]
    assert run.run.run_id == identity[:32]
    assert run.run.resume
    assert run.run.project == "hardlabels"
    assert run.run.run_group == "synthetic/smoke,tag=tiny"
    assert list(run.run.tags) == ["sls", "K=5"]
    assert run.run.display_name == "sls K=5 seed=3"
    assert run.run.job_type == "train"

    coordinates = {"data": "synthetic", "recipe": "smoke,tag=tiny", "method": "sls", "K": 5, "seed": 3}
    settings = OmegaConf.to_container(OmegaConf.load(directory.config), resolve=True)
    assert run.config == {**coordinates, "fingerprint": identity, "settings": settings}

    history = directory.read_history()
    *epochs, last = run.history
    assert [row["_step"] for row in epochs] == [0, 1, 2]
    for ours, theirs in zip(history, epochs, strict=True):
        assert {name: value for name, value in theirs.items() if not name.startswith("_")} == close_to(ours)
    axis = {metric.glob_name or metric.name: metric.step_metric for metric in run.of("metric")}
    assert axis == {"epoch": "", "*": "epoch"}

    result = json.loads(directory.result.read_text())
    best, later = result["best"], result["last"]
    of_the_best = ("soft_nll", "kl_to_annotator", "hard_acc", "ece_eqmass", "smooth_ece", "ent_corr")
    expected = {
        "best/epoch": best["epoch"],
        **{f"best/{name}": best["full"][name] for name in of_the_best},
        **{f"best/{view}/soft_nll": best[view]["soft_nll"] for view in ("non_unanimous", "high_disagreement")},
        "last/epoch": later["epoch"],
        "last/soft_nll": later["full"]["soft_nll"],
        "prior/soft_nll": result["prior"]["full"]["soft_nll"],
    }
    shown = {name: value for name, value in run.summary.items() if not name.startswith("_")}
    assert {name: shown[name] for name in expected} == expected
    assert set(shown) - set(expected) <= {"epoch", "predictions"}  # 12 numbers, where there were 133
    assert [end.exit_code for end in run.of("exit")] == [0]

    saved = np.load(directory.predictions)
    [file] = part.glob("files/media/table/predictions_*.table.json")
    table = json.loads(file.read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    check_predictions(rows, saved, load("synthetic", items=120, classes=3, size=12, annotators=9))
    assert len(rows) == 7
    assert any(name.startswith("predictions") for name in last)
    [shown] = [artifact for artifact in run.of("artifact") if artifact.type == "run_table"]
    assert sum(entry.path.endswith(".png") for entry in shown.manifest.contents) == 7  # the images of these items

    [model] = [artifact for artifact in run.of("artifact") if artifact.type == "model"]
    [entry] = model.manifest.contents
    assert (entry.path, entry.size) == ("best.ckpt", directory.best.stat().st_size)
    assert entry.digest == base64.b64encode(hashlib.md5(directory.best.read_bytes()).digest()).decode()
    assert "best" in model.aliases
    assert json.loads(model.metadata)["best/soft_nll"] == best["full"]["soft_nll"]


def check_predictions(rows, saved, source):
    """The items are those of the largest KL(p || q), with their own votes, p and q beside each other."""
    q = scipy.special.softmax(saved["logits"], axis=1)
    divergence = scipy.stats.entropy(saved["p"], q, axis=1)
    assert [row["KL(p || q)"] for row in rows] == pytest.approx(np.sort(divergence)[::-1][: len(rows)], rel=1e-5)
    place = {str(item): at for at, item in enumerate(saved["index"])}
    for row in rows:
        at, item = place[row["item"]], int(row["item"])
        assert [row[f"votes {name}"] for name in source.class_names] == source.votes.counts[item].tolist()
        assert row["votes"] == source.votes.sizes[item] == 9
        assert [row[f"p {name}"] for name in source.class_names] == pytest.approx(saved["p"][at])
        assert [row[f"q {name}"] for name in source.class_names] == pytest.approx(q[at], rel=1e-5)
        assert row["network"] == source.class_names[q[at].argmax()]
        assert row["soft NLL"] == pytest.approx(row["KL(p || q)"] + row["entropy p"], rel=1e-5)


def close_to(row):
    return {name: pytest.approx(value, rel=1e-12, nan_ok=True) for name, value in row.items()}


class _StopInTheThirdEpoch(Callback):
    """Ends a run inside an epoch, as a signal does."""

    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch == 2:
            raise KeyboardInterrupt


def test_a_resumed_run_goes_on_under_its_id_and_both_parts_have_every_epoch_once(make_config, run_cell, monkeypatch, written):
    cfg = make_config("logger=wandb", "logger.group=main", "logger.predictions=0", "method=soft", "recipe.epochs=4")
    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _StopInTheThirdEpoch)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run_cell(cfg)
    time.sleep(1.1)  # W&B names its folders by the second
    folder = run_cell(cfg)

    first, second = written(folder)
    assert first.run.run_id == second.run.run_id
    assert first.run.resume
    assert second.run.resume  # what `wandb sync` joins them by, in the order of their start
    assert first.run.start_time.ToNanoseconds() < second.run.start_time.ToNanoseconds()
    assert first.run.run_group == second.run.run_group == "main"
    assert first.config == second.config
    assert [row["epoch"] for row in [*first.history, *second.history]] == [0, 1, 2, 3]
    assert [row["_step"] for row in [*first.history, *second.history]] == [0, 1, 2, 3]
    history = RunDirectory(folder).read_history()
    assert [row["evaluate/soft_nll"] for row in [*first.history, *second.history]] == pytest.approx(
        [row["evaluate/soft_nll"] for row in history], rel=1e-12
    )
    assert [end.exit_code for end in [*first.of("exit"), *second.of("exit")]] == [1, 0]
    assert "best/soft_nll" not in first.summary
    assert second.summary["best/soft_nll"] == json.loads((folder / "result.json").read_text())["best"]["full"]["soft_nll"]


@pytest.mark.parametrize("when", ["at the start", "in the middle"])
def test_a_failure_of_wandb_is_said_once_and_costs_the_run_nothing(make_config, run_cell, monkeypatch, capfd, tmp_path, when):
    import wandb

    outputs = {"plain": tmp_path / "plain", "wandb": tmp_path / "wandb"}
    folders = {name: place / "synthetic/smoke,tag=tiny/sls/K=all/seed=0" for name, place in outputs.items()}
    if when == "at the start":
        folders["wandb"].mkdir(parents=True)
        (folders["wandb"] / "wandb").write_text("a file where W&B wants a folder")
        message = "NotADirectoryError: [Errno 20]"
    else:
        monkeypatch.setattr(wandb.Run, "log", fail)
        message = "CommError: the server)"
    for name, place in outputs.items():
        run_cell(make_config(f"outputs={place}", f"logger={'wandb' if name == 'wandb' else 'csv'}"))
    for file in ("history.csv", "result.json", "fingerprint.json", "done"):
        assert (folders["wandb"] / file).read_bytes() == (folders["plain"] / file).read_bytes()
    err = capfd.readouterr().err
    assert err.count("W&B failed") == 1
    assert f"W&B failed, the run goes on without it ({message}" in err


def fail(*arguments, **settings):
    import wandb

    raise wandb.errors.CommError("the server\nhas gone home")


def test_a_failure_at_the_end_is_said_once_too(monkeypatch, capfd, tmp_path):
    import wandb

    logger = wandb_logger(tmp_path, CELL, "1" * 64, {}, project="p", mode="offline")
    logger.log_metrics({"epoch": 0, "x": 1.0})
    end = logger.experiment.finish
    monkeypatch.setattr(wandb.Run, "finish", fail)
    logger.finish({"best": {"epoch": 0, "full": {"soft_nll": 1.0}}})
    assert capfd.readouterr().err.count("W&B failed") == 1
    monkeypatch.undo()
    end()


KILL = """
import os, signal, subprocess, sys
from pathlib import Path
from hardlabels.runs.cell import Cell
from hardlabels.runs.views.loggers import wandb_logger

logger = wandb_logger(Path(sys.argv[1]), Cell("d", "r", "sls", None, 0), "0" * 64, {}, project="p", mode="offline")
logger.log_metrics({"epoch": 0, "x": 1.0})
children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=True)
[pid] = [int(line.split()[0]) for line in children.stdout.splitlines() if "wandb" in line]
os.kill(pid, signal.SIGKILL)
for epoch in range(1, 200):
    logger.log_metrics({"epoch": epoch, "x": 1.0})
logger.finish({"best": {"epoch": 0, "full": {"soft_nll": 1.0}}})
print("went on")
"""


def test_the_death_of_wandbs_own_process_does_not_stop_a_run(tmp_path):
    """In a process of its own: W&B does not recover from it."""
    if shutil.which("ps") is None or sys.platform != "linux":
        pytest.skip("finds W&B's process with ps --ppid")
    arguments = [sys.executable, "-c", KILL, str(tmp_path)]
    alone = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"}  # or it would join this process's
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300, env=alone)
    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr
    assert done.stderr.count("W&B failed, the run goes on without it") == 1


def test_online_is_for_those_who_are_logged_in(monkeypatch, tmp_path, capsys):
    assert not has_wandb_login()
    assert chosen_mode("online") == "offline"
    assert "no login found" in capsys.readouterr().out
    netrc = tmp_path / "netrc"
    netrc.write_text("machine api.wandb.ai login user password " + "x" * 40)
    monkeypatch.setenv("NETRC", str(netrc))
    assert has_wandb_login()
    assert chosen_mode("online") == "online"
    assert chosen_mode("disabled") == "disabled"
    monkeypatch.setenv("WANDB_BASE_URL", "https://wandb.example.org")
    assert not has_wandb_login()
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert chosen_mode("online") == "disabled"
    assert wandb_mode("online", logged_in=True) == "online"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["logger=wandb", "logger.project=a/b", "logger.mode=offline"], "logger.project must be 1 to 128 characters"),
        (
            ["logger=wandb", "+logger.grup=x"],
            "logger.grup is no setting of wandb_logger: expected one of project, mode",
        ),
        (["logger=tensorboard", "+logger.x=1"], "logger.x is no setting of tensorboard_logger"),
        (["logger=wandb", "logger.predictions=-1", "logger.mode=offline"], "logger.predictions must be a whole number"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_a_run(overrides, message, tmp_path, make_config):
    settings = OmegaConf.to_container(make_config(*overrides).logger)
    with pytest.raises(InputError, match=message):
        make_loggers(settings, {"folder": tmp_path, "cell": CELL, "run_id": "0" * 64, "config": {}})


def test_names_that_are_too_long_for_wandb_are_cut(tmp_path):
    cell = Cell("d" * 100, "r" * 100, "m" * 120, None, 0)
    logger = wandb_logger(tmp_path, cell, "0" * 64, {}, project="p", mode="offline")
    run = logger.experiment
    assert (len(run.name), len(run.group), [len(tag) for tag in run.tags]) == (128, 128, [64, 5])
    logger.finish({})
