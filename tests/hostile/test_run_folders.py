"""Run folders that are damaged, or that somebody sent: resumed, skipped, opened."""

import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_dir

from hardlabels.configuration import CONF
from hardlabels.runs.finished import FinishedRun
from hardlabels.train import train

QUICK = [
    "data=synthetic", "data.items=60", "data.classes=3", "data.size=12", "data.annotators=5", "recipe=smoke", "recipe.width=2",
    "recipe.epochs=2", "recipe.train_items=null", "run.tag=quick", "trainer.accelerator=cpu",
]  # fmt: skip
FOLDER = "outputs/synthetic/smoke,tag=quick/sls/K=all/seed=0"


class Bomb:
    """``os.system('touch canary')`` as soon as it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch canary",)


def write(name, content):
    return lambda folder: (folder / name).write_bytes(content() if callable(content) else content)


def truncate(name, share=0.5):
    def cut(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(share * len(content))])

    return cut


def remove(name):
    return lambda folder: (folder / name).unlink()


def change(name, edit):
    """Load a checkpoint, edit it, save it."""

    def apply(folder):
        state = torch.load(folder / name, weights_only=True)
        torch.save(edit(state) or state, folder / name)

    return apply


def change_json(name, edit):
    def apply(folder):
        value = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(edit(value) or value))

    return apply


def replace(name, old, new):
    def apply(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return apply


def torch_bomb():
    """torch's own format around a pickle that runs code."""
    file = io.BytesIO()
    torch.save({"network": Bomb()}, file)
    return file.getvalue()


def squeeze(folder):
    """The same checkpoint as a compressed archive: what torch never writes, and how a bomb would be made."""
    source, target = folder / "last.ckpt", folder / "squeezed"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            new.writestr(member.filename, old.read(member))
        new.writestr("archive/zeros", bytes(1 << 22))
    target.replace(source)


