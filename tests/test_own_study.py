"""A study of one's own data: every command that a report prints can be run as it stands, and mistakes are named."""

import html
import importlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hydra.core.global_hydra import GlobalHydra

from hardlabels.configuration import compose_command
from hardlabels.report import report
from hardlabels.runs.studies.study import Study
from hardlabels.sources.synthetic import synthetic

N = 60
DATA = ["data=files", "data.votes=my votes.csv", "data.items=features.csv", "data.name=mine", "model=mlp"]
TAG = ["recipe=smoke", "recipe.epochs=2", "recipe.width=2", "recipe.batch_size=32", "run.tag=tiny", "trainer.accelerator=cpu"]
STUDY = ["study=demo", "study.data=mine", "study.tag=tiny"]
GRID = "study.grid=[{method: [soft, sls, majority], K: [3, null], seed: [0]}]"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with own votes and features, and two finished runs on them; the study asks for six."""
    folder, source = tmp_path_factory.mktemp("own"), synthetic(items=N, classes=3, size=12, annotators=5)
    ids = [f"item {i}" for i in range(N)]
    features = source.truth @ np.random.default_rng(1).normal(size=(3, 4)) + 1e-3 * np.arange(N)[:, None]  # no two items alike
    pd.DataFrame(features, index=ids).to_csv(folder / "features.csv")
    votes = zip(np.repeat(ids, 5), np.tile(list("abcde"), N), source.votes.labels, strict=True)
    pd.DataFrame(votes, columns=["task", "worker", "label"]).to_csv(folder / "my votes.csv", index=False)
    words = ["hardlabels.train", "-m", *DATA, *TAG, "outputs=my runs", "method=soft,sls", "K=3", "seed=0"]
    subprocess.run([sys.executable, "-m", *words], cwd=folder, check=True, timeout=300, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def printed(place):
    """Every command on the page of a report but the report's own: (module, arguments), as a shell would split them."""
    words = [*STUDY, GRID, "outputs=my runs"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        page = report(compose_command("report", [*words, "places=[]"], lists=("places",)), words).read_text()
    lines = dict.fromkeys(re.findall(r"<code>(python -m hardlabels\..*?)</code>", page))
    found = [shlex.split(html.unescape(line)) for line in lines]
    return [(words[2].removeprefix("hardlabels."), words[3:]) for words in found if words[2] != "hardlabels.report"]


@pytest.fixture
def execute(place, monkeypatch, capsys):
    """Run a command in the folder of the data, in this process: exit code, standard output, standard error."""

    def run(module: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(place)
        monkeypatch.setattr(sys, "argv", [f"hardlabels.{module}", *arguments])
        GlobalHydra.instance().clear()
        try:
            importlib.import_module(f"hardlabels.{module}").main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            GlobalHydra.instance().clear()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def first_cell(words: list[str]) -> list[str]:
    """The first cell of a multirun's arguments."""
    axes = re.compile(r"((?:method|K|seed|method\.\w+)=)(?:range\((\d+)\)|([^,]*).*)")
    matches = [(word, axes.fullmatch(word)) for word in words if word != "-m"]
    return [word if match is None else match[1] + (match[3] or "0") for word, match in matches]


def test_every_training_command_trains_the_users_own_data(printed, execute):
    """Composed by the command itself: data, network, tag and folder are those of the runs that are there."""
    training = {tuple(first_cell(words)) for module, words in printed if module == "train"}
    assert len(training) > 4
    for words in training:
        code, out, err = execute("train", *words, "--cfg", "job")
        assert code == 0, (words, err)
        for line in ("name: mine", "votes: my votes.csv", "epochs: 2", "tag: tiny", "outputs: my runs", "accelerator: cpu"):
            assert re.search(rf"^ *{line}$", out, re.MULTILINE), (line, out)
        assert "hardlabels.learning.mlp.MLP" in out


def test_what_the_report_prints_makes_the_study_whole(printed, execute, place):
    """Really run: a line that trains, a probe, and the study; then nothing is missing."""
    training = [words for module, words in printed if module == "train" and "method=majority" in words]
    code, _, err = execute("train", *training[0])
    assert code == 0, err
    probing = [words for module, words in printed if module == "diagnose"]
    assert all(GRID in words and "outputs=my runs" in words for words in probing)
    code, _, err = execute("diagnose", *next(words for words in probing if "probe=dynamics" in words))
    assert code == 0, err
    [whole] = [words for module, words in printed if module == "reproduce" and "study=demo" in words]
    code, _, err = execute("reproduce", *whole, "probe=[]")
    assert code == 0, err
    cells = Study.from_config(compose_command("report", [*STUDY, GRID]).study).cells()
    assert len(cells) == 6
    assert all((place / "my runs" / cell.folder / "done").is_file() for cell in cells)


def test_claims_of_other_studies_are_about_the_same_data(printed, execute):
    others = [words for module, words in printed if module == "reproduce" and "study=demo" not in words]
    assert {words[0] for words in others} == {"study=main", "study=family", "study=sparse", "study=resampling", "study=quarter"}
    for words in others:
        code, out, err = execute("reproduce", *words, "--dry-run")
        assert code == 0, err
        assert "cifar10h" not in out
        assert "mine" in out
        assert "smoke,tag=tiny" in out


def test_probes_about_images_say_once_that_the_items_are_none(execute):
    """Nothing is asked of a network for them: the files of outlier images are not looked for."""
    chosen = [*STUDY, GRID, "outputs=my runs", "device=cpu", "study.probes=[dynamics,gradcam,ood]"]
    code, out, err = execute("diagnose", *chosen, "ood.files.root=nowhere")
    assert code == 0, err
    lines = [line for line in out.splitlines() if line.startswith("not applicable: ")]
    assert sorted(line.split()[2].rstrip(":") for line in lines) == sorted(
        ["gradcam", "gradcam,checkpoint=last", "ood", "ood,checkpoint=last"]
    )


MISTYPED = {
    "data": (["study=demo", "study.data=mien"], ["data 'mien' is not known", "did you mean mine?", "data.name=mien"]),
    "recipe": (["study=demo", "study.data=mine", "study.recipe=smok"], ["recipe 'smok' is not known", "did you mean smoke?"]),
    "study": (["study=demoo"], ["Could not find 'study/demoo'", "demo family"]),
    "grid": (["study=text_main", "+study.data=mine"], ["study.data=mine would change nothing", "chaosnli_snli"]),
    "axis": (["study=text_main", "study.data=mine"], ["study.data is no setting", "study.grid="]),
    "sweep": (["study=demo", "study.grid=[{method:[sls],seed:range(3)}]"], ["is written in quotes"]),
    "train": (["study=demo", "data=mine"], ["data=mine is a setting of hardlabels.train", "study.data=mine"]),
    "tag": (["study=demo", "run.tag=tiny"], ["study.tag=tiny"]),
    "K": (["study=demo", "K=5"], ["in its grid"]),
    "number": (["study=demo", "study.data=7"], ["data '7' is not known"]),
}


@pytest.mark.parametrize("module", ["report", "diagnose", "publish", "reproduce"])
@pytest.mark.parametrize("mistake", MISTYPED)
def test_a_mistyped_name_is_one_line_that_names_it(place, execute, module, mistake):
    words, said = MISTYPED[mistake]
    more = {"publish": ["into=published"], "reproduce": ["--dry-run"]}.get(module, [])
    before = sorted(place.rglob("*"))
    code, _, err = execute(module, *words, "outputs=my runs", *more)
    assert code == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(part in err for part in said), err
    assert "append to your" not in err
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize("module", ["report", "diagnose"])
def test_several_studies_are_refused_where_one_is_meant(execute, module):
    code, _, err = execute(module, "study=demo,main")
    assert code == 2
    assert err == "error: study=demo,main: one study at a time here; hardlabels.reproduce and hardlabels.publish take several\n"


@pytest.mark.parametrize("module", ["diagnose", "publish"])
def test_a_study_without_runs_says_what_there_is_and_what_comes_first(execute, module):
    code, _, err = execute(
        module, *STUDY[:2], "study.tag=wide", "outputs=my runs", *(["into=published"] if module == "publish" else [])
    )
    assert code == 2
    assert "no finished run of study 'demo' in my runs\nthere are " in err
    assert " of mine with recipe smoke,tag=tiny: " in err
    words = first_cell(shlex.split(err.partition("first: python -m hardlabels.train -m ")[2]))
    code, out, err = execute("train", *words, "--cfg", "job")
    assert code == 0, err
    assert "tag: wide" in out
    assert "epochs: 2" not in out  # those belong to the other tag


def test_publish_asks_for_its_folder(execute):
    code, _, err = execute("publish", *STUDY, "outputs=my runs")
    assert (code, err) == (2, "error: into=FOLDER is needed: the folder for the copies, such as into=results/mine\n")


def test_settings_of_training_go_behind_the_dashes(execute):
    code, _, err = execute("reproduce", "study=demo", "model=mlp", "--dry-run")
    assert (code, err) == (2, "error: model=mlp is a setting of hardlabels.train: behind -- it is passed on\n")
    code, out, err = execute("reproduce", "study=demo", "study.data=new", "--dry-run", "--", *DATA, "data.name=new")
    assert code == 0, err
    assert "new" in out
