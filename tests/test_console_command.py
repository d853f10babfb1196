"""``hardlabels COMMAND`` is ``python -m hardlabels.COMMAND``: the same code, the same words, the same exit codes."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hardlabels
from hardlabels.__main__ import COMMANDS, main

PACKAGE = Path(hardlabels.__file__).parent


@pytest.fixture
def called(monkeypatch, capsys):
    """Exit code, standard output and standard error of ``hardlabels ARGUMENTS``, in this process."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["hardlabels", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        return (int(stop.value.code or 0), *capsys.readouterr())

    return call


def test_every_module_that_is_a_command_is_in_the_table():
    runnable = {file for file in PACKAGE.rglob("*.py") if '__name__ == "__main__"' in file.read_text()} - {
        PACKAGE / "__main__.py"
    }
    names = {file.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".") for file in runnable}
    assert {module for module, _ in COMMANDS.values()} == {name.removesuffix(".__main__") for name in names}


def test_the_script_that_is_installed_is_this_one():
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"hardlabels": "hardlabels.__main__:main"}


def test_help_lists_the_commands_and_no_command_is_a_mistake(called):
    code, out, _ = called("--help")
    assert code == 0
    assert all(f"  {name} " in out for name in COMMANDS)
    code, out, _ = called()
    assert code == 2
    assert "usage: hardlabels COMMAND" in out


def test_an_unknown_command_is_one_line_and_code_2(called):
    code, out, err = called("trian", "method=sls")
    assert (code, out) == (2, "")
    assert err.startswith("error: 'trian' is no command. did you mean train? Expected one of ")
    assert err.count("\n") == 1


def test_a_module_in_the_current_folder_is_found_as_python_m_finds_it(tmp_path):
    """A method of one's own, say. The installed script is a file in another folder, which is all that Python looks into."""
    (tmp_path / "mine.py").write_text("from hardlabels.delivery.soft import Soft\n\n\nclass Own(Soft):\n    pass\n")
    script = tmp_path / "bin/hardlabels"
    script.parent.mkdir()
    script.write_text("from hardlabels.__main__ import main\nmain()\n")
    words = ["train", "method=soft", "method.delivery=mine.Own", "data=synthetic", "data.items=1", "recipe=smoke", "run.tag=own"]
    done = subprocess.run([sys.executable, script, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: split 'paper' of 1 items"), done.stderr  # it got as far as the data


def test_a_command_gets_its_arguments_and_keeps_its_exit_codes(called, tmp_path):
    code, _, err = called("votes", str(tmp_path / "absent.csv"))
    assert code == 2
    assert err.count("\n") == 1
    code, out, _ = called("score", "--help")
    assert code == 0
    assert "usage: hardlabels score" in out
