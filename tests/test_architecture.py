"""The shape of the code: data flow one way, small files, no dumping grounds, nothing swallowed."""

import ast
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

import hardlabels

PACKAGE = Path(hardlabels.__file__).parent
ROOT = PACKAGE.parent
STAGES = [
    "votes", "sources", "delivery", "learning", "metrics", "scoring", "runs", "inference", "diagnostics", "statistics",
    "reporting", "comparing",
]  # fmt: skip
BESIDE = {"randomness", "errors", "console", "configuration", "stopping", "guard", "entry", "whole_files", "lightning_internals"}
FILES = sorted(PACKAGE.rglob("*.py"))


def module_name(file: Path) -> str:
    """'hardlabels.runs.cell' of hardlabels/runs/cell.py; a package has the name of its folder."""
    return file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


MODULES = {module_name(file): file for file in FILES}


def imported_modules(file: Path) -> set[str]:
    """The modules of this package that a file imports, inside of functions too; what only type checkers read is left out."""
    tree = ast.parse(file.read_text())
    checks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    left_out = {id(inner) for node in checks for statement in node.body for inner in ast.walk(statement)}
    names = set()
    for node in (node for node in ast.walk(tree) if id(node) not in left_out):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {full if (full := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return (names & set(MODULES)) - {module_name(file)}


def imports(file: Path) -> set[str]:
    """The parts of this package that a file imports: 'votes', 'runs', ..."""
    return {name.split(".")[1] for name in imported_modules(file) if "." in name}


@pytest.mark.parametrize("file", [file for file in FILES if file.parent != PACKAGE], ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_stage_imports_only_stages_before_it(file):
    stage = file.relative_to(PACKAGE).parts[0]
    # Adapters carry deliveries into other people's loops: they need the votes and the methods, nothing of ours that trains.
    before = {"votes", "delivery", "adapters"} if stage == "adapters" else set(STAGES[: STAGES.index(stage) + 1])
    assert imports(file) <= before | BESIDE


def test_what_stands_beside_the_stages_imports_none_of_them():
    for name in BESIDE:
        assert imports(PACKAGE / f"{name}.py") <= BESIDE, name


def test_no_module_imports_itself_by_a_detour():
    """No cycle, imports inside of functions included: what can be imported on its own can be read on its own."""
    graph = {name: imported_modules(file) for name, file in MODULES.items()}
    while leaves := [name for name, needs in graph.items() if not needs & set(graph)]:
        for name in leaves:
            del graph[name]
    assert not graph, f"a cycle among {sorted(graph)}"


def test_learning_does_not_know_the_methods_or_the_metrics():
    for file in (PACKAGE / "learning").glob("*.py"):
        text = file.read_text()
        assert "metrics" not in imports(file)
        assert not any(f"delivery.{name}" in text for name in ("sls", "soft", "multipass", "majority", "mixup")), file


def test_files_are_short_and_none_is_a_dumping_ground():
    for file in FILES:
        assert file.stem not in {"utils", "helpers", "common", "misc"}, file
        assert len(file.read_text().splitlines()) <= 300, f"{file}: split it by idea"


TAKES_APART = {
    "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith",
}  # fmt: skip
WRITES_NAMES = {"spelling.py", "quantity.py", "data.py", "archive.py"}
"""Of ``runs``: the modules that write names such as ``sls,hold=5`` and ``hessian/lambda_max``, and read them again."""


def name_surgery(file: Path) -> list[str]:
    """The calls that take a text apart at a mark that our names are put together with."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    calls = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in TAKES_APART]
    texts = {call: [n.value for arg in call.args for n in ast.walk(arg) if isinstance(n, ast.Constant)] for call in calls}
    marked = [call for call in calls if any(mark in str(text) for text in texts[call] for mark in (",", "/", "|", "–", "~"))]
    return [f"line {call.lineno}: {ast.unparse(call)}" for call in marked]


def test_name_surgery_is_seen(tmp_path):
    (tmp_path / "a.py").write_text('x.partition(",")[0]; x.startswith(f"{p}/"); x.split(); x.removeprefix("method."); "a/b"\n')
    assert sorted(name_surgery(tmp_path / "a.py")) == ["line 1: x.partition(',')", "line 1: x.startswith(f'{p}/')"]


@pytest.mark.parametrize("room", ["runs", "diagnostics", "statistics", "reporting"])
def test_names_are_taken_apart_by_the_module_that_writes_them(room):
    """A fact out of ``sls,hold=5``, ``ood/svhn/energy/auroc`` or ``sls – soft`` comes from spelling.py or quantity.py."""
    for file in (PACKAGE / room).rglob("*.py"):
        if (room, file.name) not in {("runs", name) for name in WRITES_NAMES} and file.parent.name != "training":
            assert not name_surgery(file), f"{file}: {name_surgery(file)}"


def test_randomness_comes_from_one_place():
    for file in FILES:
        text = file.read_text()
        if file.stem != "randomness":
            for forbidden in ("default_rng", "np.random.seed", "RandomState", "import random", "seed_everything"):
                assert forbidden not in text, f"{file}: {forbidden}"


PRIVATE = re.compile(r"\b(?:trainer|loop|fit_loop|epoch_loop|strategy)\._(?!_|target_)\w+|_data_fetcher|lightning\S*\._\w+")


def test_what_lightning_does_not_promise_is_touched_in_one_file():
    """``lightning_internals.py``, which has its own test and a bound on Lightning's version in pyproject.toml."""
    touching = [file.name for file in FILES if PRIVATE.search(file.read_text())]
    assert touching == ["lightning_internals.py"]
    assert re.search(r'"lightning>=[\d.]+,<[\d.]+"', (ROOT / "pyproject.toml").read_text())


def test_nothing_patches_what_hydra_keeps_to_itself():
    for file in [*FILES, *(ROOT / "hydra_plugins").glob("*.py")]:
        assert "hydra._internal" not in file.read_text(), file


TESTS = ROOT / "tests"
BY_HAND = {
    ("two processes in one", "_encoded"),
    ("two processes in one", "_read_once"),
    ("two processes in one", "_say_once"),
}
"""Why a test may call something of ours that begins with an underscore, and what: it clears what a process remembers."""


def private_calls(file: Path) -> set[str]:
    """The underscored attributes that a test reads of anything but itself: Python's own and those of test classes left out."""
    tree = ast.parse(file.read_text())
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) != "self"}
    ours = {name for name in found if re.match(r"_[a-z]", name)} - own - {"_replace", "_asdict", "_fields", "_exit"}
    return {name for name in ours if any(re.search(rf"\b{name}\b", text) for text in SOURCES)}


SOURCES = [file.read_text() for file in FILES]


def test_private_calls_are_seen(tmp_path):
    (tmp_path / "a.py").write_text("delivery._phase; self._phase; row._replace(a=1)\n")
    assert private_calls(tmp_path / "a.py") == {"_phase"}


def test_tests_ask_for_behaviour_and_not_for_private_parts():
    allowed = {name for _, name in BY_HAND}
    for file in TESTS.rglob("*.py"):
        assert private_calls(file) <= allowed, f"{file}: {sorted(private_calls(file) - allowed)}"


def test_a_modules_test_is_found_by_its_name():
    """tests/**/test_NAME.py of hardlabels/**/NAME.py; or tests/where.yaml names the test, and no test without need."""
    where = yaml.safe_load((TESTS / "where.yaml").read_text())
    own = {file.stem.removeprefix("test_") for file in TESTS.rglob("test_*.py")}
    modules = {file.relative_to(PACKAGE).with_suffix("").as_posix() for file in FILES if file.name != "__init__.py"}
    elsewhere = {name for name in modules if name.rsplit("/", 1)[-1] not in own}
    patterns = [pattern for listed in where.values() for pattern in listed]
    for name in sorted(elsewhere):
        assert any(fnmatch(name, pattern) for pattern in patterns), f"no test_{name.rsplit('/', 1)[-1]}.py, and not in where.yaml"
    for pattern in patterns:
        assert any(fnmatch(name, pattern) for name in elsewhere), f"where.yaml: {pattern} is not needed"
    for test in where:
        assert (TESTS / test).is_file(), f"where.yaml: there is no tests/{test}"


def test_a_method_is_two_files():
    """Each yaml names a class in delivery/; nothing else in the package names a method."""
    for file in (ROOT / "conf" / "method").glob("*.yaml"):
        module = file.read_text().split("delivery: ")[1].split("\n")[0].rsplit(".", 1)[0]
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


def test_an_installed_package_finds_its_configuration_from_anywhere(tmp_path):
    """A plain, not editable install, used from another folder, with the checkout out of sight."""
    target = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(target),
        str(ROOT),
    ]
    subprocess.run(install, check=True, capture_output=True)
    code = (
        "import sys; sys.path = [sys.argv.pop(1), *(p for p in sys.path if p)]\n"
        "import hardlabels, hardlabels.train; from hardlabels.configuration import CONF\n"
        "assert hardlabels.__file__.startswith(sys.path[0]) and str(CONF).startswith(sys.path[0]), (hardlabels.__file__, CONF)\n"
        "sys.argv = ['train', '--help']; hardlabels.train.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(target)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    methods = sorted(file.stem for file in (ROOT / "conf" / "method").glob("*.yaml"))
    assert f"method: {', '.join(methods)}" in done.stdout
