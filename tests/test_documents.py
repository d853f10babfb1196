"""What the README and the notebooks say is what the code does."""

import re
import shlex
from pathlib import Path

import nbformat
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from nbclient import NotebookClient

from hardlabels.configuration import CONF, refuse_hidden_changes
from hardlabels.runs.cell import Cell

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^python -m hardlabels\.train (.*)$", README, re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_readme_composes_a_cell(line):
    overrides = []
    for override in OverridesParser.create().parse_overrides([word for word in shlex.split(line, comments=True) if word != "-m"]):
        value = (
            next(iter(override.sweep_string_iterator())) if override.is_sweep_override() else override.get_value_element_as_str()
        )
        overrides.append(f"{override.get_key_element()}={value}")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        cfg = compose("train", overrides)
    refuse_hidden_changes(overrides, cfg.run.tag)
    assert Cell.from_config(cfg).folder.name.startswith("seed=")


def test_the_readmes_methods_exist_and_every_folder_is_in_its_tree():
    table = README.split("## Methods")[1].split("## ")[0]
    methods = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(methods) >= 8
    assert all((CONF / "method" / f"{method}.yaml").is_file() for method in methods)
    for stage in (ROOT / "hardlabels").iterdir():
        if (stage / "__init__.py").is_file():
            assert f"  {stage.name}/" in README


def test_the_readmes_python_runs():
    section = README.split("## Methods")[1].split("\n## ")[0]
    [code] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names: dict = {}
    exec(code, names)
    assert sorted(names["labels"](epoch)[0] for epoch in range(5)) == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run_and_define_no_functions(notebook, tmp_path):
    book = nbformat.read(notebook, as_version=4)
    assert not any("def " in cell.source for cell in book.cells if cell.cell_type == "code")
    assert all(not cell.get("outputs") for cell in book.cells), "commit notebooks without their outputs"
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