def laughs():
    """Nine levels of ten aliases: a thousand million values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    return "\n".join(lines).encode()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def put(state, *path, value):
    """Set ``state[path[0]][path[1]]... = value``."""
    for key in path[:-1]:
        state = state[key]
    state[path[-1]] = value


LAST, BEST = "last.ckpt", "best.ckpt"

# Interrupted runs that the same command would resume: what happened to the folder, what the message must say.
RESUMED = {
    "last.ckpt: a pickle that runs code": (write(LAST, lambda: pickle.dumps(Bomb())), [LAST, "no checkpoint of ours", "remove"]),
    "last.ckpt: a checkpoint that runs code": (write(LAST, torch_bomb), [LAST, "no checkpoint of ours", "remove"]),
    "best.ckpt: a checkpoint that runs code": (write(BEST, torch_bomb), [BEST, "no checkpoint of ours", "remove"]),
    "last.ckpt: an old pickle that runs code": (write(LAST, b"cos\nsystem\n(S'touch canary'\ntR."), [LAST, "no checkpoint"]),
    "last.ckpt: empty": (write(LAST, b""), [LAST, "no checkpoint of ours, or damaged"]),
    "last.ckpt: truncated": (truncate(LAST), [LAST, "no checkpoint of ours, or damaged"]),
    "last.ckpt: a web page": (write(LAST, b"<html>" * 99), [LAST, "no checkpoint of ours, or damaged"]),
    "last.ckpt: compressed": (squeeze, [LAST, "compressed archive"]),
    "last.ckpt: a list": (change(LAST, lambda state: [1, 2]), [LAST, "no weights by name"]),
    "last.ckpt: no network": (change(LAST, lambda state: {"epochs": 1}), [LAST, "no weights by name"]),
    "last.ckpt: no optimizer": (change(LAST, lambda state: state.pop("optimizer_states") and state), [LAST, "an optimizer of"]),
    "last.ckpt: weights of another shape": (
        change(LAST, lambda state: put(state, "state_dict", "network.conv1.weight", value=torch.zeros(4, 3, 3, 3))),
        [LAST, "conv1.weight with shape (2, 3, 3, 3)", "found (4, 3, 3, 3)"],
    ),
    "last.ckpt: weights promised without end": (
        change(LAST, lambda state: put(state, "state_dict", "network.fc.bias", value=torch.zeros(1).expand(10**12))),
        [LAST, "fc.bias with shape (3,)", "found (1000000000000,)"],
    ),
    "last.ckpt: a word for a weight": (
        change(LAST, lambda state: put(state, "state_dict", "network.fc.bias", value="\x1b[2J")),
        [LAST, "fc.bias with shape (3,)", "found str"],
    ),
    "last.ckpt: a weight too many": (
        change(LAST, lambda state: put(state, "state_dict", "network.\x1b[2Jhead", value=torch.zeros(1))),
        [LAST, "the weights of this network", "\\x1b[2Jhead"],
    ),
    "last.ckpt: a weight too few": (change(LAST, lambda state: {**state, "state_dict": {}}), [LAST, "'conv1.weight'"]),
    "last.ckpt: momentum of another shape": (
        change(LAST, lambda state: put(state, "optimizer_states", 0, "state", 0, "momentum_buffer", value=torch.zeros(7))),
        [LAST, "momentum_buffer of parameter 0", "(2, 3, 3, 3)", "found (7,)"],
    ),
    "last.ckpt: momentum of no parameter": (
        change(LAST, lambda state: put(state, "optimizer_states", 0, "state", 999, value={})),
        [LAST, "the optimizer's state of parameters 0 ..", "found 999"],
    ),
    "last.ckpt: more epochs than there are": (
        change(LAST, lambda state: put(state, "epoch", value=7)),
        [LAST, "epoch 0 .. 1", "7"],
    ),
    "last.ckpt: half an epoch": (change(LAST, lambda state: put(state, "epoch", value=0.5)), [LAST, "epoch 0 .. 1", "0.5"]),
    "last.ckpt: negative steps": (
        change(LAST, lambda state: put(state, "global_step", value=-5)),
        [LAST, "global_step 0 ..", "-5"],
    ),
    "best.ckpt: gone": (remove(BEST), [BEST, "no checkpoint of ours, or damaged"]),
    "best.ckpt: of another network": (
        change(BEST, lambda state: put(state, "state_dict", "network.fc.weight", value=torch.zeros(9, 16))),
        [BEST, "fc.weight with shape (3, 16)", "found (9, 16)"],
    ),
    "history.csv: gone": (remove("history.csv"), ["history.csv", "at least the 2 epochs", "found 0"]),
    "history.csv: a row short": (lambda folder: drop_last_line(folder / "history.csv"), ["history.csv", "2 epochs", "found 1"]),
    "history.csv: garbage": (write("history.csv", b"\x00\xff\xfe" * 99), ["history.csv", "UTF-8", "0xff"]),
    "history.csv: a word for a number": (
        write("history.csv", b"epoch,lr\n0,fast\n"),
        ["history.csv", "line 2", "'lr'", "'fast'"],
    ),
    "history.csv: an epoch twice": (write("history.csv", b"epoch,evaluate/soft_nll\n0,1\n0,1\n"), ["line 3", "epoch 1", "'0'"]),
    "history.csv: no metric": (write("history.csv", b"epoch,lr\n0,1\n1,1\n"), ["line 2", "'evaluate/soft_nll'", "none"]),
    "history.csv: a cell too many": (write("history.csv", b"epoch,lr\n0,1,\x1b[2J\n"), ["history.csv", "line 2", "\\x1b[2J"]),
    "fingerprint.json: no JSON": (write("fingerprint.json", b"{'a': 1}"), ["fingerprint.json", "line 1, column 2", "remove"]),
    "fingerprint.json: truncated": (truncate("fingerprint.json"), ["fingerprint.json", "expected JSON; line"]),
    "fingerprint.json: a list": (write("fingerprint.json", b"[1]"), ["fingerprint.json", "JSON object", "found list"]),
    "fingerprint.json: half of it": (
        write("fingerprint.json", b"{}"),
        ["fingerprint.json", "'training'", "found no 'fingerprint'"],
    ),
    "fingerprint.json: nested without end": (
        write("fingerprint.json", b"[" * 100_000),
        ["fingerprint.json", "nested too deeply"],
    ),
    "fingerprint.json: of another run": (
        change_json("fingerprint.json", lambda value: put(value, "training", "seed", value="\x1b[2J")),
        ["another configuration", "seed: \\x1b[2J there, 0 now"],
    ),
    "fingerprint.json: of other data": (
        change_json("fingerprint.json", lambda value: put(value, "data", value=["x"])),
        ["the data's content", "run.tag=NAME"],
    ),
    "environment.json: no JSON": (write("environment.json", b"oops"), ["environment.json", "line 1, column 1"]),
    "environment.json: an object": (write("environment.json", b"{}"), ["environment.json", "JSON list", "found dict"]),
}

# Finished runs that the same command would skip.
SKIPPED = {
    "result.json: truncated": (truncate("result.json"), ["result.json", "expected JSON; line"]),
    "result.json: a list": (write("result.json", b"[]"), ["result.json", "JSON object", "found list"]),
    "result.json: half of it": (
        change_json("result.json", lambda value: value.pop("last") and value),
        ["result.json", "no 'last'"],
    ),
    "result.json: a checkpoint that is a list": (
        change_json("result.json", lambda value: put(value, "best", value=[1])),
        ["result.json", "metrics by slice below 'best'", "[1]"],
    ),
    "result.json: a text for a number": (
        change_json("result.json", lambda value: put(value, "last", "full", "soft_nll", value="\x1b[2J")),
        ["result.json", "metrics by slice below 'last'"],
    ),
    "result.json: gone": (remove("result.json"), ["result.json", "No such file"]),
}

TAG = b"method: !!python/object/apply:os.system ['touch canary']\n"

# Finished runs, opened again: what happened to the folder, what is asked of the run, what the message must say.
OPENED = {
    "config.yaml: a tag that runs code": (write("config.yaml", TAG), lambda run: run.cfg, ["config.yaml", "line 1", "apply"]),
    "config.yaml: a thousand million values": (
        write("config.yaml", laughs),
        lambda run: run.cfg,
        ["config.yaml", "line 2", "alias *a0"],
    ),
    "config.yaml: broken": (write("config.yaml", b"a: [1\nb: 2"), lambda run: run.cfg, ["config.yaml", "expected plain yaml"]),
    "config.yaml: a list": (write("config.yaml", b"- 1\n"), lambda run: run.cfg, ["config.yaml", "by name", "ListConfig"]),
    "config.yaml: no text": (write("config.yaml", b"a: \xff"), lambda run: run.cfg, ["config.yaml", "byte 3", "0xff"]),
    "config.yaml: a model that runs code": (
        replace("config.yaml", "hardlabels.learning.resnet.ResNet18", "os.system"),
        lambda run: run.network(),
        ["model._target_", "standard library", "'os.system'"],
    ),
    "config.yaml: data that run code": (
        replace("config.yaml", "hardlabels.sources.synthetic.synthetic", "subprocess.run"),
        lambda run: run.source,
        ["data._target_", "standard library", "'subprocess.run'"],
    ),
    "best.ckpt: a checkpoint that runs code, opened": (
        write(BEST, torch_bomb),
        lambda run: run.network(),
        [BEST, "no checkpoint"],
    ),
    "predictions.npz: pickled code": (
        write("predictions.npz", lambda: npz(logits=np.array([Bomb()], dtype=object))),
        lambda run: run.predictions,
        ["predictions.npz", "'logits.npy'", "pickled"],
    ),
    "predictions.npz: truncated, opened": (truncate("predictions.npz"), lambda run: run.predictions, ["predictions.npz", "zip"]),
    "result.json: truncated, opened": (truncate("result.json"), lambda run: run.result, ["result.json", "expected JSON; line"]),
    "done: gone": (remove("done"), lambda run: FinishedRun.open(run.path), ["no finished run", "'done'"]),
    "a folder of another name": (
        lambda folder: None,
        lambda run: FinishedRun(run.path.parent).cell,
        ["no run's folder", "seed=<seed>"],
    ),
}
CASES = {**RESUMED, **SKIPPED, **OPENED}


def drop_last_line(path):
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run, made once."""
    place = tmp_path_factory.mktemp("trained")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        train(compose("train", [*QUICK, f"outputs={place}/outputs"]))
    return place


