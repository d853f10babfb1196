"""What the pages and the notebooks say is what the code does. Pages are found by glob (``tests/pages.py``), new ones too.

- Every command of ours in a block of shell is composed or parsed as the command would.
- The Python blocks of a page run in order, in one folder, as a reader would paste them. There the reader has files of votes and
  predictions (``reader``).
- Every block of yaml is yaml.
"""

import importlib.util
import json
import re
import shutil
import sys
from itertools import chain
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from nbclient import NotebookClient

from hardlabels import export, predict, score
from hardlabels.comparing.request import read_request
from hardlabels.configuration import CONF, compose_command
from hardlabels.reproduce import split_arguments
from hardlabels.runs.cell import Cell
from hardlabels.runs.settings.hidden import refuse_hidden_changes
from hardlabels.votes import __main__ as votes_command
from tests.pages import PAGES, ROOT, Command, blocks, commands, name

README = (ROOT / "README.md").read_text()
COMMANDS = list(dict.fromkeys(chain.from_iterable(commands(page.read_text()) for page in PAGES)))
LISTS = ("probe", "checkpoint", "places", "tables", "figures")
RUN = "outputs/synthetic/smoke/sls/K=all/seed=0"
OPTIONAL = {"transformers": ("transformers", "accelerate"), "datasets": ("datasets",)}


@pytest.fixture
def reader(tmp_path, monkeypatch) -> Path:
    """A folder with what a reader of the pages is said to have: votes on 60 items, and predictions of them."""
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(3), 60)
    lines = [f"i{item},w{worker},{rng.choice(3, p=q[item])}" for item in range(60) for worker in range(5)]
    (tmp_path / "votes.csv").write_text("\n".join(["task,worker,label", *lines]))
    for file in ("predictions.csv", "a.csv", "b.csv"):
        rows = [f"i{item}," + ",".join(f"{value:.9f}" for value in row) for item, row in enumerate(q)]
        (tmp_path / file).write_text("\n".join(["id,0,1,2", *rows]))
    np.save(tmp_path / "teacher.npy", q)
    vote = {"annotation task": "paraphrase detection", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "-3", "Ann2": "5"}}
    (tmp_path / "Paraphrase_test.json").write_text(json.dumps({str(item): vote for item in range(5)}))
    (tmp_path / "par_test_soft.tsv").write_text("".join(f"{item}\t{[1 / 11] * 11}\n" for item in range(5)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def composes_a_cell(command: Command) -> None:
    overrides = []
    words = [word for word in command.words if word not in ("-m", "--cfg", "job", "--help")]
    for override in OverridesParser.create().parse_overrides(words):
        value = (
            next(iter(override.sweep_string_iterator())) if override.is_sweep_override() else override.get_value_element_as_str()
        )
        overrides.append(f"{override.input_line.split('=')[0]}={value}")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        cfg = compose("train", overrides, return_hydra_config=True)
    refuse_hidden_changes(cfg, cfg.hydra)
    assert Cell.from_config(cfg).folder.name.startswith("seed=")


def composes_studies(command: Command) -> None:
    own, train, _ = split_arguments(list(command.words))
    for words in own:
        assert compose_command(command.module.removeprefix("hardlabels."), words, LISTS).study.name
    if train:
        composes_a_cell(Command("hardlabels.train", tuple(train)))


def composes(command: Command) -> None:
    own, _, _ = split_arguments(list(command.words))
    assert compose_command(command.module.removeprefix("hardlabels."), own[0] if "study" in str(command) else list(command.words))


def is_accepted(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Run for real on the reader's files; a line with ``...`` in a path has no such file, and may say so."""
    main = {"hardlabels.score": score.main, "hardlabels.votes": votes_command.main}[command.module]
    try:
        main(command.words)
        code = 0
    except SystemExit as end:
        code = end.code or 0
    said = capsys.readouterr().err
    assert "usage:" not in said, said
    assert code == 0 or "..." in str(command), said


def compares(command: Command) -> None:
    """Its settings are those of the runs that it would train, with every method and the tag that all of its runs have."""
    request = read_request(command.words)
    for method in request.methods:
        words = [f"{name}={value}" for name, value in request.settings.items()]
        composes_a_cell(Command("hardlabels.train", (*words, f"method={method}", "run.tag=compare")))


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_command_of_the_pages_is_understood(command, reader, capsys):
    if command.module in ("hardlabels.score", "hardlabels.votes"):
        is_accepted(command, capsys)
    elif command.module == "hardlabels.train":
        composes_a_cell(command)
    elif command.module == "hardlabels.compare":
        compares(command)
    elif command.module in ("hardlabels.predict", "hardlabels.export"):
        {"hardlabels.predict": predict, "hardlabels.export": export}[command.module].arguments().parse_args(command.words)
    elif command.module in ("hardlabels.reproduce", "hardlabels.report", "hardlabels.diagnose", "hardlabels.publish"):
        composes_studies(command)
    else:
        assert importlib.util.find_spec(command.module) is not None
        composes(command)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page.read_text(), "python")], ids=name)
def test_the_python_of_a_page_runs(page, reader, monkeypatch, make_config, run_cell):
    names: dict = {"__name__": "__main__"}
    if RUN in page.read_text():  # the page speaks of a run that the reader has trained
        shutil.copytree(run_cell(make_config("method=sls")), reader / RUN)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for number, code in enumerate(blocks(page.read_text(), "python"), start=1):
        for needed in (package for word, packages in OPTIONAL.items() if word in code for package in packages):
            if importlib.util.find_spec(needed) is None:
                pytest.skip(f"{needed} is not installed")
        exec(compile(code, f"{name(page)}, block {number}", "exec"), names)
    assert len(names) > 2, "blocks that define nothing show nothing"


def test_the_yaml_of_the_pages_is_yaml():
    assert all(yaml.safe_load(block) for page in PAGES for block in blocks(page.read_text(), "yaml"))


def test_methods_of_the_pages_exist_and_every_method_is_in_both_tables():
    for text in (README, (ROOT / "docs/methods.md").read_text()):
        rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", text, re.MULTILINE)
        methods = set(re.findall(r"\w+", " ".join(rows)))
        assert methods == {path.stem for path in (CONF / "method").glob("*.yaml")}


def test_every_stage_is_in_the_trees_and_every_page_on_the_site():
    architecture = (ROOT / "docs/architecture.md").read_text()
    for stage in (ROOT / "hardlabels").iterdir():
        if (stage / "__init__.py").is_file():
            assert f"{stage.name}/" in README
            assert f"  {stage.name}/" in architecture
    nav = (ROOT / "mkdocs.yml").read_text()
    assert all(str(page.relative_to(ROOT / "docs")) in nav for page in (ROOT / "docs").glob("**/*.md"))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_of_a_page_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"(?<=\]\()(?!\w+:)([^)#\s]+)", text):
        assert (page.parent / link).exists(), link


def test_the_readme_is_read_in_a_minute():
    assert len(README.splitlines()) <= 125


def test_the_clone_is_light():
    """Without what ``results/.gitignore`` keeps out of git: a report that somebody has made there."""
    kept = [file for file in (ROOT / "results").rglob("*") if file.suffix in (".xz", ".json", ".npz", ".md")]
    assert sum(file.stat().st_size for file in kept) < 25e6


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run_and_define_no_functions(notebook, tmp_path):
    book = nbformat.read(notebook, as_version=4)
    assert not any("def " in cell.source for cell in book.cells if cell.cell_type == "code")
    assert all(not cell.get("outputs") for cell in book.cells), "commit notebooks without their outputs"
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