@pytest.fixture
def folder(trained, tmp_path, monkeypatch) -> Path:
    """A copy of it to ruin."""
    shutil.copytree(trained / "outputs", tmp_path / "outputs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / FOLDER


@pytest.mark.parametrize("case", RESUMED)
def test_an_interrupted_run_with_hostile_files_is_one_line_and_code_2(case, folder, command, check_refused):
    ruin, parts = RESUMED[case]
    for name in ("done", "result.json", "predictions.npz"):
        (folder / name).unlink()
    ruin(folder)
    check_refused(lambda: command(*QUICK), parts)


@pytest.mark.parametrize("case", SKIPPED)
def test_a_finished_run_with_hostile_files_is_one_line_and_code_2(case, folder, command, check_refused):
    ruin, parts = SKIPPED[case]
    ruin(folder)
    check_refused(lambda: command(*QUICK), parts)


@pytest.mark.parametrize("case", OPENED)
def test_a_hostile_run_that_is_opened_is_one_line_and_code_2(case, folder, call, check_refused):
    ruin, ask, parts = OPENED[case]
    ruin(folder)
    check_refused(lambda: call(lambda: ask(FinishedRun(folder))), parts)


def test_the_same_in_a_process_of_its_own(folder, tmp_path, check_refused):
    (folder / "done").unlink()
    (folder / LAST).write_bytes(torch_bomb())

    def run():
        done = subprocess.run(
            [sys.executable, "-m", "hardlabels.train", *QUICK], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    check_refused(run, [LAST, "no checkpoint of ours"])


def test_the_bombs_are_live(folder, canary):
    """What the cases hold would run, were it loaded as most code loads it."""
    for content in (pickle.dumps(Bomb()), torch_bomb()):
        (folder / LAST).write_bytes(content)
        torch.load(folder / LAST, weights_only=False) if content[:2] == b"PK" else pickle.loads(content)
        assert canary.exists()
        canary.unlink()
